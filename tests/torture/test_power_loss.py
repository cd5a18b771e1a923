"""Power loss: `durability="full"` loses nothing acknowledged; "normal" may lose the last writes, and invents none."""

from __future__ import annotations

import copy
import itertools
import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from reasoningbank import ReasoningBank
from reasoningbank.signals import Signal
from reasoningbank.storage.folding_again import refold_differences
from reasoningbank.storage.project import SIGNALS_NAME
from reasoningbank.storage.root import project_folder
from reasoningbank.storage.signal_log import Segment, SignalLog
from tests.torture.life import ACTS, BEGIN, EMBEDDERS, SETTINGS, Known, Op, check, evidence_under, next_op, settle
from tests.torture.power import Disk

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="finds the file of a descriptor in /proc")


def open_bank(root: Path, known: Known, durability: Literal["normal", "full"]) -> ReasoningBank:
    return ReasoningBank(
        root,
        tenant="acme",
        project="billing",
        embedder=EMBEDDERS[64],
        settings=SETTINGS | {"durability": durability},
        clock=lambda: known.now,
    )


@dataclass
class Lost:
    """What was left at a power loss, what had been acknowledged by then, and what was under way."""

    root: Path
    known: Known
    begun: Op | None


class Life:
    """A bank's life on a disk that loses its power now and then."""

    def __init__(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, durability: Literal["normal", "full"], seed: int
    ) -> None:
        self.root, self.rng, self.losses = root, random.Random(seed), list[Lost]()
        self.known = Known()
        self.begun: Op | None = None
        folder = project_folder(root / "live", "acme", "billing")
        first = open_bank(root / "live", self.known, durability)
        first.record("Begin", "Every bank begins with something.", outcome="success")
        first.delete(first.list().memories[0].id)
        first.close()
        self.signals: list[Signal] = []
        append = SignalLog.append

        def noting(log: SignalLog, segment: Segment, signals: Sequence[Signal]) -> tuple[int, int]:
            self.signals += signals
            return append(log, segment, signals)

        monkeypatch.setattr(SignalLog, "append", noting)
        self.disk = Disk(folder)
        self.disk.watch(monkeypatch)
        self.bank = open_bank(root / "live", self.known, durability)

    def said(self) -> set[tuple[str, int, str, str, int]]:
        """Return what every line ever written to the log says: memory, revision, reference, kind, polarity."""
        return {
            (signal.memory, signal.revision, signal.ref, signal.kind.value, signal.polarity) for signal in self.signals
        }

    def lose(self, *, at_worst: bool) -> None:
        """Note what a power loss would leave now."""
        target = self.root / f"lost-{len(self.losses)}"
        folder = project_folder(target, "acme", "billing")
        folder.mkdir(parents=True)
        self.disk.lose_power(folder, self.rng, at_worst=at_worst)
        self.losses.append(Lost(target, copy.deepcopy(self.known), self.begun))

    def live(self, operations: int, *, losses_at_waits: float, losses_between: float) -> None:
        """Do one thing after another, and lose power between them and while waiting for the disk."""

        def before_wait() -> None:
            if self.rng.random() < losses_at_waits:
                self.lose(at_worst=self.rng.random() < 0.5)

        self.disk.before_wait = before_wait
        for _ in range(operations):
            op = next_op(self.known, self.rng, "w")
            if op["do"] == "reembed":
                continue
            self.begun = json.loads(json.dumps(op))
            ACTS[op["do"]](self.bank, op)
            self.known.apply(op, evidence_under(self.bank, op))
            self.begun = None
            if self.rng.random() < losses_between:
                self.lose(at_worst=self.rng.random() < 0.5)
        self.disk.before_wait = None
        self.bank.close()


SEEDS = [7, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(100, 120))]


@pytest.mark.parametrize("seed", SEEDS)
def test_with_full_durability_nothing_acknowledged_is_lost(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    life = Life(quick_folder, monkeypatch, "full", seed)
    life.live(80, losses_at_waits=0.15, losses_between=0.4)
    monkeypatch.undo()

    assert len(life.losses) > 20
    for number, lost in enumerate(life.losses):
        bank = open_bank(lost.root, lost.known, "full")
        try:
            bank.upkeep.maintain()
            if lost.begun is not None:
                settle(bank, lost.known, lost.begun)
            check(bank, [lost.known])
        except BaseException as error:
            error.add_note(f"power loss {number}, while {lost.begun}")
            raise
        finally:
            bank.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_with_normal_durability_nothing_is_invented_and_what_is_left_agrees(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    life = Life(quick_folder, monkeypatch, "normal", seed)
    texts: dict[int, tuple[str, str]] = {}
    apply = Known.apply

    def noting(known: Known, op: Op, evidence: list[list[object]]) -> None:
        apply(known, op, evidence)
        texts.update({m.revision: (m.title, m.content) for m in life.bank.list(limit=1000).memories})

    monkeypatch.setattr(Known, "apply", noting)
    life.live(80, losses_at_waits=0.3, losses_between=0.5)
    monkeypatch.undo()

    assert len(life.losses) > 20
    said = life.said()
    for number, lost in enumerate(life.losses):
        bank = open_bank(lost.root, lost.known, "normal")
        bank.record("After", f"Written after power loss {number}.", outcome="success")
        bank.upkeep.maintain()
        for memory in bank.list(limit=1000).memories:
            assert memory.title == "After" or texts[memory.revision] == (memory.title, memory.content)
        project = bank._engine.project()
        assert project is not None
        with project.read() as reading:
            counted = reading.execute(
                "SELECT m.id, m.revision, e.ref, e.kind, e.polarity FROM evidence AS e JOIN memories AS m "
                "ON m.n = e.memory"
            )
            assert set(counted) <= said, f"power loss {number}"
            assert refold_differences(project, reading) == [], f"power loss {number}"
        bank.close()


# -- single cases ----------------------------------------------------------------------------------------------


def lines_of(bank: ReasoningBank) -> Path:
    return max((Path(bank.upkeep.status().folder) / SIGNALS_NAME).glob("*.jsonl"))


def voted(bank: ReasoningBank, votes: int) -> str:
    memory = bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory
    for number in range(votes):
        bank.vote(memory.id, True, ref=f"vote {number}")
    return memory.id


@pytest.mark.parametrize("left", ["nothing", "half a line", "zeros"])
def test_counted_lines_that_a_power_loss_took_are_written_again(quick_folder: Path, left: str) -> None:
    known = Known()
    bank = open_bank(quick_folder, known, "normal")
    memory = voted(bank, 8)
    before = bank.get(memory)
    log = lines_of(bank)
    lines = log.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:3])
    log.write_bytes(
        kept + {"nothing": b"", "half a line": lines[3][:40], "zeros": b"\0" * sum(map(len, lines[3:]))}[left]
    )

    bank.vote(memory, True, ref="vote 8")

    assert bank.get(memory).confidence > before.confidence
    bank.upkeep.rebuild()
    assert bank.upkeep.status().positions_set_back == 1
    with bank._engine.read() as view:
        assert view.execute("SELECT count(*), sum(polarity) FROM evidence").fetchone() == (9, 9)
    assert [repair.what for repair in bank.upkeep.doctor(dry_run=True) if "cut off" not in repair.what] == []


def test_a_segment_that_vanished_is_written_again_when_all_is_folded_again(quick_folder: Path) -> None:
    bank = open_bank(quick_folder, Known(), "normal")
    memory = voted(bank, 3)
    before = bank.get(memory)
    lines_of(bank).unlink()

    assert "counted lines are missing" in bank.upkeep.doctor(dry_run=True)[0].what
    bank.upkeep.doctor()

    assert bank.get(memory) == before
    assert len(lines_of(bank).read_bytes().splitlines()) == 3
    assert bank.upkeep.doctor(dry_run=True) == []


def test_a_line_that_was_mended_by_hand_counts(quick_folder: Path) -> None:
    bank = open_bank(quick_folder, Known(), "normal")
    memory = voted(bank, 2)
    log = lines_of(bank)
    first, second = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + second + b'{"v": 1, "kind": "explicit"}\n')
    bank.vote(memory, True, ref="vote 2")
    assert bank.upkeep.status().unreadable_lines == 1
    mended = second.replace(b'"vote 1"', b'"mended by hand"')
    log.write_bytes(log.read_bytes().replace(b'{"v": 1, "kind": "explicit"}\n', mended))

    bank.vote(memory, True, ref="vote 3")

    assert bank.upkeep.status().unreadable_lines == 0
    with bank._engine.read() as view:
        assert view.execute("SELECT count(*) FROM evidence").fetchone() == (5,)
    assert [repair.what for repair in bank.upkeep.doctor(dry_run=True) if "cut off" not in repair.what] == []


def test_after_a_bad_line_was_removed_by_hand_the_doctor_counts_again(quick_folder: Path) -> None:
    bank = open_bank(quick_folder, Known(), "normal")
    memory = voted(bank, 2)
    log = lines_of(bank)
    whole = log.read_bytes()
    log.write_bytes(whole + b"garbage\n")
    bank.vote(memory, True, ref="vote 2")
    log.write_bytes(log.read_bytes().replace(b"garbage\n", b""))

    bank.upkeep.doctor()

    assert bank.upkeep.status().unreadable_lines == 0
    assert bank.upkeep.doctor(dry_run=True) == []


def test_lines_whose_memory_a_power_loss_took_count_for_nothing_that_comes(quick_folder: Path) -> None:
    known = Known()
    bank = open_bank(quick_folder, known, "normal")
    memory = bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory
    bank.close()
    folder = project_folder(quick_folder, "acme", "billing")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    bank = open_bank(quick_folder, known, "normal")
    bank.update(memory.id, content="Put paths in quotes, and globs not.")
    bank.vote(memory.id, True, ref="about globs")
    bank.close()
    for path, content in before.items():
        path.write_bytes(content)

    bank = open_bank(quick_folder, known, "normal")
    bank.update(memory.id, content="Never put paths in quotes.")
    bank.upkeep.maintain()

    assert bank.get(memory.id).confidence == memory.confidence
    assert bank.upkeep.status().orphan_lines == 1


def test_a_new_project_waits_for_its_folders_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        waited.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    bank = open_bank(tmp_path / "root", Known(now=BEGIN), "full")
    voted(bank, 1)

    folder = project_folder(tmp_path / "root", "acme", "billing")
    parents = list(itertools.takewhile(lambda parent: parent != tmp_path.parent, folder.parents))
    assert set(map(str, [folder, folder / SIGNALS_NAME, *parents])) <= set(waited)
