from __future__ import annotations

import pytest

from reasoningbank.runs.transcript import is_boot_text, names_boot_file, without_blocks


@pytest.mark.parametrize("tag", ["system-reminder", "environment_context", "user_instructions", "SYSTEM_PROMPT"])
def test_a_block_of_the_harness_is_cut_out_and_the_words_around_it_stay(tag: str) -> None:
    text = f'Rename the files.\n<{tag} kind="x">be brief\n</{tag}> All of them.'

    assert without_blocks(text) == "Rename the files.\n All of them."


def test_blocks_may_follow_and_hold_each_other_and_one_that_is_not_closed_stays() -> None:
    block = "<system-reminder>a <environment_context>b</environment_context> c</system-reminder>"

    assert without_blocks(f"1{block}2{block}3") == "123"
    assert (
        without_blocks("see <system-reminder> and <system-reminder>") == "see <system-reminder> and <system-reminder>"
    )


def test_a_letter_that_grows_when_it_is_lowered_shifts_nothing() -> None:
    assert without_blocks("İİ <System-Reminder>a</SYSTEM-reminder>b") == "İİ b"


def test_a_text_full_of_openings_is_read_in_one_pass() -> None:
    text = "<system-reminder>" * 200_000

    assert without_blocks(text) == text


def test_markup_of_the_task_itself_stays() -> None:
    text = "Fix <instructions>the XML</instructions> where a < b"

    assert without_blocks(text) == text


@pytest.mark.parametrize(
    "action", ["cat AGENTS.md", 'read_file({"path":"/app/CLAUDE.md"})', "less docs/.cursorrules", "open(SOUL.md)"]
)
def test_reading_a_boot_file_is_recognised(action: str) -> None:
    assert names_boot_file(action)


@pytest.mark.parametrize("action", ["cat README.md", "grep -r USER.mdx .", "pytest tests/test_agents.py"])
def test_reading_another_file_is_not(action: str) -> None:
    assert not names_boot_file(action)


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /app\nUse tabs.",
        "You are a helpful coding assistant.",
        "Contents of CLAUDE.md:\nx",
    ],
)
def test_a_boot_file_that_comes_as_a_message_is_recognised(text: str) -> None:
    assert is_boot_text(text)


@pytest.mark.parametrize("text", ["You are right, rerun it.", "Write an AGENT report", "Please read AGENTS.md first"])
def test_a_request_is_no_boot_text(text: str) -> None:
    assert not is_boot_text(text)
