from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reasoningbank import StorageError
from reasoningbank.signals import Signal, SignalKind, day_number, to_line
from reasoningbank.storage.signal_log import SignalLog, segment_of

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
SEGMENT = segment_of(1, day_number(NOON))


def helpful(memory: str) -> Signal:
    return Signal(id=f"s-{memory}", at=NOON, memory=memory, revision=1, kind=SignalKind.EXPLICIT, polarity=1, ref="r")


@pytest.fixture
def log(tmp_path: Path) -> SignalLog:
    return SignalLog(tmp_path / "signals", fsync=False)


def file_of(log: SignalLog) -> Path:
    return log.folder / SEGMENT.name


def read(log: SignalLog, start: int = 0) -> list[Signal | str]:
    return [line.signal or line.problem for line in log.lines(SEGMENT, start)]


def write_raw(log: SignalLog, data: bytes) -> None:
    log.folder.mkdir(exist_ok=True)
    with file_of(log).open("ab") as file:
        file.write(data)


def test_what_is_appended_is_read_back_in_order(log: SignalLog) -> None:
    log.append(SEGMENT, [helpful("m-1"), helpful("m-2")])
    log.append(SEGMENT, [helpful("m-3")])

    assert read(log) == [helpful("m-1"), helpful("m-2"), helpful("m-3")]


def test_an_append_says_where_it_begins_and_ends(log: SignalLog) -> None:
    first = log.append(SEGMENT, [helpful("m-1")])
    second = log.append(SEGMENT, [helpful("m-2")])

    assert (first[0], second[0], second[1]) == (0, first[1], log.size(SEGMENT))


def test_every_line_ends_with_a_newline_and_holds_no_carriage_return_or_mark(log: SignalLog) -> None:
    log.append(SEGMENT, [helpful("m-1")])

    data = file_of(log).read_bytes()
    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert not data.startswith(b"\xef\xbb\xbf")


def test_a_torn_last_line_costs_that_signal_and_no_other(log: SignalLog) -> None:
    log.append(SEGMENT, [helpful("m-1")])
    write_raw(log, b'{"v":1,"memory":"m-2","kin')

    log.heal_tail(SEGMENT, 0)
    log.append(SEGMENT, [helpful("m-3")])

    assert read(log) == [helpful("m-1"), helpful("m-3")]
    assert file_of(log).with_suffix(".torn").read_bytes() == b'{"v":1,"memory":"m-2","kin\n'


def test_a_whole_last_line_without_its_newline_is_completed(log: SignalLog) -> None:
    write_raw(log, to_line(helpful("m-1")).rstrip(b"\n"))

    log.heal_tail(SEGMENT, 0)
    log.append(SEGMENT, [helpful("m-2")])

    assert read(log) == [helpful("m-1"), helpful("m-2")]


def test_healing_a_segment_that_is_not_there_does_nothing(log: SignalLog) -> None:
    log.heal_tail(SEGMENT, 0)

    assert not log.folder.exists()


def test_bad_lines_cost_no_other(log: SignalLog) -> None:
    write_raw(log, b'not json\n[1,2]\nnull\n"str"\n\n' + to_line(helpful("m-1")) + b'{"v":99}\n')

    assert read(log) == [
        "not JSON",
        "not a JSON object",
        "not a JSON object",
        "not a JSON object",
        "",
        helpful("m-1"),
        "version 99, not 1",
    ]


def test_a_byte_order_mark_and_carriage_returns_of_an_editor_are_tolerated(log: SignalLog) -> None:
    line = to_line(helpful("m-1")).rstrip(b"\n")
    write_raw(log, b"\xef\xbb\xbf" + line + b"\r\n" + b"\xef\xbb\xbf" + line + b"\n")

    assert read(log) == [helpful("m-1"), helpful("m-1")]


def test_a_line_separator_inside_a_text_does_not_split_the_line(log: SignalLog) -> None:
    odd = Signal(
        id="s", at=NOON, memory="m", revision=1, kind=SignalKind.USAGE, polarity=1, ref="r", reason="a\u2028b\x85c\x0bd"
    )
    log.append(SEGMENT, [odd])

    assert read(log) == [odd]


def test_lines_are_read_from_a_position_on(log: SignalLog) -> None:
    _, end = log.append(SEGMENT, [helpful("m-1")])
    log.append(SEGMENT, [helpful("m-2")])

    assert read(log, end) == [helpful("m-2")]


def test_lines_longer_than_a_read_are_put_together(log: SignalLog) -> None:
    long = Signal(
        id="s", at=NOON, memory="m", revision=1, kind=SignalKind.USAGE, polarity=1, ref="r", reason="x" * 3_000_000
    )
    log.append(SEGMENT, [helpful("m-1"), long, helpful("m-2")])

    assert read(log) == [helpful("m-1"), long, helpful("m-2")]


def test_segments_come_in_the_order_of_their_numbers_whatever_their_days(log: SignalLog) -> None:
    log.folder.mkdir()
    for name in ("000003-2026-01-01.jsonl", "000001-2026-12-31.jsonl", "000002-2026-05-05.jsonl"):
        (log.folder / name).touch()

    assert [segment.number for segment in log.segments()] == [1, 2, 3]


def test_files_that_are_no_segments_are_passed_over(log: SignalLog) -> None:
    log.folder.mkdir()
    for name in ("notes.txt", "000001-2026-02-31.jsonl", "000001.jsonl", "x000001-2026-01-01.jsonl"):
        (log.folder / name).touch()

    assert log.segments() == []


def test_a_failed_append_leaves_the_segment_as_it_was(log: SignalLog, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    log.append(SEGMENT, [helpful("m-1")])
    before = file_of(log).read_bytes()
    real_write = os.write
    calls = iter((10, None))

    def short_then_full(descriptor: int, data: bytes) -> int:
        size = next(calls)
        if size is None:
            raise OSError(28, "No space left on device")
        return real_write(descriptor, bytes(data)[:size])

    monkeypatch.setattr(os, "write", short_then_full)
    with pytest.raises(StorageError, match="no space left"):
        log.append(SEGMENT, [helpful("m-2")])

    assert file_of(log).read_bytes() == before


def test_a_short_write_goes_on_with_the_rest(log: SignalLog, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, bytes(data)[:7]))

    log.append(SEGMENT, [helpful("m-1")])

    assert read(log) == [helpful("m-1")]


def test_an_append_is_taken_back_only_while_nothing_stands_behind_it(log: SignalLog) -> None:
    start, end = log.append(SEGMENT, [helpful("m-1")])
    log.append(SEGMENT, [helpful("m-2")])
    log.take_back(SEGMENT, start=start, end=end)
    assert len(read(log)) == 2

    start, end = log.append(SEGMENT, [helpful("m-3")])
    log.take_back(SEGMENT, start=start, end=end)
    assert read(log) == [helpful("m-1"), helpful("m-2")]
