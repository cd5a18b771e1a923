"""How other tools say how a run ended, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reasoningbank import InvalidInputError, ReasoningBank, Verdict
from reasoningbank.exchange.others import as_utc, read_outcome, votes_of


@pytest.mark.parametrize("word", [False, 0, "false", "0", "unsuccessful", "Failed.", "incorrect", "FAILURE!"])
def test_failures_are_read_in_any_word(word: object) -> None:
    assert read_outcome(word) is Verdict.FAILURE


@pytest.mark.parametrize("word", [None, True, 1, "success", "SUCCESS.", "positive", "worked", "1.0"])
def test_successes_are_read_in_any_word(word: object) -> None:
    assert read_outcome(word) is Verdict.SUCCESS


@pytest.mark.parametrize("word", ["kinda", "partial", [], {}, 0.5, ""])
def test_an_unknown_word_is_named_and_never_guessed(word: object) -> None:
    with pytest.raises(InvalidInputError, match="says neither success nor failure"):
        read_outcome(word)


@pytest.mark.parametrize(
    "given", ["2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00", "2026-01-02", 1767312000, 1767312000000]
)
def test_times_are_read_in_the_common_forms(given: object) -> None:
    assert as_utc(given) == datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("given", [None, True, "soon", []])
def test_what_is_no_time_is_none(given: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        as_utc(given)


def test_counts_are_whole_numbers_or_none() -> None:
    assert votes_of({"positive": 2, "negative": 1}) == (2, 1)
    assert votes_of({"positive": "2", "negative": 1}) == (0, 0)


def test_the_time_of_the_source_is_kept_and_is_never_of_tomorrow(bank: ReasoningBank) -> None:
    lines: list[dict[str, Any]] = [
        {"id": "old", "memory": "Deploy with the blue script", "created_at": "2023-01-01T00:00:00Z"},
        {"id": "odd", "memory": "Deploy with the red script", "created_at": "2999-01-01T00:00:00Z"},
        {"id": "plain", "content": "Deploy by hand", "created_at": "soon"},
    ]

    bank.exchange.import_from(lines)

    assert bank.get("old").created_at == datetime(2023, 1, 1, tzinfo=UTC)
    assert bank.get("old").updated_at == datetime(2023, 1, 1, tzinfo=UTC)
    assert bank.get("odd").created_at <= datetime.now(UTC)
    assert bank.get("plain").metadata == {"created_at": "soon"}


def test_blank_tags_long_titles_and_other_names_of_the_text_are_taken(bank: ReasoningBank) -> None:
    bank.exchange.import_from(
        [
            {"id": "a", "rule": "Use tabs", "tags": ["style", None, " "]},
            {"id": "b", "lesson": "Use real things", "title": "mind the gap " * 20, "description": "d" * 1_200},
            {"id": "c", "content": "Quote paths", "note": "from a review"},
        ]
    )

    assert (bank.get("a").content, bank.get("a").tags) == ("Use tabs", ("style",))
    cut = bank.get("b")
    assert cut.title == "mind the gap " * 14 + "mind the gap…"
    assert cut.description == "d" * 999 + "…"
    assert cut.content == f"{'mind the gap ' * 20}\n\n{'d' * 1_200}\n\nUse real things"
    assert bank.get("c").metadata == {"note": "from a review"}


def test_a_run_is_told_from_a_lesson(bank: ReasoningBank) -> None:
    imported = bank.exchange.import_from([{"messages": []}, {"role": "user"}])

    assert {bad.reason for bad in imported.rejected} == {
        "this looks like a run, not a lesson: `reasoningbank distill` reads it"
    }
