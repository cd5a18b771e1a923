"""Lessons as a page for agents, kept up to date between two marks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import InvalidInputError, ReasoningBank
from reasoningbank.exchange.sheets import BEGIN, END, with_block, without_block


@pytest.fixture
def filled(bank: ReasoningBank) -> ReasoningBank:
    bank.record("Quote paths", "Put paths\nin quotes.", outcome="success", confidence=0.9, description="in the shell")
    bank.record("Never force push", "Never force push to main.", outcome="failure", confidence=0.8)
    bank.record("Guess", "Try it blindly.", outcome="success", confidence=0.4)
    return bank


def test_rules_hold_the_proven_lessons_and_leave_the_rest_of_the_page_alone(
    filled: ReasoningBank, tmp_path: Path
) -> None:
    page = tmp_path / "AGENTS.md"
    page.write_text("# Mine\n\n- keep this\n", "utf-8")

    assert filled.exchange.export_to(page, format="agents-md") == 2
    assert page.read_text("utf-8").splitlines() == [
        *("# Mine", "", "- keep this", "", BEGIN, "## Lessons from earlier runs", ""),
        *("- **Quote paths**: Put paths in quotes. (when: in the shell)", ""),
        *("## Guard-rails from earlier failures", "", "- Never force push to main.", END),
    ]


def test_a_second_export_replaces_its_own_part(filled: ReasoningBank, tmp_path: Path) -> None:
    page = tmp_path / "AGENTS.md"
    filled.exchange.export_to(page, format="agents-md")
    page.write_text(f"above\n{page.read_text('utf-8')}below\n", "utf-8")
    done: list[int] = []

    assert filled.exchange.export_to(page, format="agents-md", unproven=True, progress=done.append) == 3
    text = page.read_text("utf-8")
    assert (text[:6], text[-6:], text.count(BEGIN), done) == ("above\n", "below\n", 1, [3])
    assert "Try it blindly." in text
    assert filled.exchange.import_from(page, dry_run=True).planned[0].content == "above\nbelow"


def test_a_playbook_comes_back_with_its_ids(filled: ReasoningBank, tmp_path: Path) -> None:
    memory = filled.list().memories[0]
    filled.vote(memory.id, True)

    filled.exchange.export_to(tmp_path / "playbook.md", format="ace")

    assert f"[{memory.id}] helpful=1 harmful=0 :: Quote paths: Put paths in quotes." in (
        (tmp_path / "playbook.md").read_text("utf-8").splitlines()
    )


def test_a_skill_is_a_folder_with_its_front_matter(filled: ReasoningBank, tmp_path: Path) -> None:
    filled.exchange.export_to(tmp_path / "lessons", format="skill")
    filled.exchange.export_to(tmp_path / "lessons", format="skill")

    text = (tmp_path / "lessons/SKILL.md").read_text("utf-8")
    assert text.startswith("---\nname: lessons\ndescription: ")
    assert text.count("# Lessons learned") == 1
    filled.exchange.export_to(tmp_path / "other/SKILL.md", format="skill")
    assert (tmp_path / "other/SKILL.md").exists()


def test_a_bank_without_proven_lessons_says_so(bank: ReasoningBank, tmp_path: Path) -> None:
    assert bank.exchange.export_to(tmp_path / "A.md", format="agents-md") == 0
    assert "No lesson is proven yet." in (tmp_path / "A.md").read_text("utf-8")


def test_a_page_that_is_no_text_is_left_alone(filled: ReasoningBank, tmp_path: Path) -> None:
    page = tmp_path / "A.md"
    page.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidInputError, match="is not text in UTF-8"):
        filled.exchange.export_to(page, format="agents-md")
    assert page.read_bytes() == b"\xff\xfe\x00"


def test_a_lesson_cannot_end_the_block(bank: ReasoningBank, tmp_path: Path) -> None:
    bank.record("Marks", f"Look for {END} in pages", outcome="success", confidence=0.9)
    page = tmp_path / "A.md"

    for _ in range(2):
        bank.exchange.export_to(page, format="agents-md")

    assert page.read_text("utf-8").count(END) == 1


@given(st.text(), st.text().filter(lambda text: "reasoningbank" not in text))
def test_what_is_put_into_a_page_comes_out_again(page: str, block: str) -> None:
    once = with_block(page, block)

    assert with_block(once, block) == once
    assert without_block(once).strip() == page.strip()
