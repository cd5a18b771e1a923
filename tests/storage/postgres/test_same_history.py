"""The same history in a folder and on a server gives the same answers, beliefs and exports."""

from __future__ import annotations

import io
import json
import math
import random
import secrets
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.errors import ReasoningBankError
from tests.conftest import Clock
from tests.servers import Postgres

WORDS = ["quote", "path", "deploy", "pin", "version", "retry", "token", "cache", "index", "Straße", "Ærø", "試験"]
SCORE, CONFIDENCE = 1e-6, 1e-12
STEPS = 30


@pytest.fixture
def server(postgres: Postgres) -> Iterator[str]:
    yield postgres.application
    postgres.empty()


class Life:
    """One bank that goes through a history."""

    def __init__(self, root: Path | str, clock: Clock, settings: dict[str, Any] | None = None) -> None:
        names = {"tenant": "acme", "project": "billing"}
        self.bank = ReasoningBank(root, **names, embedder="hash", clock=clock, settings=settings)
        self.ids: list[str] = []
        self.refs: list[str] = []

    def do(self, step: str, seed: str, n: int) -> Any:
        """Do one step, and return what it says; both lives draw the same, ids and revisions as well."""
        rng = random.Random(seed)
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=rng.getrandbits(128)))
                patch.setattr(secrets, "randbits", rng.getrandbits)
                return getattr(self, step)(rng, n)
        except ReasoningBankError as error:
            return type(error)

    def record(self, rng: random.Random, n: int) -> Any:
        words = rng.choices(WORDS, k=rng.randrange(2, 9))
        said = self.bank.record(
            f"{' '.join(words[:4])} {n % 7}",
            f"What is known of {' '.join(words)}",
            outcome=rng.choice(["success", "failure"]),
            tags=rng.sample(WORDS[:4], rng.randrange(3)),
            applies_when=rng.choice(["", f"when {words[0]} fails"]),
            confidence=rng.choice([None, 0.3, 0.9]),
            ttl=rng.choice([None, None, timedelta(days=20)]),
            metadata={"cost": rng.choice([1, 2.5, "much", True, None])},
        )
        if said.created:
            self.ids.append(said.memory.id)
        return said.created, said.memory.id, bool(said.possible_duplicate_of)

    def _pick(self, rng: random.Random) -> str:
        return rng.choice(self.ids)

    def recall(self, rng: random.Random, n: int) -> Any:
        asked = " ".join(rng.choices(WORDS, k=4))
        self.refs.append(f"run {n}")
        given = self.bank.recall(asked, rng.randrange(1, 6), ref=f"run {n}", thread=f"t{n % 3}")
        return self._hits(given.hits), given.withheld, given.weak, given.expected_success

    def report(self, rng: random.Random, n: int) -> Any:
        if not self.refs:
            return None
        ref = rng.choice(self.refs)
        said = self.bank.report(
            rng.choice(["success", "failure", "unknown"]), ref=ref, revise=True, reason=f"it was {n}"
        )
        return sorted(said.credited), said.recorded, said.too_late, said.previous

    def vote(self, rng: random.Random, n: int) -> Any:
        known = self._pick(rng)
        said = self.bank.vote(known, rng.random() < 0.7, ref=f"run {rng.randrange(n + 1)}", by=rng.choice(["", "ada"]))
        return said.recorded, said.memory.confidence

    def update(self, rng: random.Random, n: int) -> Any:
        known = self._pick(rng)
        fields: dict[str, Any] = rng.choice([{"tags": WORDS[2:4]}, {"content": f"Said anew {n}"}])
        return self.bank.update(known, reason="because", **fields).confidence

    def delete(self, rng: random.Random, n: int) -> Any:
        return self.bank.delete(self._pick(rng)) if rng.random() < 0.5 else None

    def archive(self, rng: random.Random, n: int) -> Any:
        return self.bank.upkeep.archive(self._pick(rng), reason="old").state

    def maintain(self, rng: random.Random, n: int) -> Any:
        return len(self.bank.upkeep.maintain().changes)

    def search(self, rng: random.Random, n: int) -> Any:
        options: dict[str, Any] = rng.choice(
            [{}, {"tags": WORDS[:1]}, {"min_confidence": 0.0}, {"where": {"cost": 2.5}}, {"policy": "four_factor"}]
        )
        found = self.bank.search(" ".join(rng.choices(WORDS, k=3)), rng.randrange(1, 12), **options)
        return self._hits(found.hits), found.withheld, found.weak

    def _hits(self, hits: Any) -> list[tuple[str, float, float, bool]]:
        return [(hit.memory.id, hit.score, hit.memory.confidence, hit.provisional) for hit in hits]

    def beliefs(self) -> list[tuple[str, float, int]]:
        return [(m.id, m.confidence, m.revision) for m in self.bank.list(limit=500, state=None).memories]

    def exported(self) -> list[Any]:
        """Return the lines of a complete export."""
        target = io.StringIO()
        self.bank.exchange.export_to(target, state=None, expired=None, runs=True, history=True)
        return [json.loads(line) for line in target.getvalue().splitlines()]


LIKELY = {"record": 8, "recall": 6, "search": 6, "report": 5, "vote": 4}
LIKELY |= {"update": 1, "delete": 1, "archive": 1, "maintain": 1}


def same(one: Any, other: Any, within: float = CONFIDENCE) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0, abs_tol=within)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key], within) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(a, b, within) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def live_both(folder: Path, server: str, seed: int, **settings: Any) -> None:
    clock, drawn = Clock(), random.Random(seed)
    lives = Life(folder, clock), Life(server, clock, settings)
    try:
        for n in range(STEPS):
            step = "record" if n < 4 else drawn.choices(list(LIKELY), list(LIKELY.values()))[0]
            clock.move(minutes=drawn.choice([1, 1, 60, 60 * 24 * 9]))
            here, there = (life.do(step, f"{seed} {n}", n) for life in lives)
            assert same(here, there, SCORE), (step, n, here, there)
        here, there = (life.beliefs() for life in lives)
        assert same(here, there)
        for here, there in zip(*(life.exported() for life in lives), strict=True):
            assert same(here, there), json.dumps([here, there])
        assert lives[1].bank.upkeep.doctor(dry_run=True) == []
    except BaseException as error:
        error.add_note(f"history {seed}")
        raise
    finally:
        for life in lives:
            life.bank.close()


@pytest.mark.parametrize("seed", [*range(6), 1077])  # the last found what no other did
def test_a_history_ends_the_same_in_a_folder_and_on_a_server(tmp_path: Path, server: str, seed: int) -> None:
    live_both(tmp_path, server, seed)


def test_what_is_grouped_is_in_order_however_the_server_groups_it(tmp_path: Path, postgres: Postgres) -> None:
    with psycopg.connect(postgres.superuser, autocommit=True) as connection:
        # It sorts where it takes a table for a small one, as one without statistics is.
        connection.execute("ALTER ROLE application SET enable_sort = off")
        try:
            live_both(tmp_path, postgres.application, 3)
        finally:
            connection.execute("ALTER ROLE application RESET ALL")
            postgres.empty()


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("tens", range(20))
def test_two_hundred_histories_end_the_same(tmp_path: Path, postgres: Postgres, tens: int) -> None:
    for seed in range(1000 + 10 * tens, 1010 + 10 * tens):
        try:
            live_both(tmp_path / str(seed), postgres.application, seed)
        finally:
            postgres.empty()
