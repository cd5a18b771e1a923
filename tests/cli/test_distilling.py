from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import OpenAIChat, ReasoningBank
from reasoningbank.cli import distilling
from reasoningbank.llm import ChatReply

RUN = {"task": "Convert the report", "steps": [{"action": "convert", "observation": "ok"}], "verdict": "success"}
Cli = Callable[..., Any]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs.jsonl"
    unknown = {**RUN, "verdict": None}
    file.write_text("\n".join(json.dumps(run) for run in (RUN, unknown, RUN)) + "\n{cut\n", "utf-8")
    return file


@pytest.fixture
def queued(scope: dict[str, str]) -> ReasoningBank:
    bank = ReasoningBank(scope["REASONINGBANK_ROOT"], tenant="acme", project="billing", embedder="hash")
    bank.queue.put(RUN)
    bank.queue.put({**RUN, "verdict": None})
    return bank


def test_runs_of_a_file_are_distilled_and_summed_up(cli: Cli, runs: Path) -> None:
    ran = cli("distill", str(runs), "--json")

    assert ran.code == 1  # one line is no run
    assert ran.json["runs"] == 3
    assert ran.json["statuses"] == {"done": 2, "empty": 1}
    assert (ran.json["lessons"], ran.json["duplicates"], len(ran.json["memories"])) == (1, 1, 1)
    assert [bad["line"] for bad in ran.json["bad_lines"]] == [4]


def test_the_summary_says_in_words_what_came_of_the_runs(cli: Cli, runs: Path) -> None:
    ran = cli("distill", str(runs))

    assert "3 runs (2 done, 1 empty): 1 lessons, 1 known already." in ran.out
    assert "Line 4 is no run" in ran.out


def test_a_verdict_can_be_given_for_all_runs_and_runs_read_from_standard_input(cli: Cli) -> None:
    failed = {"task": "Convert the report", "steps": [{"action": "convert", "observation": "Error: no such report"}]}
    ran = cli("distill", "-", "--verdict", "failure", "--json", stdin=json.dumps(failed))

    assert (ran.code, ran.json["lessons"]) == (0, 1)


@pytest.mark.parametrize("option", [("--distiller", "llm"), ("--judge",)])
def test_a_model_that_is_needed_and_not_named_is_asked_for(cli: Cli, runs: Path, option: tuple[str, ...]) -> None:
    ran = cli("distill", str(runs), *option)

    assert ran.code == 2
    assert "give --model" in ran.err


def test_a_model_distils_and_judges(cli: Cli, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def complete(self: OpenAIChat, request: Any) -> ChatReply:
        if request.schema_name == "verdict":
            return ChatReply("no idea")
        return ChatReply('{"memories": [{"title": "Look first", "content": "Look before you convert."}]}')

    monkeypatch.setattr(OpenAIChat, "complete", complete)
    options = ("--distiller", "llm", "--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--judge")

    ran = cli("distill", str(runs), *options, "--json")

    assert ran.json["statuses"] == {"done": 2, "failed": 1}
    assert any("no verdict" in reason for reason in ran.json["reasons"])


WRITE = {"action": 'write_file({"path": "out/a.csv"})', "tool": "write_file"}
REFUSED = {**WRITE, "observation": "Error: no such folder", "error": "Error: no such folder"}
MADE = {"action": 'make_folder({"path": "out"})', "tool": "make_folder", "observation": "made"}
TRIES = [
    {"task": "Convert the report", "steps": [REFUSED, REFUSED], "result": "I gave up.", "verdict": "failure"},
    {
        "task": "convert  the report",
        "steps": [MADE, {**WRITE, "observation": "written"}],
        "result": "Done.",
        "verdict": "success",
    },
]


def test_the_runs_of_one_task_are_compared_with_each_other(cli: Cli, bank: ReasoningBank) -> None:
    lines = "\n".join(json.dumps(run) for run in [TRIES[0], RUN | {"task": "Another"}, TRIES[1]])

    ran = cli("distill", "-", "--together", "--json", stdin=lines)

    assert (ran.code, ran.json["runs"], ran.json["statuses"]) == (0, 3, {"done": 2})
    outcomes = [bank.get(memory).outcome.value for memory in ran.json["memories"]]
    assert sorted(outcomes) == ["failure", "success", "success"]


def test_each_run_of_a_file_knows_the_runs_of_its_task_before_it(cli: Cli, bank: ReasoningBank) -> None:
    ran = cli("distill", "-", "--json", stdin="\n".join(map(json.dumps, TRIES)))

    lessons = [bank.get(memory) for memory in ran.json["memories"]]
    assert any("make_folder" in lesson.content for lesson in lessons if lesson.outcome.value == "success")


def test_a_comparison_takes_no_verdict_for_all(cli: Cli, runs: Path) -> None:
    ran = cli("distill", str(runs), "--together", "--verdict", "success")

    assert ran.code == 2
    assert "leave out --verdict" in ran.err


def test_a_comparison_without_a_verdict_fails_with_the_reason(
    cli: Cli, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIChat, "complete", lambda self, request: ChatReply("no idea"))
    options = ("--judge", "--model", "m", "--base-url", "http://127.0.0.1:1/v1")

    ran = cli("distill", str(runs), "--together", *options, "--json")

    assert (ran.code, ran.json["statuses"]) == (1, {"failed": 1})
    assert any("no verdict" in reason for reason in ran.json["reasons"])


def test_an_unhelpful_vote_with_a_reason_queues_a_guard_rail(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Clear the cache", "Delete the cache first.", outcome="success").memory

    cli("vote", memory.id, "--not-helpful", "--reason", "it logged the user out", "--anti-pattern")

    (job,) = bank.queue.list()
    assert (job.kind, job.status.value) == ("anti-pattern", "queued")
    cli("work", "--once")
    assert "it logged the user out" in bank.get(bank.queue.get(job.id).memories[0]).content


@pytest.mark.parametrize("vote", [("--helpful", "--reason", "it worked"), ("--not-helpful",)])
def test_a_guard_rail_needs_a_vote_against_and_its_reason(cli: Cli, bank: ReasoningBank, vote: tuple[str, ...]) -> None:
    memory = bank.record("Clear the cache", "Delete the cache first.", outcome="success").memory

    ran = cli("vote", memory.id, *vote, "--anti-pattern")

    assert ran.code == 2
    assert "give --not-helpful and --reason" in ran.err
    assert bank.queue.list() == []


def test_a_file_that_is_not_there_is_one_sentence(cli: Cli, scope: dict[str, str]) -> None:
    ran = cli("distill", "missing.jsonl")

    assert ran.code == 1
    assert "missing.jsonl cannot be read" in ran.err


def test_what_waits_in_the_queue_is_worked_on_once(cli: Cli, queued: ReasoningBank) -> None:
    ran = cli("work", "--once", "--json")

    assert ran.json == {"jobs": 2, "statuses": {"done": 1, "empty": 1}, "lessons": 1}
    assert "Nothing was due." in cli("work", "--once").out


def test_a_worker_says_when_there_is_no_such_project_and_begins_none(cli: Cli, queued: ReasoningBank) -> None:
    ran = cli("work", "--once", "--project", "biling")

    assert (ran.code, ran.err) == (0, "Note: tenant 'acme' has no project 'biling' yet.\n")
    assert [each["project"] for each in cli("projects", "--json").json["projects"]] == ["billing"]


def test_working_once_says_in_words_what_was_done(cli: Cli, queued: ReasoningBank) -> None:
    assert "2 jobs (1 done, 1 empty): 1 lessons." in cli("work", "--once").out


def test_a_worker_works_until_it_is_interrupted(
    cli: Cli, queued: ReasoningBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait() -> None:
        while queued.queue.list(status="queued") or queued.queue.list(status="running"):
            pass

    monkeypatch.setattr(distilling, "wait_for_an_interrupt", wait)

    assert "Stopped." in cli("work").out
    assert len(queued.queue.list(status="done")) == 1


def test_an_interrupt_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def wait(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr("reasoningbank.cli.distilling.threading.Event", Interrupted)

    distilling.wait_for_an_interrupt()


def test_jobs_are_listed_with_the_reason_and_retried(cli: Cli, queued: ReasoningBank) -> None:
    cli("work", "--once")

    ran = cli("jobs", "--status", "empty", "--json")

    (job,) = ran.json["jobs"]
    assert "verdict is unknown" in job["reason"]
    assert "verdict is unknown" in " ".join(cli("jobs").out.split())
    assert f"{job['id']} is queued." in cli("retry", job["id"]).out


def test_a_bank_without_jobs_says_so(cli: Cli, runs: Path) -> None:
    cli("distill", str(runs))

    assert "No jobs." in cli("jobs").out
    assert cli("retry", "j-1").code == 1


def test_a_folder_is_read_file_by_file_and_the_answer_says_what_was_read_as_what(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in/a").mkdir(parents=True)
    (tmp_path / "in/a/run.json").write_text(json.dumps({**RUN, "gold": 1}))
    (tmp_path / "in/chat.jsonl").write_text(
        '{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Yes"}\n'
    )
    (tmp_path / "in/other.json").write_text('{"foo": 1}')
    (tmp_path / "in/torn.json.gz").write_bytes(b"no gzip")

    ran = cli("distill", str(tmp_path / "in"), "--json")

    assert ran.code == 1
    assert (ran.json["runs"], ran.json["forms"]) == (2, {"plain": 1, "chat": 1})
    assert ran.json["left_out"] == {"key gold": 1}
    assert [bad["file"] for bad in ran.json["bad_lines"]] == ["other.json", "torn.json.gz"]
    said = cli("distill", str(tmp_path / "in"), "--again").out
    assert "read as 1 plain, 1 chat" in said
    assert "left out of 1 runs: key gold" in said
    assert "other.json, line 1 is no run" in said


def test_nothing_recognised_ends_with_exit_code_1_and_the_keys_that_were_seen(cli: Cli) -> None:
    ran = cli("distill", "-", stdin='{"foo": 1}')

    assert ran.code == 1
    assert "keys seen: foo" in ran.out


def test_a_form_can_be_forced_and_the_forms_are_listed(cli: Cli) -> None:
    assert cli("distill", "-", "--format", "swe", stdin="{}").code != 0
    assert cli("distill", "-", "--format", "plain", "--json", stdin=json.dumps(RUN)).json["lessons"] == 1
    assert "claude-code: a Claude Code session" in cli("forms").out


def test_runs_of_several_files_are_compared_together(cli: Cli, tmp_path: Path) -> None:
    for name, verdict in (("a", "success"), ("b", "failure")):
        (tmp_path / f"{name}.json").write_text(json.dumps({**RUN, "verdict": verdict}))

    assert cli("distill", str(tmp_path), "--together", "--json").json["runs"] == 2


def test_a_folder_is_taken_up_where_it_was_left(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text(json.dumps(RUN))
    assert cli("distill", str(tmp_path / "in"), "--json").json["lessons"] == 1
    (tmp_path / "in/b.json").write_text(json.dumps({**RUN, "task": "Pack the archive for the night"}))

    ran = cli("distill", str(tmp_path / "in"), "--json")
    said = cli("distill", str(tmp_path / "in"))
    another_way = cli("distill", str(tmp_path / "in"), "--verdict", "success", "--json")
    again = cli("distill", str(tmp_path / "in"), "--again", "--json")

    assert (ran.code, ran.json["runs"], ran.json["files_known"]) == (0, 1, 1)
    assert "2 files were distilled before" in said.out
    assert another_way.json["runs"] == again.json["runs"] == 2


def test_a_file_that_has_grown_is_read_again(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lines = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]
    for count in (1, 2):
        (tmp_path / "in/s.jsonl").write_text("\n".join(map(json.dumps, lines[:count] * 2)))
        assert cli("distill", str(tmp_path / "in"), "--json").json["runs"] == 1


def test_a_run_that_is_in_several_files_counts_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text(json.dumps(RUN))
    (tmp_path / "in/b.jsonl").write_text(json.dumps({**RUN, "session": "elsewhere", "gold": 1}))
    (tmp_path / "in/c.json").write_text(json.dumps({**RUN, "result": "another end"}))

    ran = cli("distill", str(tmp_path / "in"), "--json")
    said = cli("distill", str(tmp_path / "in"), "--again").out

    assert (ran.json["runs"], ran.json["repeated"]) == (2, 1)
    assert "1 runs were in another file too, and count once" in said
    assert cli("distill", str(tmp_path / "in"), "--json").json["files_known"] == 3


def test_many_sessions_are_taken_up_again_after_a_kill(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(60):
        torn = number % 20 == 7
        text = (
            "{torn"
            if torn
            else json.dumps({"task": f"Count to {number}", "messages": [{"role": "user", "content": "x"}]})
        )
        (tmp_path / f"in/{number:03}.json").write_text(text)
    first = [path.name for path in sorted((tmp_path / "in").iterdir())][:20]
    for name in first:
        (tmp_path / "part").mkdir(exist_ok=True)
        (tmp_path / "part" / name).write_bytes((tmp_path / "in" / name).read_bytes())
    cli("distill", str(tmp_path / "part"))  # as far as one came that was killed

    ran = cli("distill", str(tmp_path / "in"), "--json")

    assert (ran.code, ran.json["files_known"], ran.json["runs"], len(ran.json["bad_lines"])) == (1, 19, 38, 3)
