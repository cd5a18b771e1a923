"""What a bank goes through, what of it was acknowledged, and whether all of that is there afterwards."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reasoningbank import EmbedderMismatchError, EmbeddingError, MemoryNotFoundError, ReasoningBank
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.folding_again import refold_differences

BEGIN = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
EMBEDDERS = {dim: HashEmbedder(dim) for dim in (64, 96)}
# Longer than the days that pass in a writer's life, so that what it did last is not rolled up by then.
SETTINGS = {"keep_days": 8, "episode_ttl_hours": 876_000, "busy_timeout": 60.0}
WORDS = ["quote", "paths", "rotate", "keys", "retry", "uploads", "pin", "versions", "check", "hashes", "split", "warm"]
POLARITY = {"success": 1, "failure": -1, "unknown": 0}

Op = dict[str, Any]
Evidence = dict[tuple[str, str, str], tuple[int, int]]


@dataclass
class Known:
    """What one writer had acknowledged: its memories, the evidence about them, its episodes."""

    memories: dict[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=dict)
    verdicts: dict[str, str | None] = field(default_factory=dict)
    now: datetime = BEGIN
    count: int = 0
    hours: tuple[int, ...] = (0, 0, 1, 5, 17, -3)
    # Where its clock stands still: what a killed writer did last must not be rolled up by one that lives on.
    until: datetime | None = None

    def forget_evidence(self, memory: str) -> None:
        """Drop what was said about a memory: it says something else now, or is gone."""
        self.evidence = {key: value for key, value in self.evidence.items() if key[0] != memory}

    def apply(self, op: Op, evidence: list[list[Any]]) -> None:
        """Take in that an operation was done, with what the evidence under its reference is now."""
        do, memory = op["do"], op.get("id", "")
        if do in ("record", "rewrite"):
            if do == "rewrite":
                self.forget_evidence(memory)
            self.memories[memory] = (op["title"], op["content"], tuple(op["tags"]))
        elif do == "tag":
            title, content, _ = self.memories[memory]
            self.memories[memory] = (title, content, tuple(op["tags"]))
        elif do == "delete":
            self.memories.pop(memory)
            self.forget_evidence(memory)
        elif do == "recall":
            self.verdicts[op["ref"]] = None
        elif do == "report":
            self.verdicts[op["ref"]] = op["verdict"]
        for about, kind, polarity, weight in evidence:
            self.evidence[about, op["ref"], kind] = (polarity, weight)


def open_bank(root: Path, known: Known | None = None, dim: int = 64) -> ReasoningBank:
    """Open the bank, with a clock that `known` holds."""
    return ReasoningBank(
        root,
        tenant="acme",
        project="billing",
        embedder=EMBEDDERS[dim],
        settings=SETTINGS,
        clock=lambda: BEGIN if known is None else known.now,
    )


def open_with_its_embedder(root: Path, known: Known) -> ReasoningBank:
    """Open the bank with the embedder whose vectors it holds."""
    bank = open_bank(root, known)
    if "(96 numbers)" in (bank.upkeep.status().stored_embedder or ""):
        bank.close()
        bank = open_bank(root, known, 96)
    return bank


def lessons(number: int, kind: str = "lesson") -> list[dict[str, str]]:
    """Return drafts of lessons that are told apart by a number."""
    return [
        {"title": f"{kind} {i}", "content": f"what {kind} {i} says about topic {i % 7}", "outcome": "success"}
        for i in range(number)
    ]


# -- the writer ----------------------------------------------------------------------------------------


def next_op(known: Known, rng: random.Random, name: str) -> Op:
    """Choose what to do next; `name` tells the writer's memories and references from those of others."""
    known.count += 1
    known.now += timedelta(hours=rng.choice(known.hours))
    known.now = min(known.now, known.until or known.now)
    ids, opened = list(known.memories), list(known.verdicts)
    choices = ["record"] * (8 if len(ids) < 4 else 2 if len(ids) < 12 else 0)
    if ids:
        choices += ["tag", "rewrite", "delete", "recall", "recall", "vote", "vote", "alone", "stability", "maintain"]
        choices += ["reembed"] if rng.random() < 0.3 else []
    choices += ["report"] * 3 if opened else []
    op: Op = {"do": rng.choice(choices), "at": known.now.isoformat(), "ref": f"{name}-{known.count}"}
    return op | _details(op, known, rng, name)


def _details(op: Op, known: Known, rng: random.Random, name: str) -> Op:
    do, ids, opened = op["do"], list(known.memories), list(known.verdicts)
    if do in ("record", "rewrite", "tag"):
        title, content = (" ".join(rng.sample(WORDS, many)) for many in (4, 6))
        new = {"title": f"{title} {name} {known.count}", "content": content, "tags": [name, *rng.sample(WORDS, 2)]}
        return new | {"id": f"{name}-m{known.count}" if do == "record" else rng.choice(ids)}
    if do == "recall":
        return {"task": known.memories[rng.choice(ids)][0], "of": name}
    if do == "report":
        return {"ref": rng.choice(opened[-3:]), "verdict": rng.choice(list(POLARITY))}
    if do == "reembed":
        return {"dim": rng.choice(list(EMBEDDERS))}
    about = {} if do == "maintain" else {"id": rng.choice(ids), "good": rng.random() < 0.7}
    # Now and then about the same run, or the same again.
    ref = rng.choice(opened) if opened and rng.random() < 0.5 else op["ref"]
    return about | {"ref": ref}


def _record(bank: ReasoningBank, op: Op) -> None:
    draft = {"title": op["title"], "content": op["content"], "tags": op["tags"], "outcome": "success"}
    bank.record_many([draft], ids=[op["id"]])


def _report(bank: ReasoningBank, op: Op) -> None:
    # It may be too late to revise: then the verdict stays what it was.
    op["verdict"] = bank.report(op["verdict"], ref=op["ref"]).episode.verdict


def _reembed(bank: ReasoningBank, op: Op) -> None:
    try:
        bank.upkeep.reembed(EMBEDDERS[op["dim"]])
    except EmbedderMismatchError:
        raise
    except EmbeddingError as error:
        # The other writer may have begun one with the other embedder.
        if "another process began" not in str(error):
            raise


ACTS: dict[str, Callable[[ReasoningBank, Op], object]] = {
    "record": _record,
    "rewrite": lambda bank, op: bank.update(op["id"], title=op["title"], content=op["content"], tags=op["tags"]),
    "tag": lambda bank, op: bank.update(op["id"], tags=op["tags"]),
    "delete": lambda bank, op: bank.delete(op["id"]),
    "recall": lambda bank, op: bank.recall(op["task"], ref=op["ref"], min_confidence=0.0, tags=[op["of"]]),
    "report": _report,
    "vote": lambda bank, op: bank.vote(op["id"], op["good"], ref=op["ref"]),
    "alone": lambda bank, op: bank.vote(op["id"], op["good"], ref=op["ref"], kind="outcome"),
    "stability": lambda bank, op: bank.vote(op["id"], op["good"], ref=op["ref"], kind="stability"),
    "maintain": lambda bank, op: bank.upkeep.maintain(),
    "reembed": _reembed,
}


def evidence_under(bank: ReasoningBank, op: Op) -> list[list[Any]]:
    """Return what is counted now under the operation's reference: memory, kind, polarity, weight."""
    if op["do"] not in ("recall", "report", "vote", "alone", "stability"):
        return []
    with bank._engine.read() as view:
        return [
            list(row)
            for row in view.execute(
                "SELECT m.id, e.kind, e.polarity, e.weight FROM evidence AS e JOIN memories AS m ON m.n = e.memory "
                "WHERE e.ref = ?",
                (op["ref"],),
            )
        ]


def live(
    root: Path, known: Known, *, name: str, seed: int, pipe: int, write: Any = os.write, operations: int | None = None
) -> None:
    """Do one thing after another, until killed or so many times; say of each when it begins and when it is done."""
    rng = random.Random(seed)
    dim = rng.choice(list(EMBEDDERS))
    bank = open_bank(root, known, dim)
    for _ in itertools.count() if operations is None else range(operations):
        op = next_op(known, rng, name)
        write(pipe, json.dumps({"begins": op}).encode() + b"\n")
        while True:
            try:
                ACTS[op["do"]](bank, op)
                break
            except EmbedderMismatchError:
                # Another writer re-embedded the bank.
                bank.close()
                dim = 160 - dim
                bank = open_bank(root, known, dim)
        evidence = evidence_under(bank, op)
        write(pipe, json.dumps({"done": op, "evidence": evidence}).encode() + b"\n")
        known.apply(op, evidence)
    bank.close()


# -- afterwards ----------------------------------------------------------------------------------------


def take_in(known: Known, said: bytes) -> Op | None:
    """Take in what a killed writer said; return what it had begun and not acknowledged."""
    begun: Op | None = None
    for line in said.split(b"\n")[:-1]:
        message = json.loads(line)
        if "begins" in message:
            begun = message["begins"]
            known.now = datetime.fromisoformat(begun["at"])
            known.count += 1
        else:
            known.apply(message["done"], message["evidence"])
            begun = None
    return begun


def settle(bank: ReasoningBank, known: Known, begun: Op) -> None:
    """Find out whether what was begun was done; it must have been done as a whole, or not at all."""
    do, memory = begun["do"], begun.get("id", "")
    now: tuple[str, str, tuple[str, ...]] | None = None
    with contextlib.suppress(MemoryNotFoundError):
        found = bank.get(memory or "none")
        now = (found.title, found.content, found.tags)
    before = known.memories.get(memory)
    if do in ("record", "rewrite", "tag", "delete"):
        if now == before:
            return
        trial = Known(memories=dict(known.memories))
        trial.apply(begun, [])
        assert now == trial.memories.get(memory), f"{begun} was done by half: {now}"
        known.apply(begun, [])
    elif do == "recall":
        with bank._engine.read() as view:
            opened = view.execute("SELECT 1 FROM episodes WHERE ref = ?", (begun["ref"],)).fetchone()
        if opened:
            known.apply(begun, evidence_under(bank, begun))
    elif do in ("report", "vote", "alone", "stability"):
        _settle_signals(bank, known, begun)


def _settle_signals(bank: ReasoningBank, known: Known, begun: Op) -> None:
    do = begun["do"]
    rows = evidence_under(bank, begun)
    wanted = POLARITY[begun["verdict"]] if do == "report" else 1 if begun["good"] else -1
    kind = {"report": "outcome", "vote": "explicit", "alone": "outcome", "stability": "stability"}[do]
    for memory, of_kind, polarity, weight in rows:
        said = known.evidence.get((memory, begun["ref"], of_kind), (0, 0))
        assert (polarity, weight) == said or (of_kind == kind and polarity == wanted), (begun, rows)
    # A verdict that is there stands; one that is not was never given.
    now = bank.runs.get(begun["ref"]).verdict if do == "report" else None
    if do == "report" and now != begun["verdict"]:
        assert now == known.verdicts[begun["ref"]], (begun, now)
        begun = begun | {"verdict": None if now is None else now.value}
    known.apply(begun, rows)


def check(bank: ReasoningBank, knowns: list[Known]) -> None:
    """Check that everything acknowledged is there, that nothing counts twice, and that all that is derived agrees."""
    project = bank._engine.project()
    if project is None:
        assert not any(known.memories for known in knowns)
        return
    with project.write() as writing:
        writing.catch_up()
    listed = {m.id: (m.title, m.content, m.tags) for m in bank.list(limit=1000).memories}
    recorded = {memory: said for known in knowns for memory, said in known.memories.items()}
    assert listed == recorded, listed.items() ^ recorded.items()
    with project.read() as reading:
        differing = refold_differences(project, reading)
        assert not differing, differing
        _check_evidence(reading, knowns)
        verdicts = dict(reading.execute("SELECT ref, verdict FROM episodes"))
    given = {ref: verdict for known in knowns for ref, verdict in known.verdicts.items()}
    assert verdicts == given, verdicts.items() ^ given.items()
    # What a kill leaves by right: a torn line that was kept aside, a segment whose file it had no time to remove.
    found = [
        r.what for r in bank.upkeep.doctor(dry_run=True) if "cut off" not in r.what and "still there" not in r.what
    ]
    assert not found, found
    for known in knowns:
        for memory, (title, _, _) in list(known.memories.items())[:2]:
            hits = bank.search(title, limit=5, min_confidence=0.0).hits
            assert memory in {hit.memory.id for hit in hits}, f"{title!r} is not found by its own words"


def _check_evidence(reading: Reading, knowns: list[Known]) -> None:
    expected: dict[tuple[str, str, bool], int] = {}
    for known in knowns:
        for (memory, ref, kind), (polarity, weight) in known.evidence.items():
            n = reading.execute("SELECT n FROM memories WHERE id = ?", (memory,)).fetchone()[0]
            _check_kept(reading, n, ref, kind, (polarity, weight))
            if polarity:
                key = (memory, kind, polarity > 0)
                expected[key] = expected.get(key, 0) + weight
    counted: dict[tuple[str, str, bool], int] = {}
    for memory, kind, positive, negative in reading.execute(
        "SELECT m.id, kind, sum(positive), sum(negative) FROM tallies AS t JOIN memories AS m ON m.n = t.memory "
        "GROUP BY m.id, kind"
    ):
        counted |= {(memory, kind, sign): total for sign, total in ((True, positive), (False, negative)) if total}
    assert counted == expected, f"counted, and acknowledged: {counted.items() ^ expected.items()}"


def _check_kept(reading: Reading, n: int, ref: str, kind: str, said: tuple[int, int]) -> None:
    row = reading.execute(
        "SELECT polarity, weight FROM evidence WHERE memory = ? AND ref = ? AND kind = ?", (n, ref, kind)
    ).fetchone()
    if row is not None:
        assert row == said, (n, ref, kind)
        return
    if kind == "usage":
        row = reading.execute("SELECT max(sealed) FROM served WHERE memory = ? AND ref = ?", (n, ref)).fetchone()
        assert row == (1,), f"usage {n} {ref} is lost"
        return
    row = reading.execute(
        "SELECT polarity FROM sealed WHERE memory = ? AND ref = ? AND kind = ?", (n, ref, kind)
    ).fetchone()
    assert row == said[:1], f"{kind} {n} {ref} is lost"
