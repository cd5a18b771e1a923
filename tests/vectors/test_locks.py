"""The lock around an index: readers together, writers alone, each in turn."""

from __future__ import annotations

import threading
import time

from reasoningbank.vectors.locks import ReadersWriterLock


def test_readers_hold_it_together() -> None:
    lock, inside = ReadersWriterLock(), threading.Barrier(3, timeout=10)

    def read() -> None:
        with lock.reading():
            inside.wait()

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(10)

    assert not inside.broken


def test_a_writer_is_alone() -> None:
    lock, state, seen = ReadersWriterLock(), [0, 0], []

    def write() -> None:
        for _ in range(200):
            with lock.writing():
                state[0] += 1
                time.sleep(0)
                state[1] += 1

    def read() -> None:
        for _ in range(200):
            with lock.reading():
                seen.append(state[0] == state[1])

    threads = [threading.Thread(target=work) for work in (write, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert all(seen)
    assert len(seen) == 400
    assert state == [400, 400]


def test_a_writer_that_comes_again_and_again_lets_waiting_readers_in_between() -> None:
    lock, writes, started, stop = ReadersWriterLock(), [0], threading.Event(), threading.Event()

    def write() -> None:
        while not stop.is_set():
            with lock.writing():
                writes[0] += 1
                started.set()
                time.sleep(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    started.wait(10)
    waited = []
    for _ in range(20):
        before = writes[0]
        with lock.reading():
            waited.append(writes[0] - before)
        time.sleep(0.001)
    stop.set()
    writer.join(10)

    assert max(waited) <= 2


def test_readers_that_come_again_and_again_let_a_writer_in() -> None:
    lock, stop = ReadersWriterLock(), threading.Event()

    def read() -> None:
        while not stop.is_set():
            with lock.reading():
                time.sleep(0.002)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    written = threading.Event()

    def write() -> None:
        with lock.writing():
            written.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert written.wait(10)
    stop.set()
    for thread in [writer, *readers]:
        thread.join(10)


def test_a_failure_inside_gives_it_back() -> None:
    lock = ReadersWriterLock()

    for held in (lock.reading, lock.writing, lock.reading):
        try:
            with held():
                raise KeyError
        except KeyError:
            pass

    with lock.writing():
        pass
