"""The commands of the bus, from a key to lessons that arrived."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.bus import Identity
from tests.cli.conftest import Cli, child_environment


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys"


def make_key(cli: Cli, keys: Path, name: str) -> str:
    said = cli("bus", "keygen", "--name", name, "--keys", str(keys / name), "--json")
    key: str = said.json["key"]
    return key


@pytest.fixture
def berlin(cli: Cli, keys: Path, tmp_path: Path) -> Iterator[str]:
    """A bank with a lesson that is on the bus in a process of its own; where it listens."""
    with ReasoningBank(tmp_path / "root", tenant="acme", project="berlin", embedder="hash") as bank:
        bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    lima = make_key(cli, keys, "lima")
    make_key(cli, keys, "berlin")
    cli("bus", "trust", "add", lima, "--name", "lima", "--keys", str(keys / "berlin"))
    command = ["bus", "serve", "--listen", "127.0.0.1:0", "--keys", str(keys / "berlin"), "--project", "berlin"]
    with subprocess.Popen(
        [sys.executable, "-m", "reasoningbank", *command], stderr=subprocess.PIPE, env=child_environment(), text=True
    ) as server:
        assert server.stderr is not None
        yield next(line.split()[4] for line in server.stderr if line.startswith("On the bus at "))
        server.terminate()
        assert server.wait(20) == 0


def test_lessons_come_over_and_status_says_so(cli: Cli, keys: Path, berlin: str) -> None:
    key = json.loads(cli("bus", "trust", "list", "--keys", str(keys / "berlin"), "--json").out)["peers"][0]["key"]

    kid = Identity.load(keys / "berlin" / "berlin.key").kid
    assert key == Identity.load(keys / "lima" / "lima.key").kid
    mine = ("--keys", str(keys / "lima"), "--project", "lima")
    assert cli("bus", "trust", "add", kid, "--name", "berlin", "--cap", "memories=5/day", *mine[:2]).code == 0

    synced = cli("bus", "sync", "--peer", berlin, *mine, "--json")

    assert (synced.code, synced.json["changes"]) == (0, 1)
    # What the other began to say before this process began is as old as a replay could be.
    assert synced.json["refused"].keys() <= {"too_old"}
    assert "Quote paths" in cli("list", "--project", "lima").out
    status = cli("bus", "status", *mine)
    assert "1 changes, up to date, write" in status.out
    assert "memories 1 of 5" in status.out
    assert cli("bus", "status", *mine, "--json").json["peers"][0]["spent"]["memories"] == 1


def test_what_is_missing_or_wrong_is_said_with_what_to_do(cli: Cli, keys: Path) -> None:
    mine = ("--keys", str(keys))

    assert "bus keygen --name NAME" in cli("bus", "status", *mine).err
    key = cli("bus", "keygen", "--name", "one", *mine, "--json").json["key"]
    assert "is lost: give another name" in cli("bus", "keygen", "--name", "one", *mine).err
    assert "nobody is trusted yet" in cli("bus", "serve", *mine).err
    cli("bus", "keygen", "--name", "two", *mine)
    assert "--as one|two" in cli("bus", "serve", *mine).err
    assert "is no public key" in cli("bus", "trust", "add", "abc", "--name", "x", *mine).err
    assert "is not of the form" in cli("bus", "trust", "add", key, "--name", "x", "--cap", "much", *mine).err
    assert "is no address" in cli("bus", "trust", "add", key, "--name", "x", "--address", "there", *mine).err
    assert "Nobody is trusted yet" in cli("bus", "trust", "list", *mine).out
    assert "(read, untrusted, no caps)" in cli("bus", "trust", "add", key, "--name", "x", "--scope", "read", *mine).out
    assert cli("bus", "trust", "remove", "x", *mine).code == 0
    assert "no peer is called 'x'" in cli("bus", "trust", "remove", "x", *mine).err
