"""Embeddings from OpenAI, or from any endpoint that speaks its language."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.errors import EmbedderUnavailableError, EmbeddingError, MissingExtraError
from reasoningbank.forks import renew_after_fork
from reasoningbank.vectors.base import Float32, unit_rows

try:
    import openai
except ImportError as missing:
    raise MissingExtraError("the openai embedder", "openai") from missing

# Widths that need no request to be known.
PUBLISHED_DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
BATCH_TEXTS = 128
BATCH_CHARACTERS = 200_000  # a request takes 300,000 tokens; a token may be as short as a character


class OpenAIEmbedder:
    """Vectors of an embedding model behind an OpenAI-compatible endpoint. Texts are sent there.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint; by default what the SDK finds (`OPENAI_BASE_URL`, or OpenAI itself). The SDK reads the
            key from `OPENAI_API_KEY`.
        dimensions: ask for shorter vectors, where the model can.
        timeout: seconds for one request.
        width: of the vectors that a bank holds of this model: known without a request, also while nothing answers.
        retries: of one request, with the SDK's growing pauses; only for what may pass (connection, 408, 409, 429, 5xx).

    Raises:
        MissingExtraError: importing this module, without the extra `openai`.
        EmbedderUnavailableError: no key, no connection, or an endpoint that refuses whatever the text.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        dimensions: int | None = None,
        width: int | None = None,
        timeout: float = 30.0,
        retries: int = 2,
    ) -> None:
        self._model, self._dimensions, self._width = model, dimensions, width
        self._base_url, self._timeout, self._retries = base_url, timeout, retries
        self._lock = threading.Lock()
        self._opened: openai.OpenAI | None = None
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Connect anew: two processes must not write into one connection."""
        self._opened, self._lock = None, threading.Lock()

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """The model and its width; an unknown model is asked once, with one word."""
        known = self._dimensions or self._width or PUBLISHED_DIMS.get(self._model)
        dim = known or self._request(["width"]).shape[1]
        return EmbedderIdentity(name=f"openai:{self._model}", revision="", dim=dim, pooling="none", normalised=True)

    def warm(self) -> None:
        """Send one request, so that a wrong key or address shows now."""
        self._request(["warm"])

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text, in order; zeros for a blank one, which endpoints refuse."""
        dim = self.identity.dim
        vectors = np.zeros((len(texts), dim), dtype=np.float32)
        for batch in _batches(texts):
            rows = self._request([texts[position] for position in batch])
            if rows.shape[1] != dim:
                name = self.identity.name
                raise EmbedderUnavailableError(
                    f"{name} answers with vectors of {rows.shape[1]} numbers now, not of {dim}: check OPENAI_BASE_URL, "
                    f"or embed everything anew: reasoningbank reembed --embedder {name}"
                )
            vectors[batch] = rows
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Float32:
        """Return the vector that a document of this text has."""
        vector: Float32 = self.embed_documents([text])[0]
        return vector

    def _request(self, texts: list[str]) -> Float32:
        # Floats, not base64: the SDK's default is not understood by all that call themselves compatible.
        shorter: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}
        try:
            create = self._client().embeddings.create
            answer = create(model=self._model, input=texts, encoding_format="float", **shorter)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            raise EmbeddingError(f"openai:{self._model} refused a text: {error}") from error
        except openai.OpenAIError as error:
            raise EmbedderUnavailableError(
                f"openai:{self._model} does not answer ({type(error).__name__}: {error}): check OPENAI_API_KEY, "
                f"OPENAI_BASE_URL and the model's name"
            ) from error
        rows = sorted(answer.data, key=lambda entry: entry.index)
        if [entry.index for entry in rows] != list(range(len(texts))):
            raise EmbeddingError(f"openai:{self._model} answered {len(rows)} vectors for {len(texts)} texts")
        return np.array([entry.embedding for entry in rows], dtype=np.float32)

    def _client(self) -> openai.OpenAI:
        with self._lock:
            if self._opened is None:
                self._opened = openai.OpenAI(base_url=self._base_url, timeout=self._timeout, max_retries=self._retries)
            return self._opened


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Group positions of texts that are not blank, in order, within what a request takes."""
    batch: list[int] = []
    characters = 0
    for position, text in enumerate(texts):
        if not text.strip():
            continue
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(position)
        characters += len(text)
    if batch:
        yield batch
