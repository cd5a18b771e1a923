"""Lessons, queries and vectors from a seed: realistic in length, in how words are distributed, and in cosines.

And the bank that holds them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reasoningbank import EmbedderIdentity, ReasoningBank

Float32 = npt.NDArray[np.float32]

# How many lessons a search is asked for.
K = 10
DIM = 384
SUBJECTS = 1_024
# So many lessons on one subject, that the nearest ten of a query are all on its own.
LESSONS_A_SUBJECT = 30
COMMON = """
    check run before test file error when build use fix first config call output read write path version update
    default retry timeout request response query index table column cache lock thread process queue worker token
    import module package install environment variable log line parse format value type field schema migration
    branch merge commit diff review deploy rollback container image network port host proxy certificate permission
    user session cookie header body status code loop async await deadlock memory leak batch limit page cursor
    transaction isolation constraint key join null date timezone encoding unicode regex escape quote shell script
    argument flag option step plan verify assert fixture mock client server stream buffer chunk retry backoff
""".split()  # noqa: SIM905 - a paragraph reads better than quoted words
SYLLABLES = """
    ba co da fe gi ho ju ka lo mi na or pe qui ra si tu vo wa xe yo zu bra cle dri fro gra pli ste tra
""".split()  # noqa: SIM905 - a paragraph reads better than quoted words
NOISE = 4_096
# A lesson and a query about the same subject then have a cosine of about 0.6, others about 0.1.
SUBJECT_SHARE, SHARED_BY_ALL = 1.2, 0.35


@dataclass(frozen=True, slots=True)
class Texts:
    """What a run stores and asks.

    Attributes:
        lessons: the arguments of `record`.
        queries: of about 14 words.
    """

    lessons: list[dict[str, Any]]
    queries: list[str]


def made_word(number: int) -> str:
    """Return the made-up word with this number: three syllables, none of them English."""
    base = len(SYLLABLES)
    return "".join(SYLLABLES[(number // base**place) % base] for place in range(3))


def texts(count: int, queries: int, seed: int = 7) -> Texts:
    """Make lessons and queries whose words are distributed by Zipf's law; each begins with its subject."""
    rng = np.random.default_rng(seed)
    vocabulary = COMMON + [made_word(i) for i in range(4_000)]
    weights = 1.0 / np.arange(8, len(vocabulary) + 8)
    drawn = iter(rng.choice(len(vocabulary), size=(count + queries) * 70, p=weights / weights.sum()).tolist())

    def words(n: int) -> str:
        return " ".join(vocabulary[next(drawn)] for _ in range(n))

    subjects = min(SUBJECTS, max(1, count // LESSONS_A_SUBJECT))
    lessons = [_lesson(i, words, made_word(int(s) + 5_000)) for i, s in enumerate(rng.integers(subjects, size=count))]
    asked = [f"{made_word(int(s) + 5_000)} {words(13)}" for s in rng.integers(subjects, size=queries)]
    return Texts(lessons, asked)


def _lesson(number: int, words: Any, subject: str) -> dict[str, Any]:
    return {
        "title": f"{subject} {words(5)}",
        "description": f"{subject} {words(10)}.",
        "content": f"{subject} {words(18)}. Then {words(16)} case-{number}.",
        "applies_when": f"{subject} {words(8)}" if number % 3 == 0 else "",
        "outcome": "failure" if number % 4 == 0 else "success",
        "tags": [words(1)],
    }


class StubEmbedder:
    """An embedder that looks its vectors up, in microseconds: what is measured is the bank.

    A text's vector is a point near that of its first word, the subject; which one is a matter of the text alone.
    """

    def __init__(self, dim: int = DIM) -> None:
        rng = np.random.default_rng(11)
        shared = SHARED_BY_ALL * rng.standard_normal(dim)
        self._centres = (SUBJECT_SHARE * rng.standard_normal((SUBJECTS, dim)) + shared).astype(np.float32)
        self._noise = rng.standard_normal((NOISE, dim)).astype(np.float32)
        self.identity = EmbedderIdentity("stub", "1", dim, "none", True)

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text."""
        subjects = [zlib.crc32(text.split(" ", 1)[0].encode()) % SUBJECTS for text in texts]
        rows = self._centres[subjects] + self._noise[[zlib.crc32(text.encode()) % NOISE for text in texts]]
        unit: Float32 = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        return unit

    def embed_query(self, text: str) -> Float32:
        """Return the text's unit vector."""
        row: Float32 = self.embed_documents([text])[0]
        return row


def opened(root: Path, durability: str = "normal", embedder: StubEmbedder | None = None) -> ReasoningBank:
    """Return a new handle on the bank that is measured: it has read nothing yet."""
    settings = {"durability": durability}
    return ReasoningBank(root, tenant="speed", project="speed", embedder=embedder or StubEmbedder(), settings=settings)
