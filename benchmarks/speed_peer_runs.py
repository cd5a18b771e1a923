"""One peer's run, by that peer's own Python: it knows nothing of the bank, so nothing of it is imported here.

python speed_peer_runs.py NAME VECTORS.npz FOLDER
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

K = 10
RECORDS = 10


class Given:
    """The texts with their vectors, and the stub embedder's look-up of both."""

    def __init__(self, path: Path) -> None:
        arrays, said = np.load(path), json.loads(path.with_suffix(".json").read_text("utf-8"))
        self.texts, self.queries = said["texts"], said["queries"]
        self.vectors, self.asked = arrays["vectors"], arrays["queries"]
        self._rows = dict(zip(self.texts, self.vectors.tolist(), strict=True))
        self._rows.update(zip(self.queries, self.asked.tolist(), strict=True))

    def embed(self, text: str) -> list[float]:
        """Return the vector of a text that was given; another text gets that of the first."""
        found: list[float] = self._rows.get(text) or self._rows[self.texts[0]]
        return found


Peer = tuple[Callable[[], object], Callable[[str], object], Callable[[str], object]]


def mem0(given: Given, folder: Path) -> Peer:
    """Give mem0 with its FAISS store; `infer=False` keeps the model out."""
    from mem0 import Memory  # type: ignore[import-not-found,unused-ignore]

    dim = given.vectors.shape[1]
    store = {"provider": "faiss", "config": {"path": str(folder), "embedding_model_dims": dim}}
    # Neither model is ever asked, but both are made at once.
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    config = {"vector_store": store, "history_db_path": str(folder) + ".db", "embedder": unused, "llm": unused}
    memory: Any = Memory.from_config(config)

    class Stub:
        config = type("Config", (), {"embedding_dims": dim})()

        def embed(self, text: str, *_: object, **__: object) -> list[float]:
            return given.embed(text)

    memory.embedding_model = Stub()

    def record(text: str) -> object:
        return memory.add(text, user_id="u", infer=False)

    def fill() -> None:
        ids = [str(i) for i in range(len(given.texts))]
        payloads = [{"data": text, "user_id": "u"} for text in given.texts]
        memory.vector_store.insert(vectors=given.vectors.tolist(), payloads=payloads, ids=ids)

    def search(query: str) -> object:
        try:
            return memory.search(query, filters={"user_id": "u"}, top_k=K)
        except (TypeError, ValueError):
            return memory.search(query, user_id="u", limit=K)

    return fill, search, record


def langchain_faiss(given: Given, folder: Path) -> Peer:
    """Give langchain's FAISS store, saved after each record: it has no other way to keep one."""
    from langchain_community.vectorstores import FAISS  # type: ignore[import-not-found,unused-ignore]
    from langchain_core.embeddings import Embeddings

    class Stub(Embeddings):
        def embed_query(self, text: str) -> list[float]:
            return given.embed(text)

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [given.embed(text) for text in texts]

    made: list[Any] = []

    def fill() -> None:
        made.append(FAISS.from_embeddings(zip(given.texts, given.vectors.tolist(), strict=True), Stub()))
        made[0].save_local(str(folder))

    def record(text: str) -> None:
        made[0].add_texts([text])
        made[0].save_local(str(folder))

    return fill, lambda query: made[0].similarity_search(query, k=K), record


def langgraph_sqlite(given: Given, folder: Path) -> Peer:
    """Give langgraph's SQLite store."""
    import sqlite3

    from langgraph.store.base import PutOp
    from langgraph.store.sqlite import SqliteStore

    connection = sqlite3.connect(f"{folder}.sqlite3", check_same_thread=False, isolation_level=None)
    embed = lambda texts: [given.embed(text) for text in texts]  # noqa: E731 - the store takes a function
    store: Any = SqliteStore(connection, index={"dims": given.vectors.shape[1], "embed": embed, "fields": ["text"]})
    store.setup()

    def fill() -> None:
        for start in range(0, len(given.texts), 200):
            batch = given.texts[start : start + 200]
            store.batch([PutOp(("u",), str(start + i), {"text": text}) for i, text in enumerate(batch)])

    def search(query: str) -> object:
        return store.search(("u",), query=query, limit=K)

    return fill, search, lambda text: store.put(("u",), text[:40], {"text": text})


def chroma(given: Given, folder: Path) -> Peer:
    """Give chroma, persistent, with vectors given."""
    import chromadb  # type: ignore[import-not-found,unused-ignore]

    collection: Any = chromadb.PersistentClient(path=str(folder)).create_collection("speed", embedding_function=None)

    def fill() -> None:
        for start in range(0, len(given.texts), 1000):
            end = start + 1000
            ids = [str(i) for i in range(start, min(end, len(given.texts)))]
            collection.add(ids=ids, embeddings=given.vectors[start:end], documents=given.texts[start:end])

    def search(query: str) -> object:
        return collection.query(query_embeddings=[given.embed(query)], n_results=K)

    def record(text: str) -> None:
        collection.add(ids=[f"new {time.perf_counter_ns()}"], embeddings=[given.embed(text)], documents=[text])

    return fill, search, record


PEERS = {"mem0": mem0, "langchain-faiss": langchain_faiss, "langgraph-sqlite": langgraph_sqlite, "chroma": chroma}


def each_ms(call: Callable[[str], object], arguments: list[str]) -> list[float]:
    """Return the milliseconds that each call took."""
    taken = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def main(name: str, vectors: str, folder: str) -> None:
    """Fill the peer, ask it, store some more, and print the figures as JSON."""
    given = Given(Path(vectors))
    fill, search, record = PEERS[name](given, Path(folder))
    start = time.perf_counter()
    fill()
    filled = time.perf_counter() - start
    search(given.queries[0])
    taken = each_ms(search, given.queries)
    records = each_ms(record, [f"{text} once more" for text in given.texts[:RECORDS]])
    figures = {
        "query_ms": round(float(np.median(taken)), 4),
        "query_p95_ms": round(float(np.percentile(taken, 95)), 4),
        "record_ms": round(float(np.median(records)), 4),
        "bulk_per_s": round(len(given.texts) / filled),
    }
    sys.stdout.write("\n" + json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
