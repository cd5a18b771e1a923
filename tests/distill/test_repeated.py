"""Lessons that a run repeats go, however they were shown to it; what only looks like them stays."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank.distill.repeated import without_lessons

CONTENT = "Restore the nightly backup into a scratch database before the migration, and compare the row counts."
TITLE, WHEN = "Rehearse the restore", "A migration rewrites large tables"
LESSON = (CONTENT, TITLE, "", WHEN)

SHOWN = {
    "as it is": f"{TITLE}\n{CONTENT}",
    "wrapped": "\n".join(textwrap.wrap(CONTENT, 30)),
    "quoted": "\n".join(f"> {line}" for line in textwrap.wrap(CONTENT, 40)),
    "json": json.dumps([{"title": TITLE, "content": f"{CONTENT}\n{CONTENT}", "applies_when": WHEN}]),
    "json in json": json.dumps(json.dumps({"content": f"\n{CONTENT}"})),
    "markup": f"<lesson><title>{TITLE}</title><content>{CONTENT}</content></lesson>",
    "a table": f"| {TITLE} | 0.80 | {CONTENT} |",
    "capitals": CONTENT.upper(),
    "cut off": CONTENT[:80] + "…",
}


@pytest.mark.parametrize("form", SHOWN)
def test_a_lesson_goes_in_whatever_form_it_was_shown(form: str) -> None:
    left = without_lessons(f"3 rows before. {SHOWN[form]} 5 rows after.", [LESSON])

    assert "scratch database" not in left.lower()
    assert "Rehearse" not in left
    assert left.startswith("3 rows before.")
    assert left.endswith("5 rows after.")


def test_letters_that_json_escapes_are_the_same_letters() -> None:
    content = "Prüfe jede Größe vor dem Löschen, und frage den Eigentümer der Tabelle zuerst."
    assert "frage" not in without_lessons(json.dumps({"text": content}), [(content,)])


def test_a_lesson_in_a_script_without_spaces_goes() -> None:
    content = "削除する前に必ずバックアップを復元して行数を比べる"
    assert without_lessons(f"結果:{content}。", [(content,)]) == "結果:。"


@pytest.mark.parametrize(
    "text",
    [
        "The migration failed: compare the row counts of the tables first.",
        "Restore the nightly backup, it said, and nothing else of use.",
        "Rehearse the restore",
        "",
    ],
)
def test_some_words_of_a_lesson_are_no_lesson(text: str) -> None:
    assert without_lessons(text, [LESSON]) == text


def test_an_error_that_a_lesson_quotes_stays() -> None:
    error = "fatal: unable to access the remote repository because the certificate has expired"
    lesson = (
        f"When git says {error}, renew the machine's clock first: after a long sleep of the virtual machine it lags, "
    )
    lesson += "every certificate seems to be of the future, and a retry alone gives the same answer for ever."
    assert without_lessons(f"$ git pull\n{error}\n", [(lesson,)]) == f"$ git pull\n{error}\n"


def test_a_lesson_of_a_few_words_must_be_there_whole() -> None:
    assert (
        without_lessons("note: never push on a friday afternoon!", [("Never push on a Friday",)]) == "note:  afternoon!"
    )
    assert without_lessons("never push on a monday", [("Never push on a Friday",)]) == "never push on a monday"
    assert without_lessons("quote paths", [("Quote paths",)]) == "quote paths"


@given(st.text(alphabet='ab \\nu0041\n"{}漢', max_size=200), st.text(alphabet="ab \\nu0041\n", max_size=60))
def test_what_is_left_was_there_and_a_second_time_changes_nothing_more_than_words_of_it(text: str, lesson: str) -> None:
    left = without_lessons(text, [(lesson,)])

    characters = iter(text)
    assert all(character in characters for character in left)
