"""kill -9 between the writes of a credit or a promotion: both are there, or neither, or it heals at the next call."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from reasoningbank import BankRoot, ReasoningBank
from tests.bank.sharing.conftest import ASKED, LEDGER, PATHS
from tests.processes import exit_code, start
from tests.torture.trap import Trap

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with BankRoot(tmp_path / "root", tenant="acme", embedder="hash") as banks:
        banks.shared.create("org", approvers=["sales"], readers=["billing"])
    with opened(tmp_path / "root", "sales") as sales:
        sales.sharing.promote(sales.record(**PATHS).memory.id, to="org")
    return tmp_path / "root"


def opened(root: Path, project: str) -> ReasoningBank:
    return ReasoningBank(root, tenant="acme", project=project, embedder="hash", shared=["org"])


def killed_after(steps: int, seed: int, act: Callable[[], object]) -> bool:
    """Do something in a process that is killed after so many steps; tell whether it was killed."""

    def trapped() -> None:
        Trap(steps, seed).arm()
        act()

    return exit_code(start(trapped)) == -signal.SIGKILL


def test_a_credit_is_in_both_banks_or_in_neither_or_heals(root: Path) -> None:
    killed = 0
    for round_, steps in enumerate(range(2, 180, 9)):
        ref = f"run-{round_}"
        with opened(root, "billing") as bank:
            bank.recall(ASKED, ref=ref)

        def report(ref: str = ref) -> None:
            with opened(root, "billing") as bank:
                bank.report("success", ref=ref)

        killed += killed_after(steps, round_, report)

    with opened(root, "billing") as bank:
        bank.recall("anything else", ref="last")
        judged = [episode for episode in bank.runs.list(limit=1_000).episodes if episode.verdict == "success"]
        assert bank.sharing.status()[0].due == 0
    with BankRoot(root, tenant="acme", embedder="hash").shared.open("org") as org:
        (memory,) = org.list().memories
        outcomes = [piece for piece in org.evidence(memory.id, 1_000).pieces if piece.kind == "outcome"]
    assert killed > 5
    assert len(outcomes) == len(judged)


def test_a_recall_that_was_killed_is_counted_once_or_not_at_all(root: Path) -> None:
    for round_, steps in enumerate(range(5, 160, 15)):

        def recall(ref: str = f"run-{round_}") -> None:
            with opened(root, "billing") as bank:
                bank.recall(ASKED, ref=ref)

        killed_after(steps, round_, recall)

    with opened(root, "billing") as bank:
        bank.recall("anything else", ref="last")
        known = [e for e in bank.runs.list(limit=1_000).episodes if e.ref != "last"]
        (hit,) = bank.search(ASKED).hits
    assert hit.memory.usage_count == len(known)


def test_what_came_of_a_failure_is_in_both_banks_or_in_neither_or_heals(root: Path) -> None:
    error = "ModuleNotFoundError: No module named 'yaml'"
    with opened(root, "sales") as bank:
        answer = bank.record("Install PyYAML", f"On `{error}` install pyyaml.", outcome="failure").memory.id
        copy = bank.sharing.promote(answer, to="org").memory
    assert copy is not None
    killed = 0
    for round_, steps in enumerate(range(2, 180, 12)):
        ref = f"run-{round_}"
        with opened(root, "billing") as bank:
            assert bank.recall_failure(error, command="python job.py", exit_code=1, ref=ref).hits

        def worked(ref: str = ref) -> None:
            with opened(root, "billing") as bank:
                bank.report_act(ref, command="python job.py")

        killed += killed_after(steps, round_, worked)

    with opened(root, "billing") as bank:
        bank.recall("anything else", ref="last")
        assert bank.sharing.status()[0].due == 0
        repaired = sum(not bank.report_act(f"run-{n}", command="python job.py") for n in range(round_ + 1))
        bank.recall("anything else", ref="later")
    with BankRoot(root, tenant="acme", embedder="hash").shared.open("org") as org:
        repairs = [piece for piece in org.evidence(copy.id, 1_000).pieces if piece.kind == "repair"]
    assert 0 < repaired <= round_
    assert killed > 3
    assert len({piece.ref for piece in repairs}) == len(repairs) == round_ + 1


def test_a_promotion_is_whole_or_not_there(root: Path) -> None:
    with opened(root, "sales") as bank:
        own = bank.record(**LEDGER).memory.id
    for round_, steps in enumerate(range(3, 140, 12)):

        def promote() -> None:
            with opened(root, "sales") as bank:
                bank.sharing.promote(own, to="org")

        killed_after(steps, round_, promote)
        with opened(root, "sales") as bank:
            copies = [hit for hit in bank.search("lock the ledger").hits for twin in hit.also if twin.level == "org"]
            assert len(bank.sharing.links(own)) == len(copies)
    with opened(root, "sales") as bank:
        bank.sharing.promote(own, to="org")
        assert [link.state for link in bank.sharing.links(own)] == ["same"]
