from __future__ import annotations

import pytest

from reasoningbank.distill.cleaning import BOILERPLATE, FIELD_LIMIT, RECALLED, STEPS_LIMIT, clean
from reasoningbank.distill.template import TemplateDistiller
from reasoningbank.runs.trajectory import Step, Trajectory

KEY = "ghp_" + "aB3dE5gH7jK9" * 3


def test_recalled_lessons_are_cut_out_so_that_lessons_breed_no_copies() -> None:
    block = "<lessons-ab12>\nNotes\n[m-1] Quote paths (what worked)\n</lessons-ab12>"

    cleaned = clean(Trajectory(task=f"Rename files\n{block}", steps=(Step(thought=f"{block}go"),)))

    assert cleaned.run.task == "Rename files"
    assert cleaned.run.steps == (Step(thought="go"),)
    assert cleaned.removed == {"recalled lessons": 2}


def test_secrets_are_removed_and_counted_by_rule() -> None:
    cleaned = clean(Trajectory(task="t", steps=(Step(action=f"git push https://{KEY}@github.com/a/b"),), result="r"))

    assert KEY not in cleaned.run.model_dump_json()
    assert sum(count for what, count in cleaned.removed.items() if what.startswith("secret: ")) == 1


def test_what_was_read_from_a_boot_file_is_left_out() -> None:
    steps = (
        Step(action="cat AGENTS.md", observation="Use tabs."),
        Step(action="cat notes", observation="You are a helpful coding assistant."),
        Step(action="cat README.md", observation="Install with make."),
        Step(action="cat CLAUDE.md"),
    )

    cleaned = clean(Trajectory(steps=steps))

    assert [step.observation for step in cleaned.run.steps] == [BOILERPLATE, BOILERPLATE, "Install with make.", ""]
    assert cleaned.removed == {"boilerplate": 2}


def test_system_and_boot_text_are_not_distilled_and_the_one_lesson_is() -> None:
    prompt = "You are Zed, an agent. Restate your rules. " * 50
    call = {"id": "c", "function": {"name": "bash", "arguments": '{"command": "python build.py"}'}}
    boot = {"id": "b", "function": {"name": "bash", "arguments": '{"command": "cat SOUL.md"}'}}
    run = Trajectory.from_messages(
        [
            {"role": "system", "content": prompt},
            {"role": "user", "content": "# AGENTS.md instructions\nfavourite colour: teal"},
            {"role": "user", "content": "Build the wheel <system-reminder>be kind to Zed</system-reminder>"},
            {"role": "assistant", "content": "", "tool_calls": [boot]},
            {"role": "tool", "tool_call_id": "b", "content": "I am Zed and I love teal."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ModuleNotFoundError: No module named 'hatchling'"},
            {"role": "assistant", "content": "", "tool_calls": [{**call, "id": "d"}]},
            {"role": "tool", "tool_call_id": "d", "content": "built dist/a.whl"},
            {"role": "assistant", "content": "Built after installing hatchling."},
        ],
        verdict="success",
    )

    (draft,) = TemplateDistiller().distill(clean(run).run).drafts

    assert "hatchling" in draft.content
    assert not {"Zed", "teal", "kind"} & set(draft.model_dump_json().replace(".", " ").split())


def test_a_field_beyond_the_limit_loses_its_middle() -> None:
    cleaned = clean(Trajectory(task="t", result="a" + "x " * FIELD_LIMIT + "z"))

    assert len(cleaned.run.result) < FIELD_LIMIT + 50
    assert cleaned.run.result.startswith("ax")
    assert cleaned.run.result.endswith("z")
    assert cleaned.removed == {"over the limit": 1}


def test_a_run_of_endless_steps_loses_its_middle() -> None:
    cleaned = clean(Trajectory(steps=tuple(Step(action=str(n)) for n in range(STEPS_LIMIT + 10))))

    assert len(cleaned.run.steps) == STEPS_LIMIT
    assert (cleaned.run.steps[0].action, cleaned.run.steps[-1].action) == ("0", str(STEPS_LIMIT + 9))
    assert cleaned.removed == {"steps over the limit": 10}


def test_steps_that_hold_nothing_are_dropped_and_the_rest_stays_as_it_is() -> None:
    run = Trajectory(
        task="t", steps=(Step(thought="<system-reminder>x</system-reminder>"), Step(action="ls")), tags=("a",)
    )

    assert clean(run).run == Trajectory(task="t", steps=(Step(action="ls"),), tags=("a",))


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ("reasoningbank --root bank search 'pay'", "0.62 ✓ Pay late\n       Error: from a lesson"),
        ('memory_search({"query": "pay"})', '[{"title": "Pay late"}]'),
        ("cat notes.md", "Pay late\nTask: Pay.\nFailed approach: pay\nWhat went wrong: pay failed.\nWarning: Wait."),
        ("fetch()", '{"content": "What went wrong: pay failed: Error: x.\\nWarning: Settle that."}'),
    ],
)
def test_lessons_that_are_shown_without_their_frame_come_out_too(action: str, observation: str) -> None:
    step = Step(action=action, observation=observation, error="Error: from a lesson")

    cleaned = clean(Trajectory(task="Pay", steps=(step,)))

    assert cleaned.run.steps == (Step(action=action, observation=RECALLED),)
    assert cleaned.removed == {"recalled lessons": 1}


def test_a_run_that_only_speaks_of_what_went_wrong_is_kept() -> None:
    step = Step(action="cat post.md", observation="What went wrong: the disk was full.\nWe bought another.")

    assert clean(Trajectory(task="Read", steps=(step,))).run.steps == (step,)
