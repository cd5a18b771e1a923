"""Lessons of which none is clearly about the task: marked, left out, or given like others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reasoningbank import InvalidInputError, Memory, ReasoningBank, prompt_block
from reasoningbank.prompt.block import DOUBTFUL, FRAME
from reasoningbank.search.relevance import WEAK_BELOW
from reasoningbank.services.search import recall as recalling
from reasoningbank.services.search.retrieve import find

ASKED = "quote the paths in the shell"
SOMEWHAT = "why does the shell script stop"
SHELL = (
    ("Quote paths", "Put every path in double quotes: names may hold spaces."),
    ("Check backups", "Restore a backup once before you rely on the nightly job."),
    ("Read the exit code", "A pipe hides failures: set pipefail, and look at the exit code."),
)


@pytest.fixture
def memory(bank: ReasoningBank) -> Memory:
    return bank.record("Quote paths", "Quote every path in the shell", outcome="success").memory


@pytest.fixture
def doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every search one of which nothing is clearly relevant."""

    def weakly(*given: object) -> object:
        result, numbers = find(*given)  # type: ignore[arg-type]
        return replace(result, weak=True), numbers

    monkeypatch.setattr(recalling, "find", weakly)


def test_what_is_clearly_relevant_is_given_as_it_is(bank: ReasoningBank, memory: Memory) -> None:
    recall = bank.recall(ASKED)

    assert (recall.weak, FRAME in recall.text, DOUBTFUL in recall.text) == (False, True, False)


@pytest.mark.usefixtures("doubtful")
def test_what_is_doubtful_says_so_also_when_it_is_recalled_again(bank: ReasoningBank, memory: Memory) -> None:
    first, again = bank.recall(ASKED, ref="run-1"), bank.recall(ASKED, ref="run-1")

    assert [m.id for m in first.memories] == [m.id for m in again.memories] == [memory.id]
    assert DOUBTFUL in first.text
    assert DOUBTFUL in again.text
    assert (first.weak, again.weak, again.repeated) == (True, True, True)


@pytest.mark.usefixtures("doubtful")
def test_it_can_be_left_out_and_is_counted(bank: ReasoningBank, memory: Memory) -> None:
    recall = bank.recall(ASKED, weak="omit")

    assert (recall.text, recall.hits, recall.withheld["weak"]) == ("", (), 1)
    assert bank.get(memory.id).usage_count == 0


@pytest.mark.usefixtures("doubtful")
def test_it_can_be_given_like_others(bank: ReasoningBank, memory: Memory) -> None:
    assert DOUBTFUL not in bank.recall(ASKED, weak="give", expand_links=True).text


def test_where_nothing_has_to_do_with_a_task_nothing_is_handed_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    with ReasoningBank(tmp_path, tenant="acme", project="web", embedder="minilm") as bank:
        others = [(f"Look at disk {n}", f"Disk {n} fills up on Mondays.") for n in range(40)]
        lessons = [{"title": title, "content": content, "outcome": "success"} for title, content in (*SHELL, *others)]
        bank.record_many(lessons)
        foreign = "which job suits a person who sings"

        left_out, given, doubtful = bank.recall(foreign), bank.recall(foreign, weak="give"), bank.recall(SOMEWHAT)

        assert (left_out.hits, left_out.weak, list(left_out.withheld)) == ((), True, ["irrelevant"])
        assert given.hits
        assert bank.search(foreign).hits
        assert (bool(doubtful.hits), doubtful.weak, DOUBTFUL in doubtful.text) == (True, True, True)
        assert not bank.recall("a backup that the nightly job made cannot be read").weak


def test_another_word_is_refused_and_a_block_of_ones_own_can_say_it(bank: ReasoningBank, memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="omit, mark, give"):
        bank.recall(ASKED, weak="drop")
    assert DOUBTFUL in prompt_block([memory], doubtful=True).text


@pytest.mark.parametrize("words", [0, 120])
def test_a_failure_is_answered_from_the_line_of_a_large_bank_on(bank: ReasoningBank, words: int) -> None:
    error = "LedgerError: ledger refuses entries without balanced counterpart"
    for n in range(12):
        bank.record(f"Look at disk {n}", f"disk {n} fills up on Mondays", outcome="success")
    others = " ".join(f"word{n}" for n in range(words))
    told = f"The ledger refuses entries without a balanced counterpart in the open period. {others}"
    bank.record("Ledger", told, outcome="success")

    found, failed = bank.search(error, policy="relevance"), bank.recall_failure(error, exit_code=1)

    assert (found.weak, found.hits[0].memory.title) == (False, "Ledger")
    assert [hit.memory.title for hit in failed.hits] == ([] if words else ["Ledger"])
    assert (found.strength < WEAK_BELOW) is bool(words)
