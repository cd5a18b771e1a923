"""Commands about the hooks of coding agents."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli


def test_a_client_is_connected_looked_at_and_taken_out(cli: Cli, tmp_path: Path) -> None:
    folder = ("--folder", str(tmp_path))
    file = tmp_path / ".claude/settings.json"

    shown = cli("hooks", "install", "claude-code", *folder)
    assert "UserPromptSubmit" in shown.out
    assert "Shown only" in shown.out
    assert not file.exists()

    assert "Written" in cli("hooks", "install", "claude-code", *folder, "--yes").out
    assert "entry.py claude-code SessionStart" in json.dumps(json.loads(file.read_text()))
    told = cli("hooks", "doctor", "claude-code", *folder, "--json")
    assert "never fired so far" in told.json["findings"][0]
    assert told.code == 1

    assert cli("hooks", "uninstall", "claude-code", *folder, "--yes", "--json").json["written"] is True
    assert not file.exists()
    assert "Nothing to change" in cli("hooks", "uninstall", "claude-code", *folder).out
    assert cli("hooks", "install", "emacs").code == 2
