from __future__ import annotations

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


def test_a_success_gives_the_approach_in_the_common_form() -> None:
    draft = lesson(run(LOOK, REFUSED, PAID, result="The flight is booked.", session="s-1"))

    assert draft.content.splitlines() == [
        "Task: Book the cheapest flight to Rome and pay…",
        "Successful approach: look → pay ×2",
        "Overcame: pay failed (Error: not enough); changing amount resolved it; do so from the start.",
        "Result: The flight is booked.",
    ]
    assert draft.title == "Book the cheapest flight to Rome and pay for it…"
    assert draft.description == "When the task asks to book."
    assert draft.applies_when == "Book the cheapest flight to Rome and pay for it with two certificates."
    assert (draft.outcome, draft.initial_confidence) == (Verdict.SUCCESS, 0.6)
    assert (draft.source.how, draft.source.by, draft.source.session) == ("distilled", "template-1", "s-1")


def test_a_failure_gives_what_went_wrong_and_what_to_do_instead() -> None:
    draft = lesson(run(LOOK, REFUSED, verdict="failure", result="I give up."))

    assert draft.content.splitlines() == [
        "Task: Book the cheapest flight to Rome and pay…",
        "Failed approach: look → pay",
        "What went wrong: pay failed for good: not enough. No step did book.",
        "Warning: Settle that before calling pay, and change the way after one such answer. "
        "Do or explicitly rule out: book.",
    ]
    assert draft.title == "pay: not enough"
    assert (draft.outcome, draft.initial_confidence) == (Verdict.FAILURE, 0.5)


def test_a_partial_success_gives_both() -> None:
    drafts = TemplateDistiller().distill(run(LOOK, verdict="partial")).drafts

    assert [draft.outcome for draft in drafts] == [Verdict.SUCCESS, Verdict.FAILURE]


def test_a_run_without_a_verdict_teaches_nothing() -> None:
    guess = Trajectory.from_messages(
        [{"role": "user", "content": "which DB?"}, {"role": "assistant", "content": "probably Postgres 9"}]
    )

    result = TemplateDistiller().distill(guess)

    assert (result.status, result.drafts) == (DistillStatus.EMPTY, ())
    assert "verdict is unknown" in result.reason


@pytest.mark.parametrize(
    "empty", [run(), run(LOOK, task=" "), run(Step(observation="User: hello")), run(task="", result="x")]
)
def test_a_run_that_shows_nothing_of_the_agent_teaches_nothing(empty: Trajectory) -> None:
    assert TemplateDistiller().distill(empty).status is DistillStatus.EMPTY


@pytest.mark.parametrize(
    ("steps", "fields", "title", "said"),
    [
        (
            [LOOK],
            {"reason": "Wrong account was charged"},
            "Avoid: Wrong account was charged",
            "Wrong account was charged.",
        ),
        ([LOOK] * 3, {}, "Do not repeat look", "look was done 3 times with the same outcome."),
        (
            [Step(thought="I cannot do that without a number.")],
            {},
            "Look it up before refusing or asking again",
            "It used no tool, and said: I cannot do that without a number.",
        ),
        ([Step(thought="Hm.")], {}, "Look it up before refusing or asking again", "It used no tool."),
        (
            [LOOK, Step(thought="It can't be done.", action="escalate()", tool="escalate")],
            {},
            "Try book before handing over",
            "It handed the task over after saying: It can't be done.",
        ),
        (
            [LOOK, Step(action="escalate()", tool="escalate")],
            {"task": "Look at it."},
            "Try what it can do before handing over",
            "It handed the task over.",
        ),
        ([LOOK], {}, "Do not leave undone: book", "No step did book."),
        ([REFUSED, PAID], {"task": "Settle it."}, "pay: not enough", "pay first failed: not enough."),
        ([LOOK], {"task": "Look it over."}, "Keep steps for the end of the task", "It stopped in the middle, at look."),
        (
            [Step(action="think()", tool="think", error="Error: x")],
            {"task": "Think it over."},
            "Look it up before refusing or asking again",
            "It used no tool.",
        ),
        (
            [LOOK],
            {"task": "Look at it. Mind the strange hat.", "result": "Looked at it."},
            "Mind: Mind the strange hat.",
            "It hardly touched on “Mind the strange hat.”",
        ),
        (
            [Step(action="update_it()", tool="update_it")],
            {"task": "Look at it.", "result": "Looked at it."},
            "Check after update_it",
            "It looked at nothing after update_it.",
        ),
        (
            [LOOK],
            {"task": "Look at it.", "result": "Looked at it."},
            "Not done yet: Look at it.",
            "It took the task for done, and was judged a failure.",
        ),
    ],
)
def test_a_guard_rail_says_what_this_run_shows(
    steps: list[Step], fields: dict[str, Any], title: str, said: str
) -> None:
    draft = lesson(run(*steps, verdict="failure", **fields))

    assert draft.title == title
    assert f"What went wrong: {said}" in draft.content
    assert "Warning: " in draft.content


def test_of_many_acts_the_last_are_named() -> None:
    steps = [Step(action=f"t{n}()", tool=f"t{n}") for n in range(9)]

    assert "Successful approach: … → t6 → t7 → t8\n" in lesson(run(*steps, result="Sold.")).content


def test_an_answer_without_a_tool_says_so() -> None:
    draft = lesson(run(task="Say hello to the world", result="Hello, world."))

    assert "Successful approach: answered without a tool" in draft.content
    assert draft.description == "When there is no tool at hand."


def test_a_success_after_a_failure_says_what_it_did_otherwise() -> None:
    draft = lesson(run(LOOK, PAID), run(REFUSED, verdict="failure"), run(verdict="success"))

    assert "Unlike an earlier run that failed: look" in draft.content


def test_a_failure_after_a_success_says_what_the_success_did() -> None:
    draft = lesson(run(LOOK, verdict="failure"), run(LOOK, PAID))

    assert "Unlike this one, a run that succeeded did: pay" in draft.content


def test_where_nothing_differs_nothing_is_said() -> None:
    assert "Unlike" not in lesson(run(LOOK), run(LOOK, verdict="failure")).content


def test_a_decision_is_part_of_the_approach() -> None:
    draft = lesson(run(LOOK, Step(thought="Basic fares cannot be changed.")))

    assert "Decided: Basic fares cannot be changed." in draft.content
    assert "Result:" not in draft.content


def test_a_trouble_that_a_plain_retry_resolved_says_so() -> None:
    again = REFUSED.model_copy(update={"error": "", "observation": "ok"})

    assert "a later try worked" in lesson(run(REFUSED, again)).content


def test_given_tags_are_kept_and_others_derived() -> None:
    assert lesson(run(LOOK, tags=("travel",))).tags == ("travel",)
    assert lesson(run(LOOK)).tags == ("look",)


def test_a_contrast_draws_one_lesson_from_each_side() -> None:
    result = TemplateDistiller().distill_many([run(LOOK, PAID), run(LOOK, verdict="failure"), run(LOOK, LOOK, PAID)])

    success, failure = result.drafts
    assert "Unlike an earlier run that failed: pay" in success.content
    assert "Unlike this one, a run that succeeded did: pay" in failure.content


def test_a_contrast_of_one_side_draws_from_that_one() -> None:
    assert len(TemplateDistiller().distill_many([run(LOOK)]).drafts) == 1


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
