from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.distill.template import TITLE, TemplateDistiller, anti_pattern
from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Draft
from reasoningbank.runs.jobs import DistillStatus
from reasoningbank.runs.trajectory import Step, Trajectory

LOOK = Step(action='look({"id": 1})', tool="look", observation="found")
REFUSED = Step(action='pay({"amount": 3})', tool="pay", observation="Error: not enough", error="Error: not enough")
PAID = Step(action='pay({"amount": 5})', tool="pay", observation="paid")
TASK = "You are Mia. I want to book the cheapest flight to Rome and pay for it with two certificates."


def run(*steps: Step, verdict: str = "success", **fields: Any) -> Trajectory:
    return Trajectory(steps=steps, verdict=Verdict(verdict), **{"task": TASK, **fields})


def lesson(trajectory: Trajectory, *earlier: Trajectory) -> Draft:
    (draft,) = TemplateDistiller().distill(trajectory, earlier).drafts
    return draft


def test_a_success_gives_what_failed_first_and_what_worked_then() -> None:
    draft = lesson(run(LOOK, REFUSED, PAID, result="The flight is booked.", session="s-1"))

    assert draft.content.splitlines() == [
        "Task: Book the cheapest flight to Rome and pay for it with two…",
        "Successful approach: look → pay",
        "Overcame: pay failed (not enough); with another amount it worked.",
    ]
    assert draft.title == "pay: not enough"
    assert draft.description == "When pay says: not enough"
    assert draft.applies_when == "Book the cheapest flight to Rome and pay for it with two certificates."
    assert (draft.outcome, draft.initial_confidence) == (Verdict.SUCCESS, 0.6)
    assert (draft.source.how, draft.source.by, draft.source.session) == ("distilled", "template-2", "s-1")


def test_a_success_in_which_nothing_failed_gives_its_acts() -> None:
    draft = lesson(run(LOOK, PAID))

    assert draft.title == "pay: Book the cheapest flight to Rome and pay for it with two…"
    assert draft.description == "When the task asks to book."
    assert draft.content.splitlines()[1:] == ["Successful approach: look → pay"]


def test_a_success_of_a_code_run_names_the_change_and_the_check() -> None:
    edit = Step(action='edit_file({"path": "a.py"})', tool="edit_file")
    draft = lesson(
        run(Step(action="ls"), edit, Step(action="pytest -q", observation="3 passed"), task="Fix the parser.")
    )

    assert draft.content.splitlines() == [
        "Task: Fix the parser.",
        "Successful approach: edit_file a.py → pytest -q",
        "Checked by: pytest -q",
    ]
    assert draft.title == "pytest -q: Fix the parser."
    assert draft.description == ""


def test_a_failure_gives_what_went_wrong_and_what_to_do_instead() -> None:
    draft = lesson(run(LOOK, REFUSED, verdict="failure", result="I give up."))

    assert draft.content.splitlines() == [
        "Task: Book the cheapest flight to Rome and pay for it with two…",
        "What went wrong: pay failed for good: not enough.",
        "Warning: Settle that before calling pay, and change the way after one such answer.",
    ]
    assert draft.title == "pay: not enough"
    assert (draft.outcome, draft.initial_confidence) == (Verdict.FAILURE, 0.5)


def test_when_the_run_happened_is_kept() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)

    assert lesson(run(LOOK, PAID, ended_at=at)).occurred_at == at
    assert lesson(run(LOOK, PAID, started_at=at)).occurred_at == at
    assert lesson(run(LOOK, PAID.model_copy(update={"at": at}))).occurred_at == at
    assert lesson(run(LOOK, PAID)).occurred_at is None


def test_a_partial_success_gives_both() -> None:
    drafts = TemplateDistiller().distill(run(LOOK, PAID, verdict="partial")).drafts

    assert [draft.outcome for draft in drafts] == [Verdict.SUCCESS, Verdict.FAILURE]


def test_a_run_without_a_verdict_teaches_nothing() -> None:
    guess = Trajectory.from_messages(
        [{"role": "user", "content": "which DB?"}, {"role": "assistant", "content": "probably Postgres 9"}]
    )

    result = TemplateDistiller().distill(guess)

    assert (result.status, result.drafts) == (DistillStatus.EMPTY, ())
    assert "verdict is unknown" in result.reason


@pytest.mark.parametrize(
    "silent",
    [
        run(),
        run(LOOK),
        run(LOOK, PAID, task=" "),
        run(Step(observation="User: hello")),
        run(task="Thanks!", result="You are welcome."),
        run(task="Say hello to the world", result="Hello, world."),
        run(Step(action="\t\t"), Step(thought="I cannot do that.")),
        run(Step(thought="Hm."), verdict="failure"),
        run(LOOK, task="Look at it.", result="Looked at it.", verdict="failure"),
        run(LOOK, task="Look at it. Mind the strange hat.", result="Done.", verdict="failure"),
        run(Step(action="think()", tool="think", error="Error: x"), verdict="failure"),
    ],
)
def test_a_run_that_shows_no_act_error_or_check_worth_naming_teaches_nothing(silent: Trajectory) -> None:
    assert TemplateDistiller().distill(silent).status is DistillStatus.EMPTY


NPM = Step(action="npm install", observation="added 3 packages")
BUILD = Step(action="docker build .", error="ERROR: failed to solve: npm ci")
BUILT = Step(action="docker build .", observation="built")


def test_a_success_says_how_each_kind_of_trouble_was_overcome() -> None:
    assert "it worked after: npm install" in lesson(run(BUILD, NPM, BUILT)).content
    assert "Decided" not in lesson(run(BUILD, NPM, BUILT, Step(thought="It cannot be pushed."))).content


def test_of_many_acts_the_last_are_named() -> None:
    steps = [Step(action=f"t{n}()", tool=f"t{n}") for n in range(9)]

    assert "Successful approach: t6 → t7 → t8" in lesson(run(*steps, result="Sold.")).content


def test_a_success_after_a_failure_says_what_it_did_otherwise() -> None:
    draft = lesson(run(LOOK, PAID), run(REFUSED, verdict="failure"), run(verdict="success"))

    assert "Unlike an earlier run that failed: look" in draft.content


def test_a_failure_after_a_success_says_what_the_success_did() -> None:
    draft = lesson(run(LOOK, verdict="failure"), run(LOOK, PAID))

    assert "Unlike this one, a run that succeeded did: pay" in draft.content


def test_a_failure_of_which_nothing_else_can_be_said_is_told_by_what_a_success_did() -> None:
    draft = lesson(run(LOOK, verdict="failure", task="Look at it."), run(LOOK, PAID))

    assert draft.title == "Not without: pay"
    assert draft.content.splitlines()[1:] == [
        "Failed approach: look",
        "Unlike this one, a run that succeeded did: pay",
        "Warning: Do not finish without: pay.",
    ]


def test_where_nothing_differs_nothing_is_said() -> None:
    assert "Unlike" not in lesson(run(LOOK, PAID), run(LOOK, PAID, verdict="failure")).content


def test_a_decision_is_part_of_the_approach() -> None:
    draft = lesson(run(LOOK, Step(thought="Basic fares cannot be changed.")))

    assert "Decided: Basic fares cannot be changed." in draft.content
    assert "Result:" not in draft.content


def test_a_trouble_that_a_plain_retry_resolved_says_so() -> None:
    again = REFUSED.model_copy(update={"error": "", "observation": "ok"})

    assert "the same worked when it was tried again" in lesson(run(REFUSED, again)).content


def test_given_tags_are_kept_and_others_derived() -> None:
    assert lesson(run(LOOK, PAID, tags=("travel",))).tags == ("travel",)
    assert lesson(run(LOOK, PAID)).tags == ("look", "pay")


def test_a_contrast_draws_one_lesson_from_each_side() -> None:
    result = TemplateDistiller().distill_many([run(LOOK, PAID), run(LOOK, verdict="failure"), run(LOOK, LOOK, PAID)])

    success, failure = result.drafts
    assert "Unlike an earlier run that failed: pay" in success.content
    assert "Unlike this one, a run that succeeded did: pay" in failure.content


def test_a_contrast_of_one_side_draws_from_that_one() -> None:
    assert len(TemplateDistiller().distill_many([run(LOOK, PAID)]).drafts) == 1


def test_a_contrast_of_runs_that_show_nothing_is_empty() -> None:
    assert "no act" in TemplateDistiller().distill_many([run()]).reason


def test_a_contrast_of_unjudged_runs_is_empty() -> None:
    assert TemplateDistiller().distill_many([run(LOOK, verdict="unknown")]).status is DistillStatus.EMPTY


def test_an_unhelpful_vote_with_a_reason_gives_an_anti_pattern() -> None:
    draft = anti_pattern("Clear the cache", "Delete ~/.cache first.", "it logged  the user out", "s-2")

    assert draft.title == "Not always: Clear the cache"
    assert "What went wrong: it logged the user out" in draft.content
    assert "Failed approach: Delete ~/.cache first." in draft.content
    assert (draft.outcome, draft.source.session) == (Verdict.FAILURE, "s-2")


def test_an_unhelpful_vote_without_a_reason_gives_none() -> None:
    with pytest.raises(InvalidInputError, match="say what went wrong"):
        anti_pattern("t", "c", "  ")


texts = st.text(max_size=120)
some_steps = st.builds(Step, thought=texts, action=texts, observation=texts, error=texts, tool=st.text(max_size=8))


@given(texts, st.lists(some_steps, max_size=6), texts, st.sampled_from(Verdict))
def test_whatever_the_run_its_lessons_keep_to_the_limits_and_are_the_same_again(
    task: str, steps: list[Step], result: str, verdict: Verdict
) -> None:
    trajectory = Trajectory(task=task, steps=tuple(steps), result=result, verdict=verdict)

    first, again = (TemplateDistiller().distill(trajectory) for _ in range(2))

    assert first == again
    assert all(len(draft.title) <= TITLE for draft in first.drafts)
