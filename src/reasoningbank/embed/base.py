"""The contract of an embedder. It loads no numpy, so that it can be part of the public API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from reasoningbank.errors import InvalidInputError

if TYPE_CHECKING:
    from reasoningbank.vectors.base import Float32


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What has to be equal for two vectors to be comparable.

    Attributes:
        name: the embedder's name, as `open_embedder` takes it where it can.
        revision: of the weights or of the algorithm; "" where nobody can know it.
        dim: how many numbers a vector has.
        pooling: how token vectors became one.
        normalised: whether the embedder itself returns unit vectors. The bank normalises in either case.
    """

    name: str
    revision: str
    dim: int
    pooling: str
    normalised: bool


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Any object with these three is one; it must be safe for several threads."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What makes its vectors comparable. The same for as long as the object lives."""

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one row for each text, in order, of `identity.dim` numbers."""

    def embed_query(self, text: str) -> Float32:
        """Return the (dim,) vector that is compared with the documents'."""


def require_embedder(given: object) -> Embedder:
    """Return `given` if it keeps the contract's shape, or raise an InvalidInputError that names what is missing."""
    if isinstance(given, Embedder) and isinstance(given.identity, EmbedderIdentity):
        return given
    parts = ("identity", "embed_documents", "embed_query")
    missing = [part for part in parts if not hasattr(given, part)] or ["an EmbedderIdentity as identity"]
    raise InvalidInputError(
        f"{type(given).__name__} is not an embedder, it lacks {', '.join(missing)}: "
        f"give a name such as 'minilm', or an object with them"
    )
