"""A hold-out: lessons are withheld from some runs, by chance, so that runs with and without can be compared."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from reasoningbank import InvalidInputError, ReasoningBank, Recall
from reasoningbank.storage import database, migrations
from tests.conftest import Clock, OpenBank

TASK = "quote the paths in the shell"


def record(bank: ReasoningBank, title: str = "Quote paths", **more: object) -> str:
    said = f"{title}: quote every path in the shell, since file names hold blanks"
    return bank.record(title, said, outcome="success", metadata=more).memory.id


def recalls(bank: ReasoningBank, many: int = 40, **options: float | str) -> list[Recall]:
    return [bank.recall(TASK, ref=f"run {n}", **options) for n in range(many)]  # type: ignore[arg-type]


def test_nothing_is_held_out_unless_it_is_asked_for(bank: ReasoningBank) -> None:
    record(bank)

    assert not any(recall.held_out for recall in recalls(bank))
    assert bank.lift().overall is None
    assert "recall with holdout=0.1" in bank.lift().words


def test_about_the_share_that_is_asked_for_is_held_out(bank: ReasoningBank) -> None:
    record(bank)

    assert 12 <= sum(recall.held_out for recall in recalls(bank, 100, holdout=0.3)) <= 50  # once in 100,000 it is not


def test_a_run_that_is_held_out_is_shown_nothing_counts_nothing_and_credits_nothing(bank: ReasoningBank) -> None:
    memory = record(bank)
    found = recalls(bank, holdout=0.5)
    held = [recall for recall in found if recall.held_out]

    for recall in held:
        assert (recall.hits, recall.text, recall.tokens) == ((), "", 0)
        assert recall.withheld == {"hold-out": 1}
        assert recall.expected_success == recall.expected_without
        episode = bank.runs.get(recall.ref)
        assert (episode.memories, episode.held_out, episode.withheld) == ((), True, (memory,))
        assert bank.report(True, ref=recall.ref).credited == ()
    assert bank.get(memory).usage_count == len(found) - len(held)
    assert 0 < len(held) < len(found)


def test_the_setting_of_the_handle_holds_and_a_call_may_say_otherwise(open_bank: OpenBank) -> None:
    bank = open_bank(settings={"holdout": 0.5})
    record(bank)

    assert any(recall.held_out for recall in recalls(bank))
    assert not any(bank.recall(TASK, ref=f"other {n}", holdout=0).held_out for n in range(40))


@pytest.mark.parametrize("said", [1.0, -1, "all", "memory:0.0x"])
def test_what_is_no_share_is_refused_by_settings_and_calls(open_bank: OpenBank, said: float | str) -> None:
    with pytest.raises(InvalidInputError, match="holdout"):
        open_bank(settings={"holdout": said})
    with pytest.raises(InvalidInputError, match="holdout"):
        open_bank().recall(TASK, holdout=said)


def test_the_same_run_stays_in_its_arm_whoever_asks_again(open_bank: OpenBank) -> None:
    bank, other = open_bank(settings={"holdout": 0.5}), open_bank(settings={"holdout": 0.01})
    record(bank)
    first = [recall.held_out for recall in recalls(bank)]
    retried = recalls(other)

    assert [recall.held_out for recall in retried] == first
    assert all(recall.repeated for recall in retried)
    assert [bool(recall.withheld) for recall in retried] == first


def test_a_thread_stays_in_its_arm_also_when_the_share_is_another_by_now(bank: ReasoningBank) -> None:
    record(bank)
    first = [bank.recall(TASK, thread=f"t{n}", holdout=0.5).held_out for n in range(30)]

    for share in (0.1, 0.9, "memory"):
        assert [bank.recall(TASK, thread=f"t{n}", holdout=share).held_out for n in range(30)] == first


def _held(root: Path, refs: list[str]) -> list[bool]:
    with ReasoningBank(root, tenant="acme", project="billing", embedder="hash") as bank:
        return [bank.recall(TASK, ref=ref, holdout=0.5).held_out for ref in refs]


@pytest.mark.folder_only
def test_processes_agree_and_another_project_draws_otherwise(open_bank: OpenBank, tmp_path: Path) -> None:
    bank, copy = open_bank(), tmp_path / "copy"
    record(bank)
    first = bank.recall(TASK, ref="run 0", holdout=0.5).held_out
    bank.upkeep.backup(copy / "x")
    refs = [f"run {n}" for n in range(30)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        elsewhere = pool.apply(_held, (tmp_path / "root", refs))
    other = open_bank(project="other")
    record(other)

    assert elsewhere[0] == first
    assert elsewhere == [recall.held_out for recall in recalls(bank, 30, holdout=0.5)]
    assert elsewhere != [recall.held_out for recall in recalls(other, 30, holdout=0.5)]


@pytest.mark.folder_only
def test_a_bank_of_before_hold_outs_is_brought_up_to_date(open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Present code needs what came after, too: so the change comes last here, whatever its number."""
    (trials,) = (script for _, script in migrations.scripts() if "CREATE TABLE trials" in script)
    before = tuple(numbered for numbered in migrations.scripts() if numbered[1] != trials)
    last = before[-1][0] + 1
    monkeypatch.setattr(database, "scripts", lambda: before)
    old = open_bank()
    record(old)
    old.close()
    monkeypatch.setattr(database, "scripts", lambda: (*before, (last, trials)))
    bank = open_bank()

    assert any(recall.held_out for recall in recalls(bank, holdout=0.5))
    assert bank.upkeep.status().format == last


def test_where_there_is_no_lesson_nothing_is_drawn(bank: ReasoningBank) -> None:
    record(bank)
    strange = bank.recall("zzz qqq", ref="strange", min_confidence=0.99, strict=True, holdout=0.99)

    assert (strange.hits, strange.held_out) == ((), False)
    assert bank.lift().overall is None


def test_a_lesson_that_is_exempt_is_never_withheld(bank: ReasoningBank) -> None:
    safe, other = record(bank, "Ask before deleting", holdout_exempt=True), record(bank)
    for recall in recalls(bank, holdout=0.5):
        shown = {memory.id for memory in recall.memories}
        assert safe in shown
        assert (other in shown) is not recall.held_out
        if recall.held_out:
            assert "Quote paths" not in recall.text
            assert bank.report(True, ref=recall.ref).credited == (safe,)


def test_only_exempt_lessons_make_no_trial(bank: ReasoningBank) -> None:
    record(bank, "Ask before deleting", holdout_exempt=True)

    assert not any(recall.held_out for recall in recalls(bank, holdout=0.9))
    assert bank.lift().overall is None


def test_single_lessons_are_withheld_one_at_a_time_and_the_others_are_shown(bank: ReasoningBank) -> None:
    ids = {record(bank, title) for title in ("Quote paths", "Escape blanks", "Use arrays")}
    found = recalls(bank, 60, holdout="memory")
    out = [bank.runs.get(recall.ref).withheld for recall in found]

    assert {len(each) for each in out} == {0, 1}
    assert {memory for each in out for memory in each} == ids
    for recall, each in zip(found, out, strict=True):
        assert {memory.id for memory in recall.memories} == ids - set(each)


def test_what_is_withheld_from_a_thread_stays_withheld_from_it(bank: ReasoningBank) -> None:
    for title in ("Quote paths", "Escape blanks", "Use arrays"):
        record(bank, title)
    first = [bank.runs.get(bank.recall(TASK, thread=f"t{n}", holdout="memory").ref).withheld for n in range(20)]
    again = [bank.runs.get(bank.recall(TASK, 2, thread=f"t{n}", holdout="memory").ref) for n in range(20)]

    for before, later in zip(first, again, strict=True):
        assert set(later.withheld) <= set(before)
        assert not {served.memory for served in later.memories} & set(before)


def test_a_withheld_lesson_takes_along_what_only_it_brought(bank: ReasoningBank) -> None:
    one, other = record(bank, "Quote paths"), record(bank, "Never quote globs")
    bank.links.add(one, other, "contradicts")
    recall = next(r for r in recalls(bank, holdout=0.5, expand_links=True) if r.held_out)

    assert (recall.conflicts, recall.required, recall.text) == ((), (), "")


def test_lift_compares_both_arms_and_counts_who_was_not_judged(bank: ReasoningBank, clock: Clock) -> None:
    record(bank)
    for recall in recalls(bank, 200, holdout=0.5):
        number = int(recall.ref.split()[1])
        if number % 10:
            bank.report(not recall.held_out or number % 4 == 0, ref=recall.ref)
    found = bank.lift()
    lift = found.overall

    assert lift is not None
    assert lift.given.runs + lift.withheld.runs == 200
    assert lift.given.missing + lift.withheld.missing == 20
    assert lift.enough
    assert lift.always_valid is not None
    assert lift.always_valid.low > 0.3
    assert "they help" in found.words
    assert lift.tokens is not None
    assert lift.tokens.withheld == 0.0 < lift.tokens.given
    clock.move(days=9)
    assert bank.lift(days=7).overall is None


def test_a_held_out_run_teaches_how_runs_end_without_help(bank: ReasoningBank) -> None:
    record(bank)
    before = bank.recall(TASK).expected_without
    for recall in recalls(bank, 400, holdout=0.5):
        bank.report(not recall.held_out, ref=recall.ref)
    after = bank.recall(TASK).expected_without

    assert before == 0.45
    assert after is not None
    assert after < 0.1


def test_a_lesson_that_surely_harms_is_named_and_handed_out_no_more_until_it_says_something_else(
    bank: ReasoningBank,
) -> None:
    harms, helps = record(bank, "Quote paths"), record(bank, "Escape blanks")
    for recall in recalls(bank, 240, holdout="memory"):
        bank.report(harms not in {memory.id for memory in recall.memories}, ref=recall.ref)
    found, recall = bank.lift(by="memory"), bank.recall(TASK)

    assert found.harmful == (harms,)
    assert found.words.endswith("“Quote paths”.")
    assert [memory.id for memory in recall.memories] == [helps]
    assert recall.withheld["harmful"] == 1
    part = next(part for part in found.parts if part.about == harms)
    assert part.interval is not None
    assert part.interval.high < 0.0

    bank.update(harms, content="Quote every path in the shell, and every variable, since file names hold blanks")
    assert harms in {memory.id for memory in bank.recall(TASK).memories}
    assert bank.lift().harmful == ()


# -- at a failure -----------------------------------------------------------------------------------------------------

BROKEN = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'"


def answer(bank: ReasoningBank) -> str:
    said = "pip install pyyaml. Seen as: ModuleNotFoundError: No module named 'yaml'"
    return bank.record("Install pyyaml", said, outcome="success").memory.id


def test_a_run_that_is_held_out_is_given_nothing_at_a_failure_either(bank: ReasoningBank) -> None:
    record(bank)
    answer(bank)
    for recall in recalls(bank, 20, holdout=0.5):
        at_failure = bank.recall_failure(BROKEN, exit_code=1, ref=recall.ref)

        assert bool(at_failure.hits) is not recall.held_out
        assert bool(at_failure.text) is not recall.held_out
        if recall.held_out:
            assert at_failure.reason == "hold-out"
            assert bank.runs.get(recall.ref).memories == ()


def test_a_run_whose_first_lesson_comes_at_a_failure_is_drawn_there(bank: ReasoningBank) -> None:
    known = answer(bank)
    found = [bank.recall_failure(BROKEN, exit_code=1, ref=f"run {n}", holdout=0.5) for n in range(30)]
    again = [bank.recall_failure(BROKEN + " again", exit_code=1, ref=f"run {n}") for n in range(30)]
    held = [bank.runs.get(f"run {n}").withheld == (known,) for n in range(30)]

    assert [not recall.hits for recall in found] == held
    assert not any(recall.text for recall, out in zip(again, held, strict=True) if out)
    assert 5 < sum(held) < 25
    lift = bank.lift().overall
    assert lift is not None
    assert lift.withheld.runs == sum(held)


def test_a_single_lesson_that_is_withheld_at_a_failure_leaves_the_others(bank: ReasoningBank) -> None:
    answer(bank)
    other = bank.record(
        "Pin pyyaml", "Pin it. Seen as: ModuleNotFoundError: No module named 'yaml'", outcome="success"
    ).memory.id
    found = [bank.recall_failure(BROKEN, exit_code=1, ref=f"run {n}", holdout="memory") for n in range(20)]
    sizes = {len(recall.hits) for recall in found}

    assert sizes == {1, 2}
    assert all(other not in recall.text for recall in found if bank.runs.get(recall.ref).withheld == (other,))
