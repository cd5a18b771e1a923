"""What happened in runs is kept with their episodes, and a lesson shows the runs it came from and was used in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from reasoningbank import BankRoot, EpisodeNotFoundError, InvalidInputError, MemoryNotFoundError, ReasoningBank
from reasoningbank.storage.trajectories import Kept
from tests.conftest import Clock, OpenBank

KEEP = {"keep_trajectories": True}
STEPS = [
    {"action": "wc -l log", "observation": "wc: log: No such file or directory", "error": "wc: log: No such file"},
    {"action": "wc -l app.log", "observation": "42 app.log"},
]


@pytest.fixture
def keeping(open_bank: OpenBank) -> ReasoningBank:
    return open_bank(settings=KEEP)


def test_steps_are_kept_while_the_run_goes_and_another_process_sees_them(
    keeping: ReasoningBank, open_bank: OpenBank
) -> None:
    with keeping.episode("count the lines") as run:
        run.step("wc -l app.log", "42 app.log", thought="count them")
        seen = open_bank().runs.trajectory(run.ref)
        run.step("cat app.log", "…")
        run.report("success", reason="counted")

    assert [(s.thought, s.action, s.observation) for s in seen.steps] == [("count them", "wc -l app.log", "42 app.log")]
    kept = keeping.runs.trajectory(run.ref)
    assert (kept.task, kept.verdict, kept.reason, kept.session) == ("count the lines", "success", "counted", run.ref)
    assert kept.steps == run.trajectory.steps
    assert kept.started_at == kept.ended_at == keeping.runs.get(run.ref).opened_at


def test_nothing_is_kept_unless_the_settings_say_so(bank: ReasoningBank) -> None:
    with bank.episode("count the lines") as run:
        run.step("wc -l app.log", "42 app.log")
    done = bank.runs.add_steps(run.ref, STEPS)

    assert (done.kept, done.reason) == (0, "the setting keep_trajectories is off: set it to true")
    assert bank.runs.trajectory(run.ref).is_empty
    assert bank.runs.trajectory(run.ref).task == "count the lines"


def test_what_is_kept_holds_no_secret_and_no_recalled_lesson(keeping: ReasoningBank) -> None:
    keeping.record("Count lines", "Use wc to count lines of files", outcome="success")
    recall = keeping.recall("count lines of files")
    keeping.runs.add_steps(recall.ref, [{"action": recall.text, "observation": "password=hunter2hunter2"}, "wc"])

    text = keeping.runs.trajectory(recall.ref).model_dump_json()
    assert recall.hits
    assert "hunter2" not in text
    assert "Use wc" not in text


def test_a_run_that_is_too_long_is_cut_and_says_so(open_bank: OpenBank) -> None:
    bank = open_bank(settings=KEEP | {"trajectory_limit": 100})
    ref = bank.recall("count").ref
    first = bank.runs.add_steps(ref, [{"action": "a" * 40}, {"action": "b" * 40}, {"action": "c" * 40}])
    second = bank.runs.add_steps(ref, {"steps": ["d" * 40], "result": "r" * 200})

    assert (first.kept, first.left_out, first.reason) == (1, 2, "the run is longer than 100")
    assert (second.kept, second.left_out) == (0, 1)
    kept = bank.runs.trajectory(ref)
    assert [step.action for step in kept.steps] == ["a" * 40]
    assert (kept.metadata, kept.result) == ({"steps_left_out": 3}, "")


def test_messages_of_a_whole_run_can_be_added_with_their_result(keeping: ReasoningBank) -> None:
    ref = keeping.recall("count").ref
    keeping.runs.add_steps(ref, {"steps": STEPS, "result": "42"})
    keeping.runs.add_steps(ref, {"steps": [], "result": "43"})

    assert (len(keeping.runs.trajectory(ref).steps), keeping.runs.trajectory(ref).result) == (2, "43")
    assert keeping.distill(keeping.runs.trajectory(ref), True).status == "done"


def test_steps_belong_to_an_episode_of_this_project(keeping: ReasoningBank, open_bank: OpenBank) -> None:
    ref = open_bank(project="other").recall("count").ref

    calls: list[Callable[[], object]] = [
        lambda: keeping.runs.add_steps(ref, STEPS),
        lambda: keeping.runs.trajectory(ref),
        lambda: keeping.distill(STEPS, True, ref=ref),
        lambda: keeping.queue.put(STEPS, True, ref=ref),
    ]
    for call in calls:
        with pytest.raises(EpisodeNotFoundError):
            call()
    with pytest.raises(InvalidInputError):
        keeping.runs.trajectory(None)  # type: ignore[arg-type]


def test_steps_expire_and_their_episode_stays(keeping: ReasoningBank, clock: Clock) -> None:
    old = keeping.recall("count the lines").ref
    keeping.runs.add_steps(old, STEPS)
    clock.move(days=20)
    young = keeping.recall("count the lines").ref
    keeping.runs.add_steps(young, STEPS)
    clock.move(days=11)

    assert keeping.upkeep.maintain().forgotten_trajectories == 1
    assert keeping.upkeep.maintain().forgotten_trajectories == 0
    assert keeping.runs.trajectory(old).is_empty
    assert len(keeping.runs.trajectory(young).steps) == 2


@pytest.mark.folder_only
def test_they_go_with_their_project(keeping: ReasoningBank, tmp_path: Path) -> None:
    ref = keeping.recall("count the lines").ref
    keeping.runs.add_steps(ref, [{"action": "a-very-special-act"}])
    BankRoot(tmp_path / "root", tenant="acme").delete_project("billing")

    assert not any(b"a-very-special-act" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_disk_that_refuses_a_step_does_not_stop_the_run(
    open_bank: OpenBank, caplog: pytest.LogCaptureFixture
) -> None:
    bank = open_bank(settings=KEEP | {"busy_timeout": 0.01})
    other = open_bank()
    with bank.episode("count the lines") as run, caplog.at_level(logging.WARNING):
        with other._engine.write() as held:
            # A server's lock is taken with the first question.
            assert held.newest_change >= 0
            run.step("wc -l app.log", "42 app.log")
        run.report("success")

    assert "was not kept" in caplog.text
    assert len(run.trajectory.steps) == 1


def test_a_step_kept_under_older_rules_goes_through_the_present_ones(keeping: ReasoningBank) -> None:
    ref = keeping.recall("count").ref
    keeping.runs.add_steps(ref, ["look"])
    with keeping._engine.write() as edit:
        edit.execute('UPDATE steps SET step = \'{"action":"password=hunter2hunter2"}\'')
        edit.execute("UPDATE trajectories SET scrub_version = 0")

    assert "hunter2" not in keeping.runs.trajectory(ref).steps[0].action
    assert Kept().scrub_version == 0


# -- the runs of a memory --------------------------------------------------------------------------------------------


def test_a_lesson_shows_the_run_it_came_from_and_those_it_was_used_in(keeping: ReasoningBank, clock: Clock) -> None:
    with keeping.episode("count the lines of app.log") as run:
        for step in STEPS:
            run.step(step["action"], step["observation"], error=step.get("error", ""))
        run.report("success")
    memory = keeping.distill(run.trajectory).memories[0]
    uses = []
    for verdict in ("success", None):
        clock.move(hours=1)
        uses.append(keeping.recall(memory.title).ref)
        if verdict:
            keeping.report(verdict, ref=uses[-1])
    runs = keeping.runs.of(memory.id)

    assert [(r.ref, r.task, r.verdict, r.steps) for r in runs.came_from] == [
        (run.ref, "count the lines of app.log", "success", 2)
    ]
    assert [(r.ref, r.verdict, r.steps) for r in runs.used_in] == [(uses[1], None, 0), (uses[0], "success", 0)]
    assert keeping.runs.of(memory.id, 1).used_in == runs.used_in[:1]


def test_a_lesson_that_was_learned_again_names_both_runs(keeping: ReasoningBank) -> None:
    refs = [keeping.recall("count the lines of app.log").ref for _ in range(2)]
    first, second = (keeping.distill({"task": "count lines", "steps": STEPS}, True, ref=ref) for ref in refs)

    assert second.memories == ()
    assert {r.ref for r in keeping.runs.of(first.memories[0].id).came_from} == set(refs)
    assert len(keeping.runs.trajectory(refs[1]).steps) == 2


def test_a_run_that_was_kept_as_it_went_is_not_kept_twice(keeping: ReasoningBank) -> None:
    ref = keeping.recall("count the lines").ref
    keeping.runs.add_steps(ref, STEPS)
    keeping.queue.put({"task": "count lines", "steps": STEPS}, True, ref=ref)
    (job,) = keeping.queue.worker().run_until_empty()

    assert len(keeping.runs.trajectory(ref).steps) == 2
    (memory_id, *_) = job.memories
    assert [r.ref for r in keeping.runs.of(memory_id).came_from] == [ref]


def test_a_session_without_an_episode_is_named_all_the_same(bank: ReasoningBank) -> None:
    source = {"how": "distilled", "session": "session 7"}
    memory = bank.record("Count", "Use wc", outcome="success", source=source).memory

    (came,) = bank.runs.of(memory.id).came_from
    assert (came.ref, came.task, came.verdict, came.opened_at) == ("session 7", "", None, None)


def test_a_deleted_memory_has_no_runs(bank: ReasoningBank) -> None:
    with pytest.raises(MemoryNotFoundError):
        bank.runs.of("gone")
    memory = bank.distill({"task": "t", "steps": STEPS, "session": "s"}, True).memories[0]
    bank.delete(memory.id)
    with pytest.raises(MemoryNotFoundError):
        bank.runs.of(memory.id)
    with bank._engine.read() as view:
        assert view.execute("SELECT count(*) FROM origins").fetchone() == (0,)
