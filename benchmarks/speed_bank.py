"""The bank, raw FAISS and bare SQLite, side by side on the same vectors, texts and rows."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import faiss
import numpy as np

from benchmarks.speed_bulk import Given, Real, bulk_per_s, text_ms
from benchmarks.speed_floors import BareDatabase
from benchmarks.speed_lessons import Float32, K, StubEmbedder, Texts, opened, texts
from benchmarks.speed_minilm import with_minilm
from benchmarks.speed_timing import disk_bytes, each_ms, fsync_ms, median, p95
from benchmarks.speed_together import readers_p95_ratio, threads_ratio
from reasoningbank import ReasoningBank, Recall

T = TypeVar("T")
Done = TypeVar("Done")

# How many lessons a recall hands out unless it is told otherwise.
RECALLED = 3

Figures = dict[str, Any]


def measure(size: int, root: Path, real: Real, queries: int = 200, writes: int = 100) -> dict[str, Figures]:
    """Fill a bank with `size` lessons under `root`, and return the figures of raw FAISS, of the floors and of the bank.

    Args:
        real: what is imported.
    """
    made = texts(size + 3 * writes, queries)
    stored, new = Texts(made.lessons[:size], made.queries), made.lessons[size:]
    with opened(root) as bank:
        bank.record_many(stored.lessons)
        raw, figures = _searched(bank, root, made.queries)
        figures |= {"disk_mb": round(disk_bytes(root) / 1e6, 2)}
        figures["disk_ratio"] = round(disk_bytes(root) / _payload(stored, _database(root)), 2)
    recalls, floors, recalled = _recalled(root, made.queries)
    figures |= recalled | {"threads_ratio": threads_ratio(root, made.queries)}
    with opened(root) as bank:
        committed, written = _written(bank, root, recalls[:writes], new[:writes])
        figures |= written
        figures["readers_p95_ratio"] = readers_p95_ratio(bank, made.queries, new[writes : 2 * writes])
    with opened(root, embedder=Given()) as bank:
        figures["bulk_per_s"] = bulk_per_s(bank, real.lessons)
    embedding, embedded = with_minilm(root, stored)
    figures |= embedded | _durable(root, new[2 * writes :]) | _fresh_process(root, made.queries[0])
    floors |= committed | embedding | {"fsync_ms": fsync_ms(root), "text_ms": text_ms(real.lessons)}
    return {"faiss": raw, "floors": floors, "bank": figures}


def _database(root: Path) -> Path:
    return next(root.rglob("bank.sqlite3"))


def _payload(stored: Texts, database: Path) -> int:
    """Return the bytes of what must be kept: the texts, and the vectors as float32."""
    said = sum(len(part.encode()) for lesson in stored.lessons for part in lesson.values() if isinstance(part, str))
    with closing(sqlite3.connect(database)) as connection:
        vectors: int = connection.execute("SELECT sum(length(vector)) FROM vectors").fetchone()[0]
    return said + vectors


def _vectors(database: Path) -> tuple[list[str], Float32]:
    """Return the memory id of each stored vector, and the vectors."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(
            "SELECT m.id, v.vector FROM vectors AS v JOIN memories AS m ON m.n = v.memory ORDER BY v.id"
        ).fetchall()
    joined = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32)
    return [row[0] for row in rows], joined.reshape(len(rows), -1)


def _searched(bank: ReasoningBank, root: Path, queries: list[str]) -> tuple[Figures, Figures]:
    """Search with both in turns, so that what else the machine does hits both alike."""
    ids, vectors = _vectors(_database(root))
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    stub = StubEmbedder()
    asked = {query: stub.embed_query(query)[None] for query in queries}
    bank.search("warm up", K)
    raw, whole, cached = [], [], []
    for query in queries:
        raw += each_ms(lambda q: flat.search(asked[q], K), [query])
        first, again = each_ms(lambda q: bank.search(q, K), [query, query])
        whole.append(first)
        cached.append(again)
    found = [_share_found(bank, flat, ids, query, asked[query]) for query in queries[:50]]
    figures = {"query_ms": median(whole), "query_p95_ms": p95(whole), "query_cached_ms": median(cached)}
    figures |= {"query_ratio": round(median(whole) / median(raw), 2), f"recall@{K}": round(float(np.mean(found)), 4)}
    return {"query_ms": median(raw), "query_p95_ms": p95(raw), "vectors": len(ids)}, figures


def _share_found(bank: ReasoningBank, flat: Any, ids: list[str], query: str, vector: Float32) -> float:
    """Return which share of the exact nearest memories a search by similarity returns."""
    _, rows = flat.search(vector, 4 * K)
    exact = list(dict.fromkeys(ids[row] for row in rows[0] if row >= 0))[:K]
    hits = bank.search(query, K, policy="similarity", min_confidence=0.0).memories
    return len({memory.id for memory in hits} & set(exact)) / max(1, min(len(exact), len(hits) or 1))


def _recalled(root: Path, queries: list[str]) -> tuple[list[Recall], Figures, Figures]:
    """Recall and search in turns; return the recalls, the search as their floor, and the figures.

    Each query is asked both ways, for as many lessons, and for the first time: two handles share the queries, and what
    one recalls, the other searches.
    """
    recalls: list[Recall] = []
    recalling, searching = [], []
    for turn in range(2):
        with opened(root) as bank:
            bank.search("warm up", RECALLED)
            for number, query in enumerate(queries):
                if number % 2 == turn:
                    taken, done = _timed(bank.recall, query)
                    recalling.append(taken)
                    recalls.append(done)
                else:
                    searching.append(_timed(lambda q: bank.search(q, RECALLED), query)[0])
    ratio = round(median(recalling) / median(searching), 2)
    return recalls, {"search_ms": median(searching)}, {"recall_ms": median(recalling), "recall_ratio": ratio}


def _timed(call: Callable[[T], Done], argument: T) -> tuple[float, Done]:
    """Return the milliseconds that a call took, and what came back."""
    start = time.perf_counter()
    done = call(argument)
    return (time.perf_counter() - start) * 1e3, done


def _written(
    bank: ReasoningBank, root: Path, recalls: list[Recall], lessons: list[dict[str, Any]]
) -> tuple[Figures, Figures]:
    """Return what reports, votes and records take, and what SQLite alone takes for the rows of each; then the rest."""
    # A second vote on a memory may be about the same run, and then writes nothing.
    served = list(dict.fromkeys(hit.memory.id for recall in recalls for hit in recall.hits))[: len(recalls)]
    bank.search("warm up", K)
    with BareDatabase(_database(root), root) as bare:
        reports = _beside(
            lambda recall: bank.report("success", ref=recall.ref),
            lambda done: bare.report_ms(done.episode.ref),
            recalls,
        )
        votes = _beside(
            lambda memory_id: bank.vote(memory_id, True),
            lambda done: bare.vote_ms(done.memory.id, done.ref),
            served,
        )
        records = _beside(lambda lesson: bank.record(**lesson), lambda done: bare.record_ms(done.memory.id), lessons)
    floors = {"commit_ms": records[1], "report_commit_ms": reports[1], "vote_commit_ms": votes[1]}
    figures: Figures = {}
    for name, (taken, least) in {"report": reports, "feedback": votes, "record": records}.items():
        figures |= {f"{name}_ms": median(taken), f"{name}_p95_ms": p95(taken)}
        figures[f"{name}_ratio"] = round(median(taken) / median(least), 2)
    figures["get_ms"] = median(each_ms(bank.get, served * 5))
    known = bank.list(limit=len(lessons)).memories
    figures["delete_ms"] = median(each_ms(bank.delete, [memory.id for memory in known[: len(lessons) // 2]]))
    return {name: median(least) for name, least in floors.items()}, figures


def _beside(
    call: Callable[[T], Done], floor: Callable[[Done], float], arguments: Iterable[T]
) -> tuple[list[float], list[float]]:
    """Make each call and, from what came back, its floor, in turns; return the milliseconds of both."""
    taken, least = [], []
    for argument in arguments:
        milliseconds, done = _timed(call, argument)
        taken.append(milliseconds)
        least.append(floor(done))
    return taken, least


def _durable(root: Path, lessons: list[dict[str, Any]]) -> Figures:
    with opened(root, "full") as bank:
        bank.search("warm up", K)
        return {"record_durable_ms": median(each_ms(lambda lesson: bank.record(**lesson), lessons))}


def _fresh_process(root: Path, query: str) -> Figures:
    """Open the bank in a new process: how long until it answers, and how much memory that takes."""
    command = [sys.executable, "-m", "benchmarks.speed_fresh", str(root), query]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    fresh: Figures = json.loads(printed)
    return fresh
