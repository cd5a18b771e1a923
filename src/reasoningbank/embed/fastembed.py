"""Any model that fastembed knows, by its name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from fastembed import TextEmbedding

from reasoningbank.config import model_folder
from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.embed.batching import LocalEmbedder, batches
from reasoningbank.embed.headroom import headroom, of_run
from reasoningbank.errors import InvalidInputError, ModelFileError
from reasoningbank.vectors.base import Float32, unit_rows

# Tokens of a text that a model gets, where it would take more: memory and time go with their square.
WINDOW = 2_048
CHARACTERS_A_TOKEN = 3  # counting on the safe side: English has four or more
POOLING = {"OnnxTextEmbedding": "cls", "PooledEmbedding": "mean", "PooledNormalizedEmbedding": "mean"}


class FastEmbedEmbedder(LocalEmbedder[TextEmbedding]):
    """A fastembed model. It is downloaded from its hub at the first use, and read from disk after that.

    Args:
        model: a name of `fastembed.TextEmbedding.list_supported_models()`, in any case.
        cache: the folder for downloaded models; by default that of `config.model_folder`, which outlives a restart.
        threads: of one run; by default those of the machine, 4 at most.

    Raises:
        InvalidInputError: fastembed knows no such model; the message names near ones.
        ModelFileError: at the first use (or `warm`): the model is not on disk and could not be fetched.
    """

    def __init__(self, model: str, *, cache: Path | None = None, threads: int | None = None) -> None:
        super().__init__(threads)
        self._kind, self._described, self.identity = _described(model)
        self._cache = cache or model_folder()

    def warm(self) -> None:
        """Fetch and load the model now, so that the first query does not pay for it."""
        self._loaded()

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text, in order; zeros for a blank one."""
        model = self._loaded()
        vectors = np.zeros((len(texts), self.identity.dim), dtype=np.float32)
        readable = [_readable(model, text) for text in texts]
        for batch in batches([_tokens(text) for text in readable]):
            chosen = [readable[position] for position in batch]
            with _room_for(chosen):
                vectors[batch] = np.stack(list(model.passage_embed(chosen, batch_size=len(chosen))))
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Float32:
        """Return the (dim,) vector of a query; models that mark queries do so."""
        if not text.strip():
            return np.zeros(self.identity.dim, dtype=np.float32)
        model = self._loaded()
        readable = _readable(model, text)
        with _room_for([readable]):
            (vector,) = model.query_embed(readable)
        return unit_rows(np.asarray(vector, dtype=np.float32))

    def _load(self) -> TextEmbedding:
        name = self.identity.name
        try:
            # Asked to load a model that is not there, fastembed tries three times and sleeps 39 seconds in between.
            folder = self._kind.download_model(self._described, str(self._cache), retries=1)
            return TextEmbedding(
                name,
                cache_dir=str(self._cache),
                threads=self._threads,
                enable_cpu_mem_arena=False,
                specific_model_path=str(folder),
            )
        except (ValueError, OSError) as error:
            raise ModelFileError(
                f"{name} is not in {self._cache} and could not be fetched ({error}): connect once, or copy a "
                f"cache folder that has it there"
            ) from error


def _described(model: str) -> tuple[Any, Any, EmbedderIdentity]:
    """Return the class of fastembed's that fetches and runs a model, its entry in the catalogue, and its identity."""
    catalogue = {
        entry.model.lower(): (entry, kind)
        for kind in TextEmbedding.EMBEDDINGS_REGISTRY
        for entry in kind._list_supported_models()  # noqa: SLF001 - the public list does not tell the pooling
    }
    if model.lower() not in catalogue:
        near = difflib.get_close_matches(model.lower(), catalogue, n=3, cutoff=0.4)
        named = ", ".join(catalogue[name][0].model for name in near)
        raise InvalidInputError(
            f"no embedder is called {model!r}: it is 'minilm', 'hash', 'openai:<model>' or a fastembed model"
            + (f" such as {named}" if named else "")
        )
    entry, kind = catalogue[model.lower()]
    # The source tells re-exports of a model apart, and the class its pooling, which fastembed has changed before.
    source, pooling = entry.sources.hf or entry.sources.url or "", POOLING.get(kind.__name__, kind.__name__)
    return kind, entry, EmbedderIdentity(entry.model, source, entry.dim or 0, pooling, normalised=True)


def _tokens(text: str) -> int:
    """Return about how many tokens a text has, none for a blank one."""
    return min(len(text) // CHARACTERS_A_TOKEN + 3, WINDOW) if text.strip() else 0


def _room_for(texts: Sequence[str]) -> AbstractContextManager[None]:
    """Keep room for a run over texts of one batch."""
    return headroom.hold(of_run(len(texts), max(map(_tokens, texts))))


def _readable(model: TextEmbedding, text: str) -> str:
    """Return a text without half characters, and no more of it than `WINDOW` tokens."""
    text = text.encode("utf-8", "replace").decode()
    while len(text.encode()) > WINDOW and (tokens := model.token_count(text)) > WINDOW:
        text = text[: len(text) * WINDOW // tokens]
    return text
