"""Embedders by name."""

from __future__ import annotations

import threading
import weakref

from reasoningbank.embed.base import Embedder, require_embedder
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.errors import InvalidInputError, MissingLibraryError, ReasoningBankError
from reasoningbank.forks import renew_after_fork


def open_embedder(given: str | Embedder, width: int | None = None) -> Embedder:
    """Return the embedder of a name, or the object itself when it is one already.

    Args:
        given: "minilm" (the default model, nothing to download), "hash" (n-gram hashing, explicit choice and tests),
            "openai:<model>" (any OpenAI-compatible endpoint), the name of any model that fastembed knows, or an object
            with the contract of `Embedder`.
        width: of the vectors that the bank holds of it, where it holds some; an endpoint need not be asked then.

    Banks of one process that ask for one local model by name share it, for as long as one of them holds it.

    Raises:
        InvalidInputError: no embedder has this name, or the object lacks part of the contract.
        MissingExtraError: it needs a package that is not installed.
    """
    if not isinstance(given, str):
        return require_embedder(given)
    if given == "hash":
        return HashEmbedder()
    if given == "openai:":
        raise InvalidInputError("'openai:' names no model: write for instance 'openai:text-embedding-3-small'")
    if given.startswith("openai:"):
        from reasoningbank.embed.openai import OpenAIEmbedder

        return OpenAIEmbedder(given.removeprefix("openai:"), width=width)
    return _shared.opened(given)


class _Shared:
    """Local models in use, by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: weakref.WeakValueDictionary[str, Embedder] = weakref.WeakValueDictionary()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._lock = threading.Lock()

    def opened(self, name: str) -> Embedder:
        with self._lock:
            embedder = self._open.get(name)
            if embedder is None:
                embedder = self._open[name] = _local(name)
            return embedder


_shared = _Shared()


def _local(name: str) -> Embedder:
    try:
        if name == "minilm":
            from reasoningbank.embed.minilm import MiniLMEmbedder

            return MiniLMEmbedder()
        from reasoningbank.embed.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(name)
    except ReasoningBankError:
        raise
    except ImportError as missing:
        raise MissingLibraryError(missing) from missing
