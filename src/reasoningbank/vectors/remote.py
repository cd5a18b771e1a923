"""Vector engines beside the records: what is asked of one, and which an address names."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple, Protocol
from urllib.parse import parse_qs, urlsplit

from reasoningbank.config import engine_key
from reasoningbank.errors import InvalidInputError, MissingExtraError
from reasoningbank.vectors.base import Float32, Int64

PREFIX = "reasoningbank"
MEMORY = ":memory:"


class AwayError(Exception):
    """The engine did not do what it was asked: it is away, or it refused. The message says why."""


class Part(NamedTuple):
    """One project's share of a collection.

    Attributes:
        collection: holds the vectors of one embedder, of all projects.
        dim: numbers of each of its vectors.
        key: 32 hexadecimal digits that no other project has.
    """

    collection: str
    dim: int
    key: str


class VectorEngine(Protocol):
    """Holds unit vectors by part and id. What it says may be out of date by some seconds, and its scores rough.

    Safe for several threads. Every call raises AwayError when the engine cannot be asked, or refuses.
    """

    prefix: str

    def put(self, part: Part, ids: Int64, rows: Float32) -> None:
        """Put (n, dim) rows under ids, in place of what is there; the collection is made if need be."""

    def remove(self, part: Part, ids: Int64) -> None:
        """Take ids out; unknown ones are ignored."""

    def drop(self, part: Part) -> None:
        """Take out everything of a part."""

    def count(self, part: Part) -> int:
        """Return how many ids a part has; 0 where there is no collection."""

    def nearest(self, part: Part, query: Float32, k: int, allowed: Int64 | None) -> tuple[Int64, Float32]:
        """Return up to `k` ids of a part, of the `allowed` ones (None for all), and their cosines, nearest first.

        Every vector of the part is looked at: fewer than `k` mean that there are no more. Where `k` is more than the
        engine can rank, everything is returned, with cosines of -1.
        """


class EngineAddress(NamedTuple):
    """Where an engine is: `qdrant://host:6333`, `milvus+https://host`, or a folder or file of this machine.

    `qdrant://:memory:` is one that ends with the process, to try things out.

    Attributes:
        kind: "qdrant" or "milvus".
        url: of the server; empty for a local one.
        path: the folder or file of a local one, or ":memory:"; empty for a server.
        prefix: what the names of its collections begin with.
    """

    kind: str
    url: str
    path: str
    prefix: str

    @classmethod
    def of(cls, address: str) -> EngineAddress:
        """Read an address; InvalidInputError says what is wrong with it."""
        parts = urlsplit(address)
        kind, _, scheme = parts.scheme.partition("+")
        query = parse_qs(parts.query)
        if parts.netloc == MEMORY:
            return cls(kind, "", MEMORY, PREFIX)
        if parts.username or parts.password:
            raise InvalidInputError(f"a key does not belong into an engine's address: set {kind.upper()}_API_KEY")
        if query.keys() - {"collections"} or (parts.netloc and parts.path not in {"", "/"}):
            raise InvalidInputError(
                f"{address!r} is no engine's address: give {kind}://HOST:PORT or {kind}:///PATH, and ?collections=NAME"
            )
        if not parts.netloc and not parts.path:
            raise InvalidInputError(f"{address!r} names neither a server nor a path: give {kind}://HOST:PORT")
        url = f"{scheme or 'http'}://{parts.netloc}" if parts.netloc else ""
        return cls(kind, url, "" if url else parts.path, query.get("collections", [PREFIX])[-1])


def alone_in(address: EngineAddress) -> AbstractContextManager[object]:
    """Return what holds back other calls during one: a local engine bears no search beside a change."""
    return threading.Lock() if address.path else nullcontext()


@contextmanager
def asking(alone: AbstractContextManager[object]) -> Iterator[None]:
    """Call an engine's client by itself where it must be, and turn whatever it raises into AwayError."""
    try:
        with alone:
            yield
    except Exception as error:
        raise AwayError(f"{type(error).__name__}: {error}".strip()[:200]) from error


NEEDED = {"qdrant": ("vectors in Qdrant", "qdrant_client"), "milvus": ("vectors in Milvus", "pymilvus")}
"""What is said to be missing, and the package that has to be there, by kind; the extra has the kind's name."""


def checked_address(address: str) -> EngineAddress:
    """Read an address whose engine can be opened as far as it is known without asking it.

    Raises:
        InvalidInputError: this is no address of an engine.
        MissingExtraError: its package is not installed.
    """
    found = EngineAddress.of(address)
    if found.kind not in NEEDED:
        raise InvalidInputError(f"{address!r} is no engine that is known: give {' or '.join(NEEDED)}://HOST:PORT")
    what, package = NEEDED[found.kind]
    if find_spec(package) is None:
        raise MissingExtraError(what, found.kind)
    if found.kind == "milvus" and found.path:
        if not found.path.endswith(".db"):
            raise InvalidInputError(f"{address!r} names no file of milvus-lite, which ends in .db")
        if find_spec("milvus_lite") is None:
            raise MissingExtraError("a file of Milvus", "milvus-lite", "pymilvus")
    return found


def open_engine(address: str) -> VectorEngine:
    """Return the engine at an address; there is one a process. AwayError when it cannot be opened."""
    return _opened(address, os.getpid())


@lru_cache
def _opened(address: str, pid: int) -> VectorEngine:  # noqa: ARG001 - a fork shares no connection with its parent
    found = checked_address(address)
    if found.kind == "milvus":
        from reasoningbank.vectors.milvus import MilvusEngine

        return MilvusEngine(found, engine_key(found.kind))
    from reasoningbank.vectors.qdrant import QdrantEngine

    return QdrantEngine(found, engine_key(found.kind))
