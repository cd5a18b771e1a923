"""Lists by what is believed and how often it was used, counts by standing, and why a memory is believed."""

from __future__ import annotations

import pytest

from reasoningbank import InvalidInputError, MemoryNotFoundError, ReasoningBank
from tests.conftest import Clock, OpenBank

STARTS = (0.9, 0.2, 0.6, 0.75, 0.2)


@pytest.fixture
def ids(bank: ReasoningBank) -> list[str]:
    drafts = [
        {"title": f"Lesson {n}", "content": f"Do {n} things.", "outcome": "success", "confidence": start}
        for n, start in enumerate(STARTS)
    ]
    return [recorded.memory.id for recorded in bank.record_many(drafts)]


def all_pages(bank: ReasoningBank, limit: int, **asked: object) -> list[str]:
    found: list[str] = []
    after = None
    while True:
        page = bank.list(**asked, after=after, limit=limit)  # type: ignore[arg-type]
        found += [memory.id for memory in page.memories]
        if (after := page.next) is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize(("sort", "order"), [("most_believed", [0, 3, 2, 1, 4]), ("least_believed", [1, 4, 2, 3, 0])])
def test_memories_are_paged_by_belief_whatever_the_size_of_a_page(
    bank: ReasoningBank, ids: list[str], sort: str, order: list[int], limit: int
) -> None:
    assert all_pages(bank, limit, sort=sort) == [ids[n] for n in order]


def test_memories_are_sorted_and_sifted_by_use(bank: ReasoningBank, ids: list[str]) -> None:
    bank.recall("Lesson 3 things", 1, min_confidence=0.0)
    used = bank.list(used=True).memories[0].id

    assert all_pages(bank, 2, sort="most_used")[0] == used
    assert all_pages(bank, 2, sort="least_used")[-1] == used
    assert bank.count(used=True) == 1
    assert used not in all_pages(bank, 2, used=False)
    assert bank.count(used=False) == len(ids) - 1


def test_every_memory_in_service_is_of_one_standing(bank: ReasoningBank, ids: list[str]) -> None:
    bank.upkeep.archive(ids[1])
    for n in range(8):
        bank.vote(ids[4], False, ref=f"run-{n}")
    counts = bank.upkeep.standings()

    assert counts == {"proven": 2, "provisional": 1, "rejected": 1, "archived": 1, "quarantined": 0}
    for standing in ("proven", "provisional", "rejected"):
        page = bank.list(standing=standing)
        assert len(page.memories) == bank.count(standing=standing) == counts[standing]
        assert set(page.standings.values()) == {standing}


def test_a_list_says_where_each_stands_in_every_order(bank: ReasoningBank, ids: list[str]) -> None:
    expected = bank.list(sort="most_believed").standings

    assert set(expected) == set(ids)
    assert bank.list().standings == expected
    assert bank.list(newest_first=True).standings == expected


def test_confidences_bound_a_list_both_included(bank: ReasoningBank, ids: list[str]) -> None:
    mean = bank.get(ids[2]).confidence

    assert all_pages(bank, 2, min_confidence=mean, max_confidence=mean) == [ids[2]]
    assert bank.count(min_confidence=mean) == 3


def test_what_is_sifted_keeps_the_order_of_the_list(bank: ReasoningBank, ids: list[str], clock: Clock) -> None:
    clock.move(days=1)
    newest = bank.record("Newest", "Do it.", outcome="success", confidence=0.95).memory.id
    proven = [ids[0], ids[3], newest]

    assert all_pages(bank, 1, standing="proven") == proven
    assert all_pages(bank, 1, standing="proven", newest_first=True)[0] == newest


def test_other_filters_hold_as_well(bank: ReasoningBank, ids: list[str]) -> None:
    bank.update(ids[0], tags=["kept"])

    assert all_pages(bank, 5, sort="most_believed", tags=["kept"]) == [ids[0]]
    assert bank.count(standing="rejected", text="nothing of the kind") == 0


def test_a_vote_moves_a_memory_in_a_list_that_was_read_before(bank: ReasoningBank, ids: list[str]) -> None:
    before = all_pages(bank, 5, sort="most_believed")
    for n in range(6):
        bank.vote(ids[1], True, ref=f"run-{n}")

    assert all_pages(bank, 5, sort="most_believed").index(ids[1]) < before.index(ids[1])


def test_another_process_s_changes_are_seen(bank: ReasoningBank, ids: list[str], open_bank: OpenBank) -> None:
    bank.upkeep.standings()
    other = open_bank()
    other.delete(ids[0])
    other.vote(ids[3], False)

    assert ids[0] not in all_pages(bank, 5, sort="most_believed")
    assert sum(bank.upkeep.standings().values()) == len(ids) - 1


@pytest.mark.parametrize(
    "asked",
    [
        {"sort": "best"},
        {"standing": "good"},
        {"min_confidence": 2},
        {"sort": "most_used", "after": "memories-1"},
        {"sort": "most_used", "after": "sorted:x:1"},
        {"standing": "proven", "after": "sorted:1.0:1"},
    ],
)
def test_what_no_list_knows_is_an_error(bank: ReasoningBank, ids: list[str], asked: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        bank.list(**asked)  # type: ignore[arg-type]


def test_of_a_bank_that_is_not_there_nothing_is_listed_and_nothing_made(bank: ReasoningBank) -> None:
    assert bank.list(sort="most_believed").memories == ()
    assert set(bank.upkeep.standings().values()) == {0}
    assert not bank.exists


# -- why a memory is believed --------------------------------------------------------------------------------------


def test_the_last_piece_ends_at_what_is_believed_now(bank: ReasoningBank, ids: list[str], clock: Clock) -> None:
    for helpful in (True, False, True):
        clock.move(hours=5)
        bank.vote(ids[2], helpful, by="ann", ref=f"run-{helpful}-{clock.now}")
        with bank.episode("Lesson 2 things", 5, min_confidence=0.0) as run:
            run.report("success", by="pytest")
    found = bank.evidence(ids[2])

    assert found.pieces[-1].confidence == pytest.approx(bank.get(ids[2]).confidence)
    assert found.confidence == pytest.approx(0.6)
    assert [piece.at for piece in found.pieces] == sorted(piece.at for piece in found.pieces)
    votes = [piece for piece in found.pieces if piece.kind == "explicit"]
    assert [(piece.by, piece.positive, piece.negative) for piece in votes] == [
        ("ann", 1, 0),
        ("ann", 0, 1),
        ("ann", 1, 0),
    ]
    assert votes[0].low < votes[0].confidence < votes[0].high


def test_a_shorter_answer_holds_the_newest_and_counts_the_rest(bank: ReasoningBank, ids: list[str]) -> None:
    for n in range(6):
        bank.vote(ids[2], n % 2 == 0, ref=f"run-{n}")
    whole, short = bank.evidence(ids[2]), bank.evidence(ids[2], limit=2)

    assert short.pieces == whole.pieces[-2:]
    assert short.earlier == 4
    assert short.confidence == whole.pieces[3].confidence


def test_what_was_rolled_up_is_told_by_the_day(bank: ReasoningBank, ids: list[str], clock: Clock) -> None:
    for n in range(3):
        bank.vote(ids[2], True, ref=f"run-{n}", by="ann")
    before = bank.get(ids[2]).confidence
    clock.move(days=90)
    bank.vote(ids[0], True)
    bank.upkeep.maintain()
    found = bank.evidence(ids[2])

    assert [(piece.ref, piece.by, piece.positive) for piece in found.pieces] == [("", "ann", 3.0)]
    assert found.pieces[0].confidence == pytest.approx(before)


def test_what_no_longer_counts_is_not_told(bank: ReasoningBank, ids: list[str]) -> None:
    bank.vote(ids[2], True, by="mallory")
    bank.vote(ids[3], True)
    bank.sources.block("mallory")
    bank.update(ids[3], content="Something else.")

    assert bank.evidence(ids[2]).pieces == ()
    assert bank.evidence(ids[3]).pieces == ()


def test_evidence_about_what_was_merged_counts_for_the_merged(bank: ReasoningBank) -> None:
    one = bank.record("Quote file names", "Quote file names in shell commands.", outcome="success").memory.id
    two = bank.record("Quote the file names", "Quote the file names in shell commands.", outcome="success").memory.id
    bank.vote(one, True, ref="a")
    bank.vote(two, True, ref="b")
    (change,) = bank.upkeep.consolidate(dry_run=False, force=True, threshold=0.5).changes
    assert change.result is not None

    assert {piece.ref for piece in bank.evidence(change.result).pieces} == {"a", "b"}


def test_of_no_memory_nothing_is_told(bank: ReasoningBank) -> None:
    with pytest.raises(MemoryNotFoundError):
        bank.evidence("nothing")


# -- figures over time, and what a run gave ------------------------------------------------------------------------


def test_the_runs_of_each_day_are_told_by_how_they_ended(bank: ReasoningBank, clock: Clock) -> None:
    bank.record("Quote paths", "Put paths in quotes.", outcome="success")
    for verdict in ("success", "failure", "success", None):
        recalled = bank.recall("quote paths")
        if verdict:
            bank.report(verdict, ref=recalled.ref)
    clock.move(days=1)
    bank.report("unknown", ref=bank.recall("quote paths").ref)

    first, second = bank.upkeep.metrics(30).days
    assert (first.success, first.failure, first.unknown, first.open) == (2, 1, 0, 1)
    assert (second.success, second.failure, second.unknown, second.open) == (0, 0, 1, 0)
    assert (second.day - first.day).days == 1


def test_the_parts_of_a_window_hold_all_of_it_once(bank: ReasoningBank, clock: Clock) -> None:
    memory_id = bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory.id
    for n in range(6):
        clock.move(days=4)
        with bank.episode("quote paths", min_confidence=0.0) as run:
            run.report("success" if n else "failure")
        bank.vote(memory_id, n > 2, ref=run.ref)
    metrics = bank.upkeep.metrics(30, parts=5)

    assert len(metrics.trend) == 5
    assert metrics.trend[0].since == metrics.since
    assert metrics.trend[-1].until == metrics.until
    assert sum(period.votes.count for period in metrics.trend) == metrics.votes.count == 6
    assert sum(period.criteria[0].sample for period in metrics.trend) == metrics.criteria[0].sample
    # Each part ends where the next begins.
    assert [p.until for p in metrics.trend[:-1]] == [p.since for p in metrics.trend[1:]]
    assert bank.upkeep.metrics(30).trend == ()


def test_a_run_tells_what_was_distilled_from_it(bank: ReasoningBank) -> None:
    recalled = bank.recall("sum the totals")
    told = bank.report("failure", ref=recalled.ref, reason="the totals were parsed with float")

    assert tuple(memory.id for memory in bank.runs.lessons(recalled.ref)) == told.lessons
    assert bank.runs.lessons("another") == ()


@pytest.mark.folder_only
def test_status_says_what_is_on_the_disk(bank: ReasoningBank, ids: list[str]) -> None:
    status = bank.upkeep.status()

    assert status.disk_bytes > 10_000
    assert status.free_bytes > 0
