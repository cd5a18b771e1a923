"""Models by name: a cache that outlives a restart, no connection once it is filled, the same vectors as fastembed's."""

from __future__ import annotations

import importlib.resources
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.text.custom_text_embedding import CustomTextEmbedding

from reasoningbank.config import model_folder
from reasoningbank.embed import fastembed, minilm
from reasoningbank.embed.fastembed import FastEmbedEmbedder
from reasoningbank.embed.minilm import MiniLMEmbedder, installed_weights
from reasoningbank.embed.named import open_embedder
from reasoningbank.errors import InvalidInputError, ModelFileError

NAME = "tests/MiniLM"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module", autouse=True)
def catalogue() -> Iterator[None]:
    """Put a model into fastembed's catalogue whose files are already installed."""
    TextEmbedding.add_custom_model(
        NAME,
        PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="tests/minilm-onnx"),
        dim=384,
        model_file="model.onnx",
    )
    yield
    del CustomTextEmbedding.SUPPORTED_MODELS[-1]
    del CustomTextEmbedding.POSTPROCESSING_MAPPING[NAME]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder as a download leaves it."""
    cache = tmp_path_factory.mktemp("models")
    model = cache / "models--tests--minilm-onnx"
    snapshot = model / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(REVISION)
    for file in (importlib.resources.files("reasoningbank.embed") / "minilm_files").iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())
    shutil.copy(installed_weights(), snapshot / "model.onnx")
    return cache


def test_a_filled_cache_needs_no_connection(filled: Path, socket_disabled: None) -> None:
    embedder = FastEmbedEmbedder(NAME, cache=filled)
    embedder.warm()

    near, far = embedder.embed_documents(["Quote file names with blanks", "Bake bread at 230 degrees"])
    query = embedder.embed_query("rename files whose names contain spaces")

    assert near @ query > 0.4 > far @ query


def test_with_even_weights_the_default_model_gives_the_vectors_that_fastembed_gives(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "token_weights", lambda tokens: np.ones(tokens, dtype=np.float32))
    texts = ["short", "数据库 连接", "a longer text about retries with exponential backoff " * 60, "🙂 C++ #417"]

    ours = MiniLMEmbedder().embed_documents(texts)
    theirs = FastEmbedEmbedder(NAME, cache=filled).embed_documents(texts)

    assert (ours * theirs).sum(axis=1).tolist() == pytest.approx([1.0] * len(texts), abs=1e-4)


def test_blank_texts_and_lone_surrogates_do_no_harm(filled: Path) -> None:
    embedder = FastEmbedEmbedder(NAME, cache=filled)

    assert embedder.embed_documents(["", "word", " ", "\ud83d"]).any(axis=1).tolist() == [False, True, False, True]
    assert not embedder.embed_query(" ").any()
    assert embedder.embed_query("\ud83d x").any()
    assert embedder.embed_documents([]).shape == (0, 384)


def test_a_text_is_cut_where_memory_and_time_would_grow_with_its_square(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fastembed, "WINDOW", 64)
    embedder = FastEmbedEmbedder(NAME, cache=filled)
    beginning = "retry with backoff " * 80

    query = embedder.embed_query(beginning + "bread")

    assert query @ embedder.embed_query(beginning + "stone") == pytest.approx(1.0, abs=1e-6)
    assert query @ embedder.embed_documents(["!" * 9000, beginning + "bread"])[1] == pytest.approx(1.0, abs=1e-4)


def test_names_are_found_in_any_case_and_known_by_the_catalogues_spelling(filled: Path) -> None:
    identity = FastEmbedEmbedder(NAME.upper(), cache=filled).identity

    assert (identity.name, identity.dim, identity.revision) == (NAME, 384, "tests/minilm-onnx")


def test_the_identity_needs_no_download() -> None:
    identity = open_embedder("BAAI/bge-small-en-v1.5").identity

    assert (identity.name, identity.dim, identity.pooling) == ("BAAI/bge-small-en-v1.5", 384, "cls")
    assert open_embedder("sentence-transformers/all-MiniLM-L6-v2").identity.pooling == "mean"


def test_an_unknown_name_is_refused_with_near_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"no embedder is called 'bge-small-en'.*BAAI/bge-small-en"):
        open_embedder("bge-small-en")
    with pytest.raises(InvalidInputError, match=r"'minilm', 'hash', 'openai:<model>' or a fastembed model$"):
        open_embedder("0000000000")


def test_a_model_that_cannot_be_fetched_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(ModelFileError, match=rf"tests/MiniLM is not in {tmp_path}.*connect once"):
        FastEmbedEmbedder(NAME, cache=tmp_path).embed_query("text")


def test_without_a_connection_the_first_try_is_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, socket_disabled: None
) -> None:
    slept: list[float] = []
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("fastembed.common.model_management.time.sleep", slept.append)
    monkeypatch.setattr(CustomTextEmbedding, "download_files_from_huggingface", _unreachable)

    with pytest.raises(ModelFileError, match=rf"tests/MiniLM is not in {tmp_path}.*connect once"):
        FastEmbedEmbedder(NAME, cache=tmp_path).warm()
    assert sum(slept) <= 3.0


def _unreachable(*_: object, **__: object) -> str:
    raise ConnectionError("the hub is out of reach")


def test_models_do_not_lie_in_the_temporary_folder() -> None:
    assert not model_folder({}).is_relative_to(tempfile.gettempdir())
    assert model_folder({"FASTEMBED_CACHE_PATH": "/srv/models"}) == Path("/srv/models")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_after_the_first_use_embeds_and_does_not_hang(filled: Path) -> None:
    embedder = FastEmbedEmbedder(NAME, cache=filled, threads=2)
    before = embedder.embed_query("loaded before the fork")

    def child() -> None:
        signal.alarm(20)
        os._exit(0 if np.allclose(embedder.embed_query("loaded before the fork"), before, atol=1e-4) else 1)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)

    assert process.exitcode == 0
