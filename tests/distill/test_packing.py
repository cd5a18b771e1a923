from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank import Verdict
from reasoningbank.distill.cleaning import clip, pack
from reasoningbank.prompt.block import estimate_tokens
from reasoningbank.runs.trajectory import Step, Trajectory


def step(number: int, *, error: str = "") -> Step:
    return Step(action=f"act {number}", observation=f"saw {number} " + "word " * 60, error=error)


def test_a_short_run_is_whole_and_in_order() -> None:
    run = Trajectory(
        task="T",
        steps=(Step(thought="think", action="ls", observation="Error: x", error="Error: x"), Step(error="gone")),
        result="R",
        verdict=Verdict.FAILURE,
        reason="wrong",
    )

    packed = pack(run, max_tokens=500)

    assert packed.text == (
        "Task: T\n\nStep 1\nThought: think\nAction: ls\nObservation: Error: x\n\nStep 2\nError: gone\n\n"
        "Result: R\nVerdict: failure (wrong)"
    )
    assert (packed.kept, packed.left_out) == ((0, 1), 0)


def test_of_a_long_run_the_ends_the_errors_and_what_followed_them_stay() -> None:
    steps = tuple(step(n, error="Error: x" if n == 20 else "") for n in range(40))

    packed = pack(Trajectory(task="T", steps=steps, result="R"), max_tokens=900)

    assert {0, 1, 2, 20, 21, 37, 38, 39} <= set(packed.kept)
    assert packed.left_out == 40 - len(packed.kept) > 0
    assert "steps left out …]" in packed.text
    assert packed.tokens <= 900


def test_one_step_left_out_is_said_so() -> None:
    steps = (*(Step(action=f"a{n}") for n in range(3)), step(3), *(Step(action=f"a{n}") for n in range(4, 7)))

    packed = pack(Trajectory(steps=steps), max_tokens=90)

    assert packed.kept == (0, 1, 2, 4, 5, 6)
    assert "[… 1 step left out …]" in packed.text


def test_where_even_the_steps_that_must_stay_are_too_long_their_fields_shrink() -> None:
    steps = tuple(Step(action="a" * 800, observation="o " * 4_000) for _ in range(4))

    packed = pack(Trajectory(task="t " * 4_000, steps=steps), max_tokens=1_600)

    assert packed.left_out == 0
    assert "characters left out" in packed.text


def test_a_text_keeps_its_head_and_its_tail_and_says_what_is_missing() -> None:
    assert clip("a" * 30 + "b" * 1_030, 90) == "a" * 30 + "b" * 30 + "[… 970 characters left out …]" + "b" * 30
    assert clip("short", 5) == "short"


@given(
    st.lists(st.integers(0, 300), max_size=30),
    st.integers(200, 2_000),
    st.sets(st.integers(0, 29), max_size=3),
)
def test_whatever_the_run_the_budget_is_kept_and_the_order_too(sizes: list[int], budget: int, bad: set[int]) -> None:
    steps = tuple(Step(action="word " * size, error="Error" if n in bad else "") for n, size in enumerate(sizes))

    packed = pack(Trajectory(task="T", steps=steps, result="R"), max_tokens=budget)

    assert packed.tokens <= budget + 15 * (len(packed.kept) + 1)  # the words that say what is missing
    assert list(packed.kept) == sorted(set(packed.kept))
    assert packed.left_out == len(steps) - len(packed.kept)


@pytest.mark.parametrize("max_tokens", [1, 50, 10_000])
def test_task_and_verdict_are_always_there(max_tokens: int) -> None:
    packed = pack(Trajectory(task="T"), max_tokens=max_tokens)

    assert packed.text == "Task: T\n\nVerdict: unknown"
    assert packed.tokens == estimate_tokens(packed.text)
