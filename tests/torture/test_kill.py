"""kill -9 at any point: what was acknowledged is there, nothing counts twice, and what is derived agrees.

By default a hundred kills; the long form (`-m exhaustive`) has more than a thousand, and kills at every step.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from reasoningbank import BankRoot
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.storage import migrations
from reasoningbank.storage.project import SIGNALS_NAME
from reasoningbank.storage.root import project_folder
from reasoningbank.storage.signal_log import SignalLog, segment_of
from tests.processes import in_child
from tests.storage.files import made_by_version, put_as_first
from tests.torture.doomed import Doomed
from tests.torture.life import BEGIN, Known, check, live, open_bank, open_with_its_embedder, settle, take_in
from tests.torture.trap import Trap

# Steps of the longest operation and a few shorter ones.
MOST_STEPS = 600
ROUNDS_A_BANK = 20


class Writer(Doomed):
    """One that dies at a step, wherever that is."""

    def live(self, root: Path | str, name: str, seed: int, pipe: int, at: int | None) -> None:
        say = os.write
        if at is not None:
            Trap(at, seed).arm()
        live(Path(root), self.known, name=name, seed=seed, pipe=pipe, write=say)


def kill_and_check(root: Path, knowns: list[Known], rng: random.Random, *, by_step: bool) -> None:
    """Start one or two writers, have them killed, and check what they left."""
    begin = time.monotonic()
    for known in knowns:
        known.now = max(known.now for known in knowns) + timedelta(days=rng.choice((0, 1, 5)))
        known.until = known.now + timedelta(days=2)
    writers = [
        Writer(root, known, f"w{i}", rng.randrange(2**32), rng.randrange(1, MOST_STEPS) if by_step else None)
        for i, known in enumerate(knowns[: rng.choice((1, 1, 2))])
    ]
    for writer in writers if not by_step else []:
        time.sleep(max(0.0, rng.uniform(0.005, 0.12) - (time.monotonic() - begin)))
        os.kill(writer.process, signal.SIGKILL)
    begun = [take_in(writer.known, writer.said()) for writer in writers]
    bank = open_with_its_embedder(root, max(knowns, key=lambda known: known.now))
    try:
        with bank._engine.write(create=False) as edit:
            edit.catch_up()
        for writer, op in zip(writers, begun, strict=True):
            if op is not None:
                settle(bank, writer.known, op)
        check(bank, knowns)
    finally:
        bank.close()


def live_through(quick_folder: Path, kills: int, seed: int, *, by_step: bool) -> None:
    rng = random.Random(seed)
    root, knowns = quick_folder, [Known(), Known()]
    for round_ in range(kills):
        if round_ % ROUNDS_A_BANK == 0:
            root, knowns = quick_folder / f"{seed}-{round_}", [Known(), Known()]
        try:
            kill_and_check(root, knowns, rng, by_step=by_step)
        except BaseException as error:
            error.add_note(f"kill {round_} of seed {seed}, {'by step' if by_step else 'by time'}")
            raise


def test_a_bank_survives_kills_at_any_step(quick_folder: Path) -> None:
    live_through(quick_folder, 40, seed=1, by_step=True)


def test_a_bank_survives_kills_at_any_time(quick_folder: Path) -> None:
    live_through(quick_folder, 20, seed=2, by_step=False)


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(10, 18))
def test_a_bank_survives_a_thousand_kills(quick_folder: Path, seed: int) -> None:
    live_through(quick_folder, 140, seed=seed, by_step=seed % 4 != 3)


# -- making, migrating, deleting: killed at one step after the other -------------------------------------


def killed_at(step: int, act: Callable[[], object]) -> bool:
    """Run `act` in a process that kills itself at a step; tell whether it came that far."""

    def run() -> None:
        Trap(step, seed=step).arm()
        act()

    code = in_child(run)
    assert code in (0, -signal.SIGKILL)
    return code != 0


def steps(act_on: Callable[[int], Callable[[], object]], stride: int) -> Iterator[int]:
    """Yield the steps at which an act was killed, until it gets through."""
    step = 1
    while killed_at(step, act_on(step)):
        yield step
        step += stride


def record_one(root: Path) -> None:
    bank = open_bank(root)
    bank.record("Quote paths", "Put paths in quotes.", outcome="success")
    bank.close()


def files_in(root: Path) -> list[str]:
    return sorted(entry.name for entry in root.rglob("*") if entry.is_file())


@pytest.mark.parametrize("stride", [23, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_a_project_whose_making_is_killed_is_made_by_the_next(quick_folder: Path, stride: int) -> None:
    for step in steps(lambda step: partial(record_one, quick_folder / str(step)), stride):
        root = quick_folder / str(step)
        record_one(root)

        bank = open_bank(root)
        bank.upkeep.maintain()
        assert bank.count() == 1
        bank.close()
        assert [name for name in files_in(root) if not name.startswith("bank.sqlite3")] == []


def old_format(root: Path) -> None:
    """Make a project of the first format, with two memories and a signal that is not counted yet."""
    folder = project_folder(root, "acme", "billing")
    with made_by_version(1, folder) as connection:
        for id_ in ("m0", "m1"):
            put_as_first(connection, id_, id_, "what it says")
    log = SignalLog(folder / SIGNALS_NAME, fsync=False)
    log.append(segment_of(1, 20_526), [Signal("1", BEGIN, "m0", 1, SignalKind.EXPLICIT, 1, "vote")])


@pytest.mark.parametrize("stride", [19, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_a_migration_that_is_killed_is_done_by_the_next_and_loses_nothing(quick_folder: Path, stride: int) -> None:
    old_format(quick_folder / "old")

    def migrate(step: int) -> Callable[[], object]:
        root = quick_folder / str(step)
        shutil.copytree(quick_folder / "old", root)
        return partial(record_one, root)

    for step in steps(migrate, stride):
        bank = open_bank(quick_folder / str(step))
        bank.upkeep.maintain()

        assert {memory.id for memory in bank.list().memories} >= {"m0", "m1"}
        assert bank.get("m0").confidence > bank.get("m1").confidence
        assert bank.upkeep.status().format == migrations.scripts()[-1][0]
        bank.upkeep.rebuild()
        assert [each.what for each in bank.upkeep.doctor(dry_run=True)] == ["2 memories are not embedded"]
        bank.close()


@pytest.mark.parametrize("stride", [11, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_a_deletion_that_is_killed_leaves_the_project_whole_or_gone(quick_folder: Path, stride: int) -> None:
    record_one(quick_folder / "old")

    def delete(step: int) -> Callable[[], object]:
        root = quick_folder / str(step)
        shutil.copytree(quick_folder / "old", root)
        return lambda: BankRoot(root, tenant="acme").delete_project("billing")

    for step in steps(delete, stride):
        root = quick_folder / str(step)
        left = open_bank(root).count()
        assert left == (1 if "billing" in BankRoot(root, tenant="acme").projects() else 0)

        bank = open_bank(root)
        bank.record("Rotate keys", "Rotate keys before they expire.", outcome="success")
        assert bank.count() == left + 1
        bank.close()
        BankRoot(root, tenant="acme").delete_project("billing")
        assert files_in(root) == []


def test_nothing_is_opened_by_looking(quick_folder: Path) -> None:
    check(open_bank(quick_folder), [Known()])
