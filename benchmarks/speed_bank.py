"""The bank and raw FAISS, side by side on the same vectors and texts."""

from __future__ import annotations

import itertools
import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from benchmarks.speed_lessons import Float32, StubEmbedder, Texts, texts
from benchmarks.speed_minilm import with_minilm
from benchmarks.speed_timing import disk_bytes, each_ms, median, p95
from reasoningbank import ReasoningBank

K = 10
# Readers are agents: each thinks for a moment between its searches.
PAUSE = 0.02
READERS = 4

Figures = dict[str, Any]


def opened(root: Path, durability: str = "normal", embedder: StubEmbedder | None = None) -> ReasoningBank:
    """Return a handle on the bank that is measured."""
    settings = {"durability": durability}
    return ReasoningBank(root, tenant="speed", project="speed", embedder=embedder or StubEmbedder(), settings=settings)


def measure(size: int, root: Path, queries: int = 200, writes: int = 100) -> dict[str, Figures]:
    """Fill a bank with `size` lessons under `root`, and return the figures of raw FAISS and of the bank."""
    made = texts(size + 2 * writes, queries)
    stored, new = Texts(made.lessons[:size], made.queries), made.lessons[size:]
    with opened(root) as bank:
        start = time.perf_counter()
        bank.record_many(stored.lessons)
        bulk = size / (time.perf_counter() - start)
        floor, figures = _searched(bank, root, stored.queries)
        figures |= {"bulk_per_s": round(bulk), "disk_mb": round(disk_bytes(root) / 1e6, 2)}
        figures["disk_ratio"] = round(disk_bytes(root) / _payload(stored, _database(root)), 2)
        figures |= _learning(bank, made.queries[:writes])
        figures |= _writing(bank, new[:writes])
        figures["readers_p95_ratio"] = _beside_a_writer(bank, made.queries, new[writes:])
    figures |= with_minilm(root, stored)
    figures |= _durable(root, texts(size + 3 * writes, 0, seed=8).lessons[-writes:])
    figures |= _fresh_process(root, made.queries[0])
    return {"faiss": floor, "bank": figures}


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
    found = [_recalled(bank, flat, ids, query, asked[query]) for query in queries[:50]]
    figures = {"query_ms": median(whole), "query_p95_ms": p95(whole), "query_cached_ms": median(cached)}
    figures |= {"query_ratio": round(median(whole) / median(raw), 2), f"recall@{K}": round(float(np.mean(found)), 4)}
    return {"query_ms": median(raw), "query_p95_ms": p95(raw), "vectors": len(ids)}, figures


def _recalled(bank: ReasoningBank, flat: Any, ids: list[str], query: str, vector: Float32) -> float:
    """Return which share of the exact nearest memories a search by similarity returns."""
    _, rows = flat.search(vector, 4 * K)
    exact = list(dict.fromkeys(ids[row] for row in rows[0] if row >= 0))[:K]
    hits = bank.search(query, K, policy="similarity", min_confidence=0.0).memories
    return len({memory.id for memory in hits} & set(exact)) / max(1, min(len(exact), len(hits) or 1))


def _learning(bank: ReasoningBank, queries: list[str]) -> Figures:
    recalls, refs = [], []
    for query in queries:
        start = time.perf_counter()
        recall = bank.recall(query)
        recalls.append((time.perf_counter() - start) * 1e3)
        refs.append(recall)
    served = [hit.memory.id for recall in refs for hit in recall.hits][: len(queries)]
    reports = each_ms(lambda recall: bank.report("success", ref=recall.ref), refs)
    votes = each_ms(lambda memory_id: bank.feedback(memory_id, True), served)
    gets = each_ms(bank.get, served * 5)
    figures = {"recall_ms": median(recalls), "report_ms": median(reports), "report_p95_ms": p95(reports)}
    return figures | {"feedback_ms": median(votes), "feedback_p95_ms": p95(votes), "get_ms": median(gets)}


def _writing(bank: ReasoningBank, lessons: list[dict[str, Any]]) -> Figures:
    records = each_ms(lambda lesson: bank.record(**lesson), lessons)
    known = bank.list(limit=len(lessons)).memories
    deletes = each_ms(bank.delete, [memory.id for memory in known[: len(lessons) // 2]])
    return {"record_ms": median(records), "record_p95_ms": p95(records), "delete_ms": median(deletes)}


def _durable(root: Path, lessons: list[dict[str, Any]]) -> Figures:
    with opened(root, "full") as bank:
        bank.search("warm up", K)
        return {"record_durable_ms": median(each_ms(lambda lesson: bank.record(**lesson), lessons))}


def _beside_a_writer(bank: ReasoningBank, queries: list[str], lessons: list[dict[str, Any]]) -> float:
    """Return how many times longer the slowest reader's p95 is with three other readers and a writer."""
    alone = p95(_read(bank, queries))
    done = threading.Event()

    def write() -> None:
        for lesson in itertools.takewhile(lambda _: not done.is_set(), lessons):
            bank.record(**lesson)
            time.sleep(PAUSE)

    slowest: list[float] = []
    readers = [threading.Thread(target=lambda: slowest.append(p95(_read(bank, queries)))) for _ in range(READERS)]
    writer = threading.Thread(target=write)
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    done.set()
    writer.join()
    return round(max(slowest) / alone, 2)


def _read(bank: ReasoningBank, queries: list[str]) -> list[float]:
    taken = []
    for query in queries[:100]:
        taken += each_ms(lambda q: bank.search(q, K), [query])
        time.sleep(PAUSE)
    return taken


def _fresh_process(root: Path, query: str) -> Figures:
    """Open the bank in a new process: how long until it answers, and how much memory that takes."""
    command = [sys.executable, "-m", "benchmarks.speed_fresh", str(root), query]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    fresh: Figures = json.loads(printed)
    return fresh
