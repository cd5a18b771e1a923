"""Recall at a failure: what is handed out, what joins the run, and what counts as a repair."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from reasoningbank import (
    DeadlineExceededError,
    InvalidInputError,
    LimitExceededError,
    Memory,
    ReasoningBank,
    Verdict,
)
from reasoningbank.services.deadline import Attempt
from reasoningbank.services.search import failure as failing
from reasoningbank.signals import SignalKind
from tests.conftest import Clock, OpenBank

YAML = """Traceback (most recent call last):
  File "/home/ada/app/load.py", line {}, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
PUSH = " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'origin'\n"


@pytest.fixture
def yaml(bank: ReasoningBank) -> Memory:
    return bank.record(
        "Install PyYAML",
        "The package is pyyaml. Seen as: ModuleNotFoundError: No module named 'yaml'",
        outcome="failure",
    ).memory


def repairs(bank: ReasoningBank, memory: Memory) -> tuple[float, float]:
    with bank._engine.read() as view:
        (row,) = view.load([1]).values()
    told = [tally for tally in row.tallies if tally.kind is SignalKind.REPAIR]
    return sum(t.positive for t in told), sum(t.negative for t in told)


def test_a_lesson_knows_the_errors_that_its_text_names(yaml: Memory) -> None:
    assert yaml.signatures == ("ModuleNotFoundError: No module named 'yaml'",)


def test_the_same_error_elsewhere_gives_the_lesson_and_opens_an_episode(bank: ReasoningBank, yaml: Memory) -> None:
    found = bank.recall_failure(
        "building\n" * 300 + YAML.format(99), command="python load.py", exit_code=1, task="load"
    )

    assert (found.match, found.step, [m.id for m in found.memories]) == ("exact", 1, [yaml.id])
    assert "The package is pyyaml" in found.text
    episode = bank.runs.get(found.ref)
    assert (episode.task, [s.step for s in episode.memories]) == ("load", [1])
    assert bank.get(yaml.id).usage_count == 1


def test_an_error_of_which_nothing_is_known_leaves_no_trace(bank: ReasoningBank, yaml: Memory) -> None:
    found = bank.recall_failure("Segmentation fault (core dumped)", ref="run-1")

    assert (found.hits, found.text, found.reason) == ((), "", failing.UNKNOWN)
    assert not bank.runs.list().episodes


@pytest.mark.parametrize(
    ("output", "exit_code", "reason"),
    [
        (YAML.format(3), 0, "no failure"),
        (YAML.format(3), 130, "no error is named"),
        ("12 passed", None, "no error is named"),
        ("", 1, "no error is named"),
    ],
)
def test_without_a_failure_or_an_error_nothing_is_recalled(
    bank: ReasoningBank, yaml: Memory, output: str, exit_code: int | None, reason: str
) -> None:
    assert bank.recall_failure(output, exit_code=exit_code).reason == reason


def test_with_other_numbers_it_is_found_by_its_template(bank: ReasoningBank) -> None:
    bank.record(
        "Look at the row count", "Check it first", outcome="failure", signatures=["IndexError: row 7 of 9 is gone"]
    )

    assert bank.recall_failure("IndexError: row 12 of 80 is gone").match == "template"


def test_an_error_of_its_kind_is_found_by_a_search(bank: ReasoningBank, yaml: Memory) -> None:
    found = bank.recall_failure("ModuleNotFoundError: No module named 'yaml_x'")

    assert (found.match, [m.id for m in found.memories]) == ("search", [yaml.id])


def test_a_lesson_that_names_no_error_is_found_when_it_says_its_words(bank: ReasoningBank) -> None:
    bank.record(
        "Wait for the broker", "When the broker refused this connection, wait and try again.", outcome="failure"
    )

    assert bank.recall_failure("ERROR: the broker refused this connection").match == "search"
    assert not bank.recall_failure("error: the parser wants a semicolon here").hits


def test_what_only_shows_errors_is_not_searched_for(bank: ReasoningBank, yaml: Memory) -> None:
    shown = "".join(f"src/a{n}.py:{n}: raise ModuleNotFoundError\n" for n in range(9))
    quoted = shown + "docs/x.md:3: ModuleNotFoundError: No module named 'yaml_x'\n"

    assert not bank.recall_failure(quoted).hits
    assert bank.recall_failure(quoted.replace("yaml_x", "yaml") + YAML.format(2)).match == "exact"


def test_what_no_rule_knows_is_known_again_word_by_word_and_never_searched_for(bank: ReasoningBank) -> None:
    bank.record(
        "Ask for quota", "Ask for more", outcome="failure", signatures=["your share is used up\nwait a day or so"]
    )

    assert bank.recall_failure("your share is used up\nwait a day or so", exit_code=9).match == "exact"
    assert not bank.recall_failure("your place is used up\nwait an hour or so", exit_code=9).hits


def test_it_joins_the_run_that_is_open_and_is_credited_with_it(bank: ReasoningBank, yaml: Memory) -> None:
    with bank.episode("deploy the service") as run:
        before = len(run.hits)
        failed = run.failed(YAML.format(3), command="python load.py", exit_code=1)
        run.report("success")

    episode = bank.runs.get(run.ref)
    assert failed.ref == run.ref
    assert [s.step for s in episode.memories] == [0] * before + [1]
    assert bank.get(yaml.id).confidence > yaml.confidence


def test_what_the_run_was_shown_before_is_not_shown_again(bank: ReasoningBank, yaml: Memory) -> None:
    recalled = bank.recall("ModuleNotFoundError: No module named 'yaml'", ref="run-1")
    assert yaml.id in {m.id for m in recalled.memories}

    found = bank.recall_failure(YAML.format(3), ref="run-1")

    assert (found.hits, found.reason) == ((), "what answers it was handed out before")


def test_recalling_again_gives_what_was_given_before_the_task(bank: ReasoningBank, yaml: Memory) -> None:
    bank.recall("rename files", ref="run-1")
    bank.recall_failure(YAML.format(3), ref="run-1")

    assert yaml.id not in {m.id for m in bank.recall("rename files", ref="run-1").memories}


def test_the_same_error_again_gives_nothing_says_so_and_counts_against_the_lesson(
    bank: ReasoningBank, yaml: Memory
) -> None:
    bank.recall_failure(YAML.format(3), ref="run-1")
    again = bank.recall_failure(YAML.format(88), ref="run-1")

    assert (again.repeated, again.hits, again.reason) == (True, (), failing.AGAIN)
    assert repairs(bank, yaml) == (0.0, 1.0)
    bank.recall_failure(YAML.format(90), ref="run-1")
    assert repairs(bank, yaml) == (0.0, 1.0)
    assert bank.get(yaml.id).confidence < yaml.confidence


def test_the_same_command_that_succeeds_afterwards_is_a_repair(bank: ReasoningBank, yaml: Memory) -> None:
    bank.recall_failure(YAML.format(3), command="python load.py", ref="run-1")

    assert bank.report_act("run-1", command="pip install pyyaml") == ()
    assert bank.report_act("run-1", command="python load.py", succeeded=False) == ()
    assert bank.report_act("run-1", command="python /srv/load.py --all") == (yaml.id,)
    assert bank.report_act("run-1", command="python load.py") == ()
    assert repairs(bank, yaml) == (1.0, 0.0)
    assert bank.get(yaml.id).confidence > yaml.confidence


def test_a_repair_that_does_not_last_counts_against_it_in_the_end(bank: ReasoningBank, yaml: Memory) -> None:
    with bank.episode("load it") as run:
        run.failed(YAML.format(3), tool="python")
        assert run.worked(tool="Python") == (yaml.id,)
        run.failed(YAML.format(4), tool="python")

    assert repairs(bank, yaml) == (0.0, 1.0)


def test_a_success_after_five_other_acts_says_nothing(bank: ReasoningBank, yaml: Memory) -> None:
    bank.recall_failure(YAML.format(3), command="python load.py", ref="run-1")
    bank.recall_failure("error: something else is unheard of", ref="run-1")
    for _ in range(4):
        bank.report_act("run-1", command="ls")

    assert bank.report_act("run-1", command="python load.py") == ()
    assert bank.report_act("unknown-run", command="ls") == ()


def test_a_run_is_handed_something_so_many_times(open_bank: OpenBank) -> None:
    bank = open_bank(settings={"failure_recalls": 1})
    bank.record("One", "a", outcome="failure", signatures=["error: first thing is broken"])
    bank.record("Two", "b", outcome="failure", signatures=["error: second thing is broken"])

    assert bank.recall_failure("error: first thing is broken", ref="r").hits
    assert bank.recall_failure("error: second thing is broken", ref="r").reason == failing.BUDGET


def test_what_does_not_fit_the_budget_of_tokens_is_not_handed_out(bank: ReasoningBank, yaml: Memory) -> None:
    assert bank.recall_failure(YAML.format(3), max_tokens=5).reason == "token budget"


def test_a_run_that_is_over_is_handed_nothing(bank: ReasoningBank, yaml: Memory) -> None:
    bank.recall("rename files", ref="run-1")
    bank.report(Verdict.SUCCESS, ref="run-1")

    assert bank.recall_failure(YAML.format(3), ref="run-1").reason == failing.OVER


def test_a_lesson_that_surely_does_not_help_is_not_given_again(bank: ReasoningBank, yaml: Memory) -> None:
    for n in range(12):
        bank.vote(yaml.id, False, ref=f"vote-{n}")

    assert not bank.recall_failure(YAML.format(3)).hits


def test_a_lesson_that_is_distilled_from_a_failure_and_its_fix_answers_that_failure(bank: ReasoningBank) -> None:
    steps = [
        {"action": "git push origin main", "error": f"To origin\n{PUSH}"},
        {"action": "git pull --rebase origin main", "observation": "Successfully rebased."},
        {"action": "git push origin main", "observation": "main -> main"},
    ]
    bank.distill({"task": "publish the release branch", "steps": steps, "verdict": "success"})

    found = bank.recall_failure(PUSH, exit_code=1)
    assert (found.match, "git pull --rebase" in found.text) == ("exact", True)


# -- signatures ------------------------------------------------------------------------------------------------------


def test_signatures_can_be_given_changed_and_taken_away(bank: ReasoningBank) -> None:
    memory = bank.record("Pull first", "git pull --rebase", outcome="failure", signatures=[PUSH]).memory

    assert memory.signatures == ("[git] [rejected] main -> main (fetch first)",)
    assert bank.recall_failure(PUSH).match == "exact"
    assert bank.update(memory.id, signatures=["error: src refspec main does not match any"]).signatures
    assert not bank.recall_failure(PUSH).hits
    assert bank.update(memory.id, title="Pull before a push").signatures == ("src refspec main does not match any",)
    assert bank.update(memory.id, signatures=[]).signatures == ()


def test_those_that_came_of_the_text_follow_the_text(bank: ReasoningBank, yaml: Memory) -> None:
    changed = bank.update(yaml.id, content="Seen as: ModuleNotFoundError: No module named 'toml'")

    assert changed.signatures == ("ModuleNotFoundError: No module named 'toml'",)


@pytest.mark.parametrize(
    ("signatures", "error"),
    [
        ("text", InvalidInputError),
        ([1], InvalidInputError),
        (["x"] * 17, LimitExceededError),
        (["x" * 20_001], LimitExceededError),
    ],
)
def test_what_cannot_be_a_signature_is_refused(bank: ReasoningBank, signatures: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="signature"):
        bank.record("A", "b", outcome="failure", signatures=signatures)  # type: ignore[arg-type]


def test_secrets_are_in_no_signature_and_no_error(bank: ReasoningBank) -> None:
    line = "fatal: unable to access 'https://x:ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/a/b': 403"
    memory = bank.record("Renew the token", "It expired", outcome="failure", signatures=[line]).memory
    found = bank.recall_failure(line)

    assert found.match == "exact"
    assert "ghp_" not in str(memory.signatures) + str(found.errors)


def test_export_and_import_carry_them(bank: ReasoningBank, open_bank: OpenBank, tmp_path: Path) -> None:
    bank.record("Pull first", "git pull --rebase", outcome="failure", signatures=[PUSH])
    bank.exchange.export_to(tmp_path / "out.jsonl")
    other = open_bank(project="other")
    other.exchange.import_from(tmp_path / "out.jsonl", trusted=True)

    assert other.recall_failure(PUSH).match == "exact"


def test_deleting_a_lesson_deletes_its_keys(bank: ReasoningBank, yaml: Memory) -> None:
    bank.delete(yaml.id)

    assert not bank.recall_failure(YAML.format(3)).hits


@pytest.mark.folder_only
def test_lessons_from_before_there_were_signatures_get_theirs_at_the_first_failure(
    bank: ReasoningBank, yaml: Memory, open_bank: OpenBank
) -> None:
    path = Path(bank._engine.where) / "bank.sqlite3"
    bank.close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE memories SET signatures = ''")
        database.execute("DELETE FROM signature_keys")

    assert open_bank().recall_failure(YAML.format(3)).match == "exact"


# -- in time, failing open --------------------------------------------------------------------------------------------


def test_who_waits_no_longer_has_nothing_counted(bank: ReasoningBank, yaml: Memory) -> None:
    attempt = Attempt(lambda: None)
    attempt.give_up()
    failure = failing.Failure(YAML.format(3))
    with pytest.raises(DeadlineExceededError):
        failing.recall_failure(bank._engine, failure, task=None, ref=None, limit=3, max_tokens=300, attempt=attempt)

    assert not bank.runs.list().episodes


@pytest.mark.folder_only
def test_it_fails_open_when_asked_to(open_bank: OpenBank, bank: ReasoningBank, yaml: Memory) -> None:
    Path(bank._engine.where).joinpath("bank.sqlite3").rename(Path(bank._engine.where) / "gone")
    failed = bank.recall_failure(YAML.format(3), ref="run-1", fail_open=True)

    assert (failed.hits, failed.ref) == ((), "run-1")
    assert failed.degraded


def test_in_time_it_is_a_recall_like_any_other(bank: ReasoningBank, yaml: Memory) -> None:
    assert bank.recall_failure(YAML.format(3), timeout=60).match == "exact"


@pytest.mark.parametrize("given", [{"output": None}, {"output": "x", "tool": 3}, {"output": "x", "exit_code": "1"}])
def test_what_is_no_failure_at_all_is_refused(bank: ReasoningBank, given: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        bank.recall_failure(**given)  # type: ignore[arg-type]


def test_a_closed_run_between_look_and_lock_is_left_alone(
    bank: ReasoningBank, yaml: Memory, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    bank.recall("rename files", ref="run-1")
    monkeypatch.setattr(failing, "_before", lambda *_: ([], ""))
    bank.report("success", ref="run-1")

    assert bank.recall_failure(YAML.format(3), ref="run-1").reason == failing.OVER
