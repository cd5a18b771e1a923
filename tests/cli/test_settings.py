"""Settings of a command: from --set, and from the environment."""

from __future__ import annotations

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli


def test_a_setting_holds_for_the_command_it_is_given_to(cli: Cli, bank: ReasoningBank) -> None:
    for number in range(3):
        bank.record(f"Lesson {number}", f"Lesson number {number}", outcome="success")

    assert len(cli("prune", "--set", "max_memories=1", "--json").json["changes"]) == 2
    assert cli("prune", "--json").json["changes"] == []


def test_the_environment_holds_settings_for_every_command_and_an_option_wins(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REASONINGBANK_SETTINGS", "confidence_model=ema, max_memories=9")

    assert cli("status", "--json").json["settings"] == {"confidence_model": "ema", "max_memories": 9}
    shown = " ".join(cli("status", "--set", "confidence_model=spec").out.split())
    assert "settings: confidence_model=spec, max_memories=9" in shown


def test_a_setting_that_there_is_not_is_named_and_so_is_what_is_no_pair(cli: Cli) -> None:
    unknown = cli("status", "--set", "auto_prun=true")
    assert (unknown.code, unknown.out) == (1, "")
    assert "auto_prune" in unknown.err
    assert "max_memories 'many'" in cli("status", "--set", "max_memories=many").err
    assert cli("status", "--set", "auto_prune").code == 2


def test_the_ema_model_is_chosen_by_a_setting(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("a", "Name the port", outcome="success", confidence=0.5).memory
    cli("vote", memory.id, "--helpful")

    shown = cli("show", memory.id, "--set", "confidence_model=ema", "--json").json
    assert shown["confidence"] == pytest.approx(0.6)
