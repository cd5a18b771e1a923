"""A project that does not exist, as an empty one."""

from __future__ import annotations

from pathlib import Path

from reasoningbank import State
from reasoningbank.filters import Filters
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import evidence, jobs, meta, records
from reasoningbank.storage.contract import Moment
from reasoningbank.storage.fold import Folded
from reasoningbank.storage.migrations import scripts
from reasoningbank.storage.project import nothing
from tests.storage.files import NOON, put_memory

ANY = Filters(states=tuple(State))


def test_it_reads_as_a_project_without_any_rows(tmp_path: Path) -> None:
    with nothing(tmp_path / "p") as reading:
        assert reading.moment == Moment(
            deleted=False, change=0, node_change=0, fit=0, pinned=False, generation=None, format=scripts()[-1][0]
        )
        assert reading.folder == tmp_path / "p"
        assert "tenant" not in meta.read(reading)
        assert records.count(reading, ANY) == 0
        assert records.load(reading, [1], "p") == {}
        assert evidence.positions(reading) == []
        assert not jobs.is_due(reading, NOON)


def test_what_is_written_to_it_is_there_until_it_ends_and_comes_to_nothing(tmp_path: Path) -> None:
    with nothing(tmp_path / "p") as writing:
        assert put_memory(writing) == 1
        assert records.find(writing, "m") == 1
        assert writing.newest_change == 1

    with nothing(tmp_path / "p") as writing:
        assert records.find(writing, "m") is None
        assert writing.newest_change == 0


def test_two_at_once_know_nothing_of_each_other(tmp_path: Path) -> None:
    with nothing(tmp_path / "p") as one, nothing(tmp_path / "p") as other:
        put_memory(one)

        assert records.count(other, ANY) == 0


def test_a_signal_is_about_nothing_there_and_no_file_is_made_for_it(tmp_path: Path) -> None:
    helpful = Signal(id="s", at=NOON, memory="m", revision=1, kind=SignalKind.EXPLICIT, polarity=1, ref="r")

    for folder in (tmp_path, tmp_path / "p"):
        with nothing(folder) as writing:
            writing.catch_up()
            assert writing.write_signals([helpful], NOON) == [Folded.ORPHAN]
            assert writing.write_signals([helpful], NOON, only_news=True) == [Folded.ORPHAN]

    assert list(tmp_path.iterdir()) == []
