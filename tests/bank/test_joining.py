"""A run that asks several times: with `join` it is one episode, in which each memory counts once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from reasoningbank import ReasoningBank
from tests.conftest import OpenBank

PATHS, DATES = "quote the paths in the shell", "parse the dates of the invoices"


def record(bank: ReasoningBank) -> tuple[str, str]:
    paths = bank.record("Quote paths", "Quote every path in the shell: names hold blanks.", outcome="failure")
    dates = bank.record("Pin the timezone", "Parse the dates of invoices with tz=UTC.", outcome="success")
    return paths.memory.id, dates.memory.id


def test_what_is_asked_next_joins_the_episode_and_the_verdict_reaches_all_of_it(bank: ReasoningBank) -> None:
    paths, dates = record(bank)
    first = bank.recall(PATHS, 1, ref="run", thread="t", join=True)
    second = bank.recall(DATES, 1, ref="run", join=True)

    assert [[m.id for m in recall.memories] for recall in (first, second)] == [[paths], [dates]]
    assert (first.repeated, second.repeated, second.ref) == (False, True, "run")
    assert [s.memory for s in bank.runs.get("run").memories] == [paths, dates]
    assert bank.runs.get("run").thread == "t"
    assert set(bank.report("success", ref="run").credited) == {paths, dates}


def test_what_is_found_again_is_shown_again_and_counts_once(bank: ReasoningBank) -> None:
    paths, _ = record(bank)
    texts = {bank.recall(PATHS, 1, ref="run", join=True).text for _ in range(3)}

    assert len(texts) == 1
    assert texts != {""}
    assert [s.memory for s in bank.runs.get("run").memories] == [paths]
    assert bank.get(paths).usage_count == 1


def test_without_it_a_known_reference_gives_what_it_gave(bank: ReasoningBank) -> None:
    record(bank)
    first = bank.recall(PATHS, 1, ref="run")

    assert bank.recall(DATES, 1, ref="run").text == first.text


def test_a_run_that_was_judged_may_go_on_and_be_judged_again(bank: ReasoningBank) -> None:
    paths, dates = record(bank)
    bank.recall(PATHS, 1, ref="run", join=True)
    bank.report("failure", ref="run")
    bank.recall(DATES, 1, ref="run", join=True)

    assert set(bank.report("success", ref="run").credited) == {paths, dates}


def test_queries_at_the_same_time_are_one_episode(bank: ReasoningBank) -> None:
    paths, dates = record(bank)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: bank.recall((PATHS, DATES)[n % 2], 1, ref="run", join=True), range(16)))

    assert {s.memory for s in bank.runs.get("run").memories} == {paths, dates}
    assert len(bank.runs.get("run").memories) == 2
    assert [bank.get(m).usage_count for m in (paths, dates)] == [1, 1]


def test_a_run_is_drawn_once_however_often_it_asks(open_bank: OpenBank) -> None:
    bank = open_bank(settings={"holdout": 0.5})
    record(bank)
    arms = {
        ref: {bank.recall(task, 1, ref=ref, join=True).held_out for task in (PATHS, DATES, PATHS)}
        for ref in map("run {}".format, range(20))
    }

    assert {frozenset(said) for said in arms.values()} == {frozenset({True}), frozenset({False})}
    for ref, said in arms.items():
        assert bank.runs.get(ref).memories == () or said == {False}
        # Whoever asks without a hold-out of their own stays in the arm, too.
        assert bank.recall(DATES, 1, ref=ref, join=True, holdout=0).held_out == (said == {True})


def test_doubt_about_what_joins_is_told_when_the_run_goes_on(bank: ReasoningBank) -> None:
    paths, _ = record(bank)
    sure = bank.recall(PATHS, 1, ref="run", join=True)
    weak = bank.recall("bake a cake with cherries", ref="run", join=True)

    assert "most likely none" not in sure.text
    assert weak.hits == () or "most likely none" in weak.text
    assert ("most likely none" in bank.recall(PATHS, ref="run").text) == bool(weak.hits)
    assert paths in [m.memory for m in bank.runs.get("run").memories]
