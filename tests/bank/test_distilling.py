from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import (
    AsyncReasoningBank,
    ChatError,
    DistillStatus,
    InvalidInputError,
    JudgeUnavailableError,
    LLMDistiller,
    MemoryNotFoundError,
    ReasoningBank,
    Trajectory,
    Verdict,
    prompt_block,
)
from reasoningbank.distill import Distillation
from reasoningbank.distill.best_of import Attempt
from reasoningbank.errors import JobNotFoundError
from reasoningbank.llm import ChatReply, FinishReason
from reasoningbank.memory import OUTCOMES

MESSAGES = [
    {"role": "user", "content": "Convert the report to CSV"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "write_file", "arguments": '{"path": "a.csv"}'}]},
    {"role": "tool", "content": "Error: folder does not exist"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "write_file", "arguments": '{"path": "out/a.csv"}'}]},
    {"role": "tool", "content": "written"},
    {"role": "assistant", "content": "The report is in out/a.csv."},
]


LONG = (
    "Before you start, put every path that a tool is given into quotes; then check the result, compare it with every "
    "part of the task, write down what is missing, and only when nothing is missing report the whole of it as finished"
)


def lessons(*ends: str, content: str = LONG, title: str = "") -> str:
    return json.dumps({"memories": [{"title": title or end, "content": f"{content}; {end}."} for end in ends]})


def says(*answers: str) -> LLMDistiller:
    left = list(answers)
    return LLMDistiller(lambda messages: left.pop(0))


def test_a_run_gives_a_lesson_that_its_task_finds(bank: ReasoningBank) -> None:
    distilled = bank.distill(MESSAGES, "success")

    (memory,) = distilled.memories
    assert distilled.status is DistillStatus.DONE
    assert (memory.outcome, memory.source.how, round(memory.confidence, 3)) == (Verdict.SUCCESS, "distilled", 0.6)
    assert bank.search("convert the report to CSV").hits[0].memory.id == memory.id


def test_an_untrusted_run_gives_untrusted_lessons(bank: ReasoningBank) -> None:
    (memory,) = bank.distill({"messages": MESSAGES, "verdict": "success", "trusted": False}).memories

    assert not memory.source.trusted


def test_a_run_that_merely_ended_teaches_nothing_and_makes_no_project(bank: ReasoningBank) -> None:
    distilled = bank.distill(MESSAGES)

    assert (distilled.status, distilled.memories) == (DistillStatus.EMPTY, ())
    assert not Path(str(bank.root)).exists()


def test_a_judge_is_asked_where_there_is_no_verdict(bank: ReasoningBank) -> None:
    assert bank.distill(MESSAGES, judge=lambda run: "failure").memories[0].outcome is Verdict.FAILURE
    with pytest.raises(JudgeUnavailableError):
        bank.distill(MESSAGES, judge=lambda run: None)


def test_a_lesson_that_is_known_in_nearly_the_same_words_is_not_stored_again(bank: ReasoningBank) -> None:
    first = bank.distill(MESSAGES, "success", distiller=says(lessons("quote paths", title="Q")))
    again = bank.distill(MESSAGES, "success", distiller=says(lessons("quote the paths", "quote all paths", title="Q")))

    assert again.memories == ()
    assert again.duplicates == (first.memories[0].id,) * 2
    assert (again.status, bank.count()) == (DistillStatus.DONE, 1)


def test_of_two_lessons_of_one_answer_that_say_the_same_the_first_is_kept(bank: ReasoningBank) -> None:
    distilled = bank.distill(MESSAGES, "success", distiller=says(lessons("quote paths", "quote the paths", title="Q")))

    assert [m.content[-12:] for m in distilled.memories] == ["quote paths."]
    assert distilled.duplicates == (distilled.memories[0].id,)


def test_the_same_words_with_the_other_outcome_are_another_lesson(bank: ReasoningBank) -> None:
    items = [{"title": f"Quote {outcome}", "content": LONG, "outcome": outcome} for outcome in OUTCOMES]

    distilled = bank.distill(MESSAGES, "partial", distiller=says(json.dumps(items)))

    assert [m.outcome for m in distilled.memories] == list(OUTCOMES)


def test_recalled_lessons_and_secrets_do_not_reach_the_distiller(bank: ReasoningBank) -> None:
    block = prompt_block([bank.record("Quote paths", "Names hold blanks.", outcome="success").memory]).text
    key = "ghp_" + "aB3dE5gH7jK9" * 3
    asked: list[str] = []

    def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages[-1]["content"])
        return lessons("look first")

    run = {"task": f"Rename {block}", "steps": [f"export TOKEN={key}"], "verdict": "success"}
    distilled = bank.distill(run, distiller=LLMDistiller(model))

    assert "Names hold blanks" not in asked[0]
    assert key not in asked[0]
    assert distilled.removed["recalled lessons"] == 1


def test_the_prompt_does_not_grow_with_the_bank(bank: ReasoningBank) -> None:
    sizes: list[int] = []

    def model(messages: list[dict[str, str]]) -> str:
        sizes.append(sum(len(message["content"]) for message in messages))
        return '{"memories": []}'

    bank.distill(MESSAGES, "success", distiller=LLMDistiller(model))
    bank.record_many([{"title": f"T{n}", "content": f"do {n}", "outcome": "success"} for n in range(500)])
    bank.distill(MESSAGES, "success", distiller=LLMDistiller(model))

    assert sizes[0] == sizes[1]


def test_earlier_runs_of_the_task_are_compared(bank: ReasoningBank) -> None:
    failed = {"task": "Convert the report to CSV", "steps": ["touch a"], "verdict": "failure"}

    (memory,) = bank.distill(MESSAGES, "success", earlier=[failed]).memories

    assert "Unlike an earlier run that failed: write_file" in memory.content


def test_several_runs_are_contrasted(bank: ReasoningBank) -> None:
    failed = {"task": "Convert the report to CSV", "steps": ["touch a"]}

    distilled = bank.runs.distill_many(
        [{"messages": MESSAGES, "verdict": "success"}, failed], judge=lambda run: "failure" if run.steps else None
    )

    assert sorted(m.outcome for m in distilled.memories) == ["failure", "success"]
    with pytest.raises(InvalidInputError, match="give at least one"):
        bank.runs.distill_many([])


# -- scaling -----------------------------------------------------------------------------------------------------------


def test_scaling_gives_every_try_the_lessons_and_learns_from_all_of_them(bank: ReasoningBank) -> None:
    known = bank.record("Convert reports with csv.writer", "It quotes fields.", outcome="success").memory
    seen: list[str] = []

    def run(attempt: Attempt) -> dict[str, Any]:
        seen.append(attempt.lessons)
        if attempt.number == 0:
            raise TimeoutError("browser")
        verdict = "success" if attempt.number == 2 else "failure"
        return {"steps": [f"step of {verdict}"], "result": verdict, "verdict": verdict}

    scaled = bank.runs.best_of(run, "Convert the report to CSV", 4)

    assert len(seen) == 4
    assert all(known.id in block for block in seen)
    assert scaled.best is not None
    assert scaled.best.attempt.number == 2
    assert [r.error for r in scaled.rollouts] == ["TimeoutError: browser", "", "", ""]
    assert sorted(m.outcome for m in scaled.distilled.memories) == ["failure", "success"]
    episode = bank.runs.get(scaled.recall.ref)
    assert episode.verdict is Verdict.SUCCESS
    assert bank.get(known.id).usage_count == 1


def test_where_every_try_raises_nothing_is_learned_and_nothing_is_credited(bank: ReasoningBank) -> None:
    def run(attempt: Attempt) -> dict[str, Any]:
        raise OSError("offline")

    scaled = bank.runs.best_of(run, "Convert it", 2, mode="sequential")

    assert (scaled.best, scaled.distilled.status) == (None, DistillStatus.EMPTY)
    assert bank.runs.get(scaled.recall.ref).verdict is Verdict.UNKNOWN


def test_the_selector_chooses_apart_from_the_judge(bank: ReasoningBank) -> None:
    scaled = bank.runs.best_of(
        lambda attempt: {"result": str(attempt.number)}, "T", 3, judge=lambda run: "success", selector=lambda made: 1
    )

    assert scaled.best is not None
    assert scaled.best.run is not None
    assert scaled.best.run.result == "1"


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_an_enqueued_run_is_distilled_by_a_worker_and_the_job_tells_of_it(bank: ReasoningBank) -> None:
    job = bank.queue.put(MESSAGES, "success")
    assert (job.status, bank.count()) == (DistillStatus.QUEUED, 0)

    done = bank.queue.worker().run_once()

    assert done == bank.queue.get(job.id)
    assert (done.status, done.counts) == (DistillStatus.DONE, {"lessons": 1, "duplicates": 0})
    assert bank.get(done.memories[0]).source.how == "distilled"
    assert bank.queue.worker().run_once() is None


def test_a_run_is_enqueued_once_and_by_key_whatever_it_holds(bank: ReasoningBank) -> None:
    assert bank.queue.put(MESSAGES, True).id == bank.queue.put(MESSAGES, "success").id
    assert bank.queue.put(MESSAGES, key="run-1").id == bank.queue.put({"task": "x"}, key="run-1").id
    assert len(bank.queue.list()) == 2


def test_a_job_keeps_the_verdict_of_the_judge(bank: ReasoningBank) -> None:
    bank.queue.put(MESSAGES)

    job = bank.queue.worker(judge=lambda run: "failure").run_once()

    assert job is not None
    assert (job.status, job.verdict) == (DistillStatus.DONE, "failure")


def test_a_run_of_the_queue_is_compared_with_earlier_ones_of_its_task(bank: ReasoningBank) -> None:
    bank.queue.put({"task": "convert the report to CSV!", "steps": ["touch a"]}, "failure")
    bank.queue.put(MESSAGES, "success")

    *_, job = bank.queue.worker().run_until_empty()

    assert "Unlike an earlier run that failed" in bank.get(job.memories[0]).content


def test_a_model_that_does_not_answer_costs_an_attempt_and_the_job_waits(bank: ReasoningBank, clock: Any) -> None:
    def model(messages: Any) -> str:
        raise ChatError("quota used up")

    bank.queue.put(MESSAGES, "success")
    worker = bank.queue.worker(LLMDistiller(model))

    job = worker.run_once()

    assert job is not None
    assert (job.status, job.attempts, job.reason) == (DistillStatus.QUEUED, 1, "quota used up")
    assert worker.run_once() is None
    clock.move(seconds=30)
    assert worker.run_once() is not None


def test_an_unavailable_judge_costs_an_attempt_and_is_no_failure_of_the_run(bank: ReasoningBank) -> None:
    bank.queue.put(MESSAGES)

    job = bank.queue.worker(judge=lambda run: None).run_once()

    assert job is not None
    assert (job.status, job.verdict) == (DistillStatus.QUEUED, "unknown")
    assert "no verdict" in job.reason


def test_a_truncated_answer_keeps_the_run_for_a_retry(bank: ReasoningBank) -> None:
    cut = ChatReply("<think>hm", FinishReason.LENGTH)
    bank.queue.put(MESSAGES, "success")
    job = bank.queue.worker(LLMDistiller(lambda messages: cut)).run_once()
    assert job is not None
    assert (job.status, bank.count()) == (DistillStatus.TRUNCATED, 0)

    bank.queue.retry(job.id)
    again = bank.queue.worker(says(lessons("look first"))).run_once()

    assert again is not None
    assert (again.id, again.status) == (job.id, DistillStatus.DONE)


def test_jobs_are_listed_by_status(bank: ReasoningBank) -> None:
    assert bank.queue.list() == []
    bank.queue.put(MESSAGES)
    bank.queue.put(MESSAGES, "success")
    list(bank.queue.worker().run_until_empty())

    assert [job.status for job in bank.queue.list()] == [DistillStatus.DONE, DistillStatus.EMPTY]
    assert [job.status for job in bank.queue.list(status="empty")] == [DistillStatus.EMPTY]
    with pytest.raises(InvalidInputError, match="status 'lost' is not one of queued"):
        bank.queue.list(status="lost")
    with pytest.raises(InvalidInputError, match="limit 0"):
        bank.queue.list(limit=0)


@pytest.mark.parametrize("exists", [False, True])
def test_an_unknown_job_is_named(bank: ReasoningBank, exists: bool) -> None:
    if exists:
        bank.queue.put(MESSAGES)
    for call in (bank.queue.get, bank.queue.retry):
        with pytest.raises(JobNotFoundError, match="no job 'j-1'"):
            call("j-1")


def test_an_unhelpful_memory_becomes_a_guard_rail_of_its_own(bank: ReasoningBank) -> None:
    memory = bank.record("Clear the cache", "Delete ~/.cache first.", outcome="success").memory
    job = bank.queue.put_anti_pattern(memory.id, "it logged the user out")
    assert bank.queue.put_anti_pattern(memory.id, "it logged the user out").id == job.id

    done = bank.queue.worker().run_once()

    assert done is not None
    lesson = bank.get(done.memories[0])
    assert (lesson.title, lesson.outcome) == ("Not always: Clear the cache", Verdict.FAILURE)
    assert "it logged the user out" in lesson.content


def test_an_anti_pattern_needs_a_memory_and_a_reason(bank: ReasoningBank) -> None:
    memory = bank.record("Clear the cache", "Delete ~/.cache first.", outcome="success").memory

    with pytest.raises(MemoryNotFoundError):
        bank.queue.put_anti_pattern("m-1", "reason")
    with pytest.raises(InvalidInputError, match="say what went wrong"):
        bank.queue.put_anti_pattern(memory.id, " ")


async def test_the_async_facade_distils_enqueues_and_scales(bank: ReasoningBank) -> None:
    aio = AsyncReasoningBank(bank)

    distilled = await aio.distill(MESSAGES, "success")
    job = await aio.queue.put(MESSAGES, "failure")
    scaled = await aio.runs.best_of(lambda attempt: {"result": "r", "verdict": "success"}, "T", 2)

    assert distilled.status is DistillStatus.DONE
    assert (await aio.queue.get(job.id)).status is DistillStatus.QUEUED
    assert len(scaled.rollouts) == 2


def test_a_distiller_of_one_s_own_is_enough(bank: ReasoningBank) -> None:
    class Quiet:
        name = "quiet"

        def distill(self, run: Trajectory, earlier: Any = ()) -> Distillation:
            return Distillation(DistillStatus.EMPTY, reason="nothing to say")

        def distill_many(self, runs: Any) -> Distillation:
            return Distillation(DistillStatus.EMPTY)

    assert bank.distill(MESSAGES, "success", distiller=Quiet()).result.reason == "nothing to say"
