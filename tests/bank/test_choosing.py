"""Choosing through the public API: what is handed out of what fits, and what is said to expect of it."""

from __future__ import annotations

from reasoningbank import EmbeddingError, ReasoningBank, Source
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.vectors.base import Float32
from tests.bank.test_search import lesson
from tests.conftest import OpenBank


def test_what_fits_comes_first_whoever_recorded_it(bank: ReasoningBank) -> None:
    distilled = Source(how="distilled")
    lesson(bank, "quote paths with blanks", source=distilled)
    lesson(bank, "quote paths sometimes")

    found = bank.search("quote paths with blanks", 3)

    assert [hit.memory.title for hit in found.hits] == ["quote paths with blanks", "quote paths sometimes"]
    assert [hit.provisional for hit in found.hits] == [True, False]
    assert found.hits[0].about > found.hits[1].about


GIT_TIPS = (
    ("Undo the last commit", "git reset --soft HEAD~1 keeps the changes in the index"),
    ("Stash what is in the way", "git stash push before you switch branches"),
    ("Find the bad commit", "git bisect halves the commits between good and bad"),
    ("Amend with care", "git commit --amend rewrites a commit: never after a push"),
    ("Rebase onto main", "git rebase main replays the commits of a branch"),
    ("Clean the work tree", "git clean -fdx removes what is not tracked"),
)


def test_a_distilled_lesson_about_the_task_comes_before_tips_by_hand_about_something_else(bank: ReasoningBank) -> None:
    for title, content in GIT_TIPS:
        lesson(bank, title, content)
    refund = lesson(
        bank, "Refunds above the limit", "Ask a manager before a refund above the limit", source=Source(how="distilled")
    )

    found = bank.search("the customer asks for a refund above the limit")

    assert [memory.id for memory in found.memories][:1] == [refund]
    assert bank.recall("the customer asks for a refund above the limit").hits[0].memory.id == refund


def test_cautious_hands_out_proven_lessons_first_and_new_ones_in_the_slots_that_are_left(bank: ReasoningBank) -> None:
    distilled = Source(how="distilled")
    lesson(bank, "quote paths of a file", source=distilled)
    lesson(bank, "quote paths with blanks", source=distilled)
    lesson(bank, "quote paths sometimes")

    found = bank.search("quote paths with blanks", 3, policy="cautious")

    assert [hit.memory.title for hit in found.hits] == [
        "quote paths sometimes",
        "quote paths with blanks",
        "quote paths of a file",
    ]
    assert [hit.provisional for hit in found.hits] == [False, True, True]


def test_what_people_say_does_not_help_is_withheld_and_counted(bank: ReasoningBank) -> None:
    bad = lesson(bank, "quote paths")
    for number in range(6):
        bank.vote(bad, False, ref=f"run {number}")

    assert bank.search("quote paths").withheld == {"rejected": 1}
    assert bank.search("quote paths").hits == ()


def test_a_recall_says_what_to_expect_with_what_it_hands_out_and_without(bank: ReasoningBank) -> None:
    lesson(bank, "quote paths")
    empty, found = bank.recall("bake bread"), bank.recall("quote the paths")

    assert (empty.expected_success, empty.expected_without) == (0.45, 0.45)
    assert found.expected_without == 0.45 < (found.expected_success or 0.0) < 0.75
    assert bank.recall("anything", ref=found.ref).expected_success is None


def test_a_recall_leaves_out_what_would_add_less_than_it_costs_and_a_search_does_not(open_bank: OpenBank) -> None:
    bank = open_bank(settings={"lesson_cost": 0.9})
    lesson(bank, "quote paths")

    recall = bank.recall("quote the paths")

    assert (recall.hits, recall.withheld) == ((), {"no gain": 1})
    assert len(bank.search("quote the paths").hits) == 1


def test_what_was_believed_at_recall_is_kept_with_the_episode(bank: ReasoningBank) -> None:
    lesson(bank, "quote paths")
    recall = bank.recall("quote the paths")

    (served,) = bank.runs.get(recall.ref).memories
    assert served.about == recall.hits[0].about < 1.0
    assert bank.recall("quote the paths", ref=recall.ref).hits[0].about == served.about


def test_what_a_project_learns_of_its_runs_is_in_force_at_the_next_recall(bank: ReasoningBank) -> None:
    helpful = lesson(bank, "quote paths")
    for number in range(30):
        recall = bank.recall("quote the paths")
        bank.report("success", ref=recall.ref)
        bank.vote(helpful, True, ref=recall.ref, by=f"user {number}")
    learned = bank.upkeep.metrics()

    assert learned.success["with_lessons"] == 1.0
    assert (bank.recall("quote the paths").expected_success or 0.0) > 0.75
    assert learned.parameters is not None
    assert learned.parameters["reported"] > 0.5


def test_a_recall_hands_out_one_of_several_that_say_the_same_and_a_search_lists_them_all(open_bank: OpenBank) -> None:
    bank = open_bank(settings={"lesson_cost": 0.2})
    for n in range(3):
        lesson(bank, f"quote paths {n}", 9 * "Put every path of a file in quotes, since names hold blanks. ")

    assert len(bank.search("quote the paths of files").hits) == 3
    assert len(bank.recall("quote the paths of files").hits) == 1


def test_where_the_query_cannot_be_embedded_all_that_match_are_handed_out(open_bank: OpenBank) -> None:
    class Blind(HashEmbedder):
        """An embedder that cannot be asked."""

        def embed_query(self, text: str) -> Float32:
            raise EmbeddingError(f"not today: {text}")

    bank = open_bank(embedder=Blind())
    for n in range(5):
        lesson(bank, f"quote paths {n}")

    recall = bank.recall("quote paths")

    assert len({memory.id for memory in recall.memories}) == 3
    assert recall.degraded
