"""The neural bus beside what it is made of: `python -m benchmarks.bus --json`.

Each figure is a ratio of two things that are measured in turns, in one run: frames against bare `struct` and `json`,
signatures against bare `cryptography`, connections against TCP with TLS 1.3, a stream against a bare echo of the same
library, the wire against the lessons themselves, catching up against a bulk import of the same lessons.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import struct
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.bus_connections import connect, stalled, stream_ratio
from benchmarks.bus_spread import spread
from reasoningbank import ReasoningBank
from reasoningbank.bus import (
    BankStore,
    Frame,
    FrameType,
    Grant,
    Header,
    Identity,
    Nonces,
    check,
    decode,
    encode,
    signed,
)
from reasoningbank.bus.identity import verify
from reasoningbank.bus.messages import BLOCKS_LIMIT, blocks_payload, fitting
from reasoningbank.replication import Terms

NOW = 1_700_000_000_000
BERLIN, LIMA = (Identity.of_seed(bytes([n]) * 32, name) for n, name in enumerate(("berlin", "lima"), 1))


def seconds(work: Callable[[], Any], times: int) -> float:
    """Return the seconds that one call takes, in a loop of so many."""
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times


def in_turns(one: Callable[[], Any], other: Callable[[], Any], times: int, rounds: int = 9) -> float:
    """Return how many times as long the one takes as the other: the median of rounds in which they take turns."""
    return statistics.median(seconds(one, times) / seconds(other, times) for _ in range(rounds))


def frame_ratio(times: int) -> float:
    """Return what encoding and decoding a frame of 1 KB takes beside bare `struct` and `json`."""
    header = Header(
        "blocks", NOW, "0123456789abcdef01234567", "a" * 64, "write", 1024, "s" * 88, None, "b" * 64, "c" * 64
    )
    frame = Frame(FrameType.SNAPSHOT, header, bytes(1024), 2)
    said = {key: value for key, value in header._asdict().items() if value is not None} | {"version": 2}
    head = struct.Struct(">HBII")

    def bare() -> None:
        text = json.dumps(said, separators=(",", ":")).encode()
        data = head.pack(2, 4, len(text), 1024) + text + frame.payload
        _, _, size, _ = head.unpack_from(data)
        json.loads(data[11 : 11 + size])
        data[11 + size :]

    return in_turns(lambda: decode(encode(frame)), bare, times)


def sign_ratio(times: int) -> float:
    """Return what signing and checking an intent takes beside bare calls of `cryptography` over as many bytes."""
    key = Ed25519PrivateKey.generate()
    public, message = key.public_key(), bytes(32)
    grants = {BERLIN.kid: Grant("write", lambda signature, said: verify(BERLIN.kid, signature, said))}
    window, payload = Nonces(most=10**9), bytes(1024)
    numbers = iter(range(10**9))

    def ours() -> None:
        header = Header("blocks", NOW, str(next(numbers)), scope="write", cap=1024, aud=LIMA.kid)
        frame = signed(BERLIN, FrameType.SNAPSHOT, header, payload)
        check(frame, "write", of=grants, audience=LIMA.kid, window=window, now=NOW)

    return in_turns(ours, lambda: public.verify(key.sign(message), message), times)


# -- lessons -----------------------------------------------------------------------------------------------------------


def lesson(number: int) -> dict[str, Any]:
    """Return a lesson of the size that people write."""
    # Words that nobody else uses: what people write packs better.
    rng = random.Random(number)
    text = " ".join("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(40))
    return {"title": f"Stage {number % 29}, step {number}", "content": text, "outcome": "success", "tags": ["pipeline"]}


def filled(root: Path, lessons: int, signals: int) -> ReasoningBank:
    """Return a bank with lessons and signals about them."""
    bank = ReasoningBank(root, tenant="acme", project="ops", embedder="hash")
    ids = [each.memory.id for each in bank.record_many([lesson(n) for n in range(lessons)])]
    for n in range(signals):
        bank.vote(ids[n % lessons], n % 5 != 0, ref=f"vote-{n}")
    return bank


def wire_and_catch_up(lessons: int, signals: int) -> tuple[float, float]:
    """Return the bytes on the wire per byte of a lesson, and catching up beside a trusted bulk import of the same."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        with filled(root / "berlin", lessons, 0) as bank:
            store = BankStore(bank, BERLIN)
            store.capture()
            wire = sum(len(frame) for frame in frames_of(store))
            bare = sum(len(json.dumps(lesson(n), ensure_ascii=False)) for n in range(lessons))
        with filled(root / "berlin-2", lessons, signals) as bank:
            exported = root / "lessons.jsonl"
            bank.exchange.export_to(exported)
            store = BankStore(bank, BERLIN)
            store.capture()
            blocks = bank.replication.blocks(BERLIN.kid, 0, most=10**6)
        with ReasoningBank(root / "imported", tenant="acme", project="ops", embedder="hash") as bank:
            begun = time.perf_counter()
            bank.exchange.import_from(exported, trusted=True)
            importing = time.perf_counter() - begun
        with ReasoningBank(root / "caught-up", tenant="acme", project="ops", embedder="hash") as bank:
            begun = time.perf_counter()
            for block in blocks:
                assert verify(block.origin, block.signature, block.signed)
            while blocks:
                blocks = blocks[BankStore(bank, LIMA).take(blocks, Terms("berlin")).blocks :]
            catching_up = time.perf_counter() - begun
            assert bank.count() == lessons
    return wire / bare, catching_up / importing


def frames_of(store: BankStore) -> list[bytes]:
    """Return the frames by which all of a bank's changes go over the wire."""
    found, after = [], 0
    while blocks := store.blocks(BERLIN.kid, after, BLOCKS_LIMIT):
        some = fitting(blocks)
        payload = blocks_payload(some)
        header = Header("blocks", NOW, str(after), scope="write", cap=len(payload), aud=LIMA.kid)
        found.append(encode(signed(BERLIN, FrameType.SNAPSHOT, header, payload)))
        after = some[-1].last
    return found


def measured(*, quick: bool) -> dict[str, Any]:
    """Return all figures; `quick` ones are of a fraction of the size."""
    scale = 20 if quick else 1
    wire, catch_up = wire_and_catch_up(10_000 // scale, 100_000 // scale)
    return {
        "frame_ratio": frame_ratio(2_000 // scale),
        "sign_ratio": sign_ratio(500 // scale),
        "connect": asyncio.run(connect(3 if quick else 30, datetime.now(UTC))),
        "stream_ratio": asyncio.run(stream_ratio(1 if quick else 4, datetime.now(UTC))),
        "stalled_ms": asyncio.run(stalled(datetime.now(UTC))),
        "wire_ratio": wire,
        "catch_up_ratio": catch_up,
        "spread": {str(many): spread(many) for many in ((10, 100) if quick else (10, 100, 1_000))},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="a fraction of the size, to see that it runs")
    given = parser.parse_args(arguments)
    found = measured(quick=given.quick)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:16} {json.dumps(value) if isinstance(value, dict) else f'{value:.2f}'}")


if __name__ == "__main__":
    main()
