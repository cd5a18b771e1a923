"""What counts once stays counted once, across segments, roll-ups and folding again."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank.signals import Signal, SignalKind, to_line
from reasoningbank.storage import evidence, records
from reasoningbank.storage.project import SIGNALS_NAME, Project
from tests.storage.files import (
    DAY,
    NOON,
    add_memory,
    differences,
    log_file,
    log_health,
    open_project,
    project,
    serve,
    signal,
    tallies,
    weights,
    write,
)

__all__ = ["project"]

LATER = NOON + 60 * DAY


def open_episode(project: Project, ref: str = "e", memory: str = "m") -> None:
    with project.write() as writing:
        serve(writing, ref, memory)


def verdict(project: Project, ref: str = "e") -> str | None:
    with project.read() as reading:
        found: str | None = reading.execute("SELECT verdict FROM episodes WHERE ref = ?", (ref,)).fetchone()[0]
        return found


def roll_up_all_but_the_newest(project: Project) -> None:
    write(project, signal(project, kind=SignalKind.STABILITY, ref="newest"), now=LATER)
    project.roll_up(LATER, keep_days=30)


def same_after_folding_again(project: Project) -> dict[str, tuple[float, float]]:
    assert differences(project) == []
    before = weights(project)
    project.refold()
    assert weights(project) == before
    assert differences(project) == []
    return before


# -- repeats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SignalKind.EXPLICIT, SignalKind.OUTCOME, SignalKind.STABILITY, SignalKind.USAGE])
def test_a_repeat_in_a_later_segment_does_not_count_once_the_first_is_rolled_up(
    project: Project, kind: SignalKind
) -> None:
    add_memory(project)
    open_episode(project)
    write(project, signal(project, kind=kind))
    write(project, signal(project, kind=kind), now=NOON + 40 * DAY)
    write(project, signal(project, kind=SignalKind.STABILITY, ref="newest"), now=NOON + 41 * DAY)
    project.roll_up(NOON + 50 * DAY, keep_days=30)

    assert len(project.ledger.log.segments()) == 2
    assert same_after_folding_again(project)[str(kind)][0] == (2.0 if kind is SignalKind.STABILITY else 1.0)


def test_a_vote_cannot_be_cast_again_under_its_reference_after_its_segment_is_gone(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, kind=SignalKind.EXPLICIT, ref="ticket-7"))
    roll_up_all_but_the_newest(project)

    assert write(project, signal(project, kind=SignalKind.EXPLICIT, ref="ticket-7"), now=LATER) == ["repeated"]
    assert write(project, signal(project, -1, kind=SignalKind.EXPLICIT, ref="ticket-7"), now=LATER) == ["repeated"]
    assert same_after_folding_again(project)["explicit"] == (1.0, 0.0)


def test_an_old_segment_that_is_put_back_under_another_number_does_not_count_again(project: Project) -> None:
    add_memory(project)
    open_episode(project)
    write(project, signal(project), signal(project, kind=SignalKind.USAGE), signal(project, kind=SignalKind.EXPLICIT))
    lines = log_file(project).read_bytes()
    roll_up_all_but_the_newest(project)
    before = weights(project)

    (project.folder / SIGNALS_NAME / "000099-2026-03-14.jsonl").write_bytes(lines)
    with project.write() as writing:
        writing.catch_up()

    assert weights(project) == before


def test_an_outcome_stays_superseded_by_a_vote_whose_segment_is_gone(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, kind=SignalKind.EXPLICIT))
    write(project, signal(project, -1), now=NOON + 40 * DAY)
    write(project, signal(project, kind=SignalKind.STABILITY, ref="newest"), now=NOON + 41 * DAY)
    project.roll_up(NOON + 50 * DAY, keep_days=30)

    weights_now = same_after_folding_again(project)
    assert weights_now["outcome (superseded)"] == (0.0, 1.0)
    assert "outcome" not in weights_now


def test_evidence_of_a_text_that_was_rewritten_can_be_given_anew(project: Project) -> None:
    n = add_memory(project)
    write(project, signal(project, kind=SignalKind.EXPLICIT))
    roll_up_all_but_the_newest(project)
    with project.write() as writing:
        records.delete(writing, n)
    add_memory(project)

    assert write(project, signal(project, kind=SignalKind.EXPLICIT), now=LATER) == ["counted"]
    opposite = signal(project, -1, kind=SignalKind.EXPLICIT)
    with project.read() as reading:
        assert evidence.facts_of(reading, [opposite]).is_news(opposite)


# -- what is taken back ----------------------------------------------------------------------------------------------


def test_the_latest_time_of_a_tally_is_that_of_what_still_counts(project: Project) -> None:
    add_memory(project)
    early, late = NOON, NOON + timedelta(hours=3)
    write(project, signal(project, ref="e1", at=late), signal(project, ref="e2", at=early))
    write(project, signal(project, 0, ref="e1", at=late))

    (tally,) = tallies(project)
    assert tally.last == early


def test_a_clock_that_steps_back_changes_no_tally_when_segments_go(project: Project) -> None:
    add_memory(project)
    write(project, signal(project, ref="e1", at=NOON + timedelta(hours=11)))
    write(project, signal(project, ref="e2", at=NOON), signal(project, -1, ref="e1", at=NOON), now=NOON + DAY)
    write(project, signal(project, kind=SignalKind.STABILITY, ref="newest"), now=NOON + 2 * DAY)
    project.roll_up(NOON + 31 * DAY, keep_days=30)

    assert len(project.ledger.log.segments()) == 2
    same_after_folding_again(project)


def test_deleting_a_memory_makes_its_lines_orphans(project: Project) -> None:
    n = add_memory(project)
    write(project, signal(project, ref="e1"), signal(project, ref="e2"))
    with project.write() as writing:
        records.delete(writing, n)

    assert log_health(project).orphans == 2
    project.refold()
    assert log_health(project).orphans == 2


# -- verdicts --------------------------------------------------------------------------------------------------------


def test_an_outcome_line_that_its_writer_could_not_count_closes_its_episode(project: Project) -> None:
    add_memory(project)
    open_episode(project)
    write(project, signal(project, ref="other"))
    log = project.ledger.log
    log.append(log.segments()[-1], [replace(signal(project), reason="it compiled", by="judge")])

    write(project, signal(project, ref="another"))

    assert verdict(project) == "success"
    with project.read() as reading:
        assert reading.execute("SELECT reason, judge FROM episodes").fetchone() == ("it compiled", "judge")


def test_a_verdict_that_contradicts_the_log_is_a_difference_and_folding_again_mends_it(project: Project) -> None:
    add_memory(project)
    open_episode(project)
    write(project, signal(project))
    with project.write() as writing:
        writing.execute("UPDATE episodes SET verdict = 'failure'")

    assert differences(project) == ["verdicts"]
    project.refold()
    assert verdict(project) == "success"


def test_an_outcome_for_one_memory_alone_closes_no_episode(project: Project) -> None:
    add_memory(project)
    open_episode(project)
    write(project, replace(signal(project), alone=True))

    assert verdict(project) is None


# -- any history -----------------------------------------------------------------------------------------------------


HISTORY = st.lists(
    st.tuples(
        st.sampled_from(list(SignalKind)),
        st.sampled_from([-1, 0, 1]),
        st.sampled_from(["e1", "e2", "e3"]),
        st.sampled_from([0, 1, 2, 20, 35]),
        st.booleans(),
    ),
    max_size=24,
)


@pytest.fixture(scope="module")
def used_again(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return open_project(tmp_path_factory.mktemp("history") / "p")


examples = itertools.count()


@settings(max_examples=60, deadline=None)
@given(history=HISTORY)
def test_any_history_folds_to_the_same_before_and_after_roll_up_and_again(
    used_again: Project, history: list[tuple[SignalKind, int, str, int, bool]]
) -> None:
    # Signals of any kind in any order, over days that go forth and back.
    project, example = used_again, next(examples)
    memory, begin = f"m{example}", NOON + 100 * example * DAY
    add_memory(project, memory)
    for ref in ("e1", "e2"):
        open_episode(project, f"{ref}-{example}", memory)
    for kind, polarity, ref, day, alone in history:
        now = begin + day * DAY
        validates = (SignalKind.USAGE,) if kind is SignalKind.EXPLICIT and alone else ()
        given = signal(project, polarity, memory=memory, kind=kind, ref=f"{ref}-{example}", at=now, validates=validates)
        write(project, replace(given, alone=alone and kind is SignalKind.OUTCOME), now=now)
    before = weights(project, memory)

    assert differences(project) == []
    project.roll_up(begin + 45 * DAY, keep_days=30)
    assert weights(project, memory) == before
    assert differences(project) == []
    project.refold()
    assert weights(project, memory) == before
    assert differences(project) == []


def test_a_line_is_written_as_any_json_reader_reads_it(project: Project) -> None:
    add_memory(project)
    odd = Signal(
        id="1", at=NOON, memory="m", revision=0, kind=SignalKind.EXPLICIT, polarity=1, ref="r", reason="\u2028 \ufffd é"
    )

    assert to_line(odd).count(b"\n") == 1
