"""Rounds of upkeep from two processes of the command line at once."""

from __future__ import annotations

import json
import subprocess
import sys

from reasoningbank import ReasoningBank
from tests.cli.conftest import child_environment

SAID = "Find every configuration file under the directory /etc/app and delete the ones nobody reads"
REWORDED = "Find every configuration file under the directory /etc/app and remove the ones nobody reads"


def test_two_maintain_commands_at_once_and_a_third_later_merge_and_archive_once(
    bank: ReasoningBank, scope: dict[str, str]
) -> None:
    for content in (SAID, REWORDED, "Pin each version", "Guess the port", "Quote paths"):
        bank.record(content[:40], content, outcome="success")
    settings = {"REASONINGBANK_SETTINGS": "auto_consolidate=true,auto_prune=true,max_memories=3"}

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "reasoningbank", "maintain", "--json"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env=child_environment() | settings)

    running = [start(), start()]
    rounds = [json.loads(process.communicate(timeout=100)[0]) for process in running]
    rounds.append(json.loads(start().communicate(timeout=100)[0]))

    kinds = sorted(change["kind"] for done in rounds for change in done["changes"])
    assert kinds == ["archive", "merge"]
    assert bank.count() == 3
    assert bank.upkeep.doctor(dry_run=True) == []
