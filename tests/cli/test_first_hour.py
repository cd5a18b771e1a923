"""A newcomer's first hour with the installed checkout: no step needs what no output said."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tools import first_hour
from tools.first_hour import Said


def test_no_step_of_the_first_hour_needs_knowledge_from_elsewhere(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ROOT", "TENANT", "PROJECT", "EMBEDDER"):
        monkeypatch.delenv(f"REASONINGBANK_{name}")
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def call(arguments: Sequence[str]) -> Said:
        ran = cli(*arguments)
        return Said(ran.code, ran.out, ran.err)

    typed = first_hour.walk(call, [sys.executable, "-m", "reasoningbank"], folder)

    assert [line.split()[1] for line in typed[2:6]] == ["init", "record", "import", "trust"]
    assert (folder / ".claude" / "settings.json").exists()


def test_a_step_that_says_nothing_of_the_next_one_is_where_somebody_is_stuck(tmp_path: Path) -> None:
    with pytest.raises(first_hour.StuckError, match="without"):
        first_hour.walk(lambda _: Said(0, "Done.", ""), ["true"], tmp_path)
