"""A bank and its embedder: bad texts, other models, scale, threads, forks, and an index that is only ever derived."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reasoningbank import (
    EmbedderIdentity,
    EmbedderMismatchError,
    EmbedderUnavailableError,
    EmbeddingError,
    InvalidInputError,
    MemoryNotFoundError,
    ReasoningBank,
    Source,
)
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.embed.minilm import MiniLMEmbedder
from reasoningbank.vectors.base import Float32
from tests.conftest import OpenBank


class Scripted:
    """An embedder whose vectors are chosen by words in the text; it can fail in ways that real ones do."""

    def __init__(self, name: str = "scripted", dim: int = 2, rows: Mapping[str, Sequence[float]] | None = None) -> None:
        self.identity = EmbedderIdentity(name, "1", dim, "none", normalised=False)
        self.rows = rows or {}
        self.available = True

    def embed_documents(self, texts: Sequence[str]) -> Float32:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(len(texts), -1)

    def embed_query(self, text: str) -> Float32:
        if not self.available:
            raise EmbedderUnavailableError("nobody home")
        if "raises" in text:
            raise RuntimeError("the driver gave up")
        for word, row in self.rows.items():
            if word in text:
                return np.array(row, dtype=np.float32)
        return np.array([1.0, 0.5, *[0.0] * (self.identity.dim - 2)], dtype=np.float32)


def lesson(bank: ReasoningBank, title: str, content: str = "", **options: object) -> str:
    recorded = bank.record(title, content or f"{title}: in full", outcome="success", **options)  # type: ignore[arg-type]
    return recorded.memory.id


def test_the_readme_promise_holds_with_the_defaults(tmp_path: Path) -> None:
    with ReasoningBank(tmp_path, tenant="acme", project="billing") as bank:
        bank.record("Quote paths", "Put every path in double quotes, names may contain spaces", outcome="failure")
        distilled = bank.record(
            "Pin versions", "Pin the version of each dependency", outcome="success", source=Source(how="distilled")
        )

        assert bank.search("moving files whose names have blanks breaks").hits[0].memory.title == "Quote paths"
        assert bank.search("which version of the dependencies to install").hits[0].memory.id == distilled.memory.id


def test_similarity_is_the_cosine_whatever_the_length_of_the_embedders_vectors(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=Scripted(rows={"first": [0.2, 0.0], "second": [0.6, 0.8], "query": [1.0, 0.0]}))
    lesson(bank, "first words")
    lesson(bank, "second words")

    hits = bank.search("query words", policy="similarity", min_confidence=0).hits

    assert [(hit.memory.title, pytest.approx(hit.similarity)) for hit in hits] == [
        ("first words", 1.0),
        ("second words", pytest.approx(0.6)),
    ]


def test_similarity_never_leaves_zero_to_one(open_bank: OpenBank) -> None:
    rng = np.random.default_rng(0)
    rows = {f"word{number:03}": rng.standard_normal(8).tolist() for number in range(50)}
    bank = open_bank(embedder=Scripted(dim=8, rows=rows))
    for word in rows:
        lesson(bank, word)

    for word in rows:
        assert all(0.0 <= hit.similarity <= 1.0 for hit in bank.search(word, min_confidence=0).hits)


def test_a_text_whose_vector_is_not_a_number_is_kept_found_by_keyword_and_re_embedded_later(
    open_bank: OpenBank,
) -> None:
    embedder = Scripted(rows={"config": [np.nan, np.nan]})
    bank = open_bank(embedder=embedder)
    lines = [{"title": f"lesson {number}", "content": f"words {number}"} for number in range(9)]
    lines.insert(4, {"title": "config folder", "content": "Checking the config folder next"})

    imported = bank.exchange.import_from(lines, trusted=True)

    assert (imported.created, imported.not_embedded, imported.rejected) == (10, 1, ())
    assert bank.upkeep.status().not_embedded == 1
    found = {hit.memory.title for hit in bank.search("checking the folder", limit=10, min_confidence=0).hits}
    assert "config folder" in found
    assert len(bank.search("words", limit=50, min_confidence=0, policy="similarity").hits) == 9

    embedder.rows = {}
    bank.upkeep.reembed()

    assert bank.upkeep.status().not_embedded == 0


def test_a_lesson_that_cannot_be_embedded_says_so_when_it_is_recorded(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=Scripted())

    recorded = bank.record("raises", "this raises an error in the driver", outcome="success")

    assert recorded.created
    assert "the driver gave up" in recorded.degraded[0]
    assert "found by keyword" in recorded.degraded[0]


def test_one_bad_text_of_fifty_costs_no_other(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=Scripted())
    lines = [{"id": f"m-{number}", "content": f"lesson number {number}"} for number in range(50)]
    lines[17]["content"] = "this one raises"

    imported = bank.exchange.import_from(lines, trusted=True)

    assert (imported.created, imported.not_embedded) == (50, 1)
    assert bank.get("m-17").content == "this one raises"


def test_a_query_that_cannot_be_embedded_is_searched_by_keyword_and_says_so(open_bank: OpenBank) -> None:
    embedder = Scripted()
    bank = open_bank(embedder=embedder)
    lesson(bank, "quote paths")
    embedder.available = False

    found = bank.search("quote the paths")

    assert found.hits[0].memory.title == "quote paths"
    assert "nobody home" in found.degraded[0]


def test_another_model_is_refused_with_both_names_and_widths_and_the_way_out(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=Scripted("small", 384))
    kept = lesson(bank, "quote paths")
    bank.close()
    larger = open_bank(embedder=Scripted("large", 768))

    for call in (lambda: larger.search("quote"), lambda: lesson(larger, "another"), lambda: larger.recall("quote")):
        with pytest.raises(EmbedderMismatchError, match=r"small.*384.*large.*768.*reasoningbank reembed"):
            call()
    assert larger.get(kept).title == "quote paths"

    assert larger.upkeep.reembed() == 1

    assert larger.search("quote").hits[0].memory.id == kept
    assert lesson(larger, "another") in {memory.id for memory in larger.list().memories}


def test_a_bank_moves_to_another_embedder_and_back(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=HashEmbedder(64))
    ids = [lesson(bank, title) for title in ("quote paths", "pin versions", "close files")]
    before = bank.search("quote the paths", limit=3, min_confidence=0)

    assert bank.upkeep.reembed(HashEmbedder(32)) == 3
    assert bank.search("quote the paths").hits[0].memory.id == ids[0]
    assert bank.upkeep.reembed(HashEmbedder(64)) == 3

    assert bank.search("quote the paths", limit=3, min_confidence=0) == before


def test_a_move_that_fails_half_way_leaves_the_bank_as_it_was_and_goes_on_later(open_bank: OpenBank) -> None:
    bank = open_bank(embedder="hash")
    kept = lesson(bank, "quote paths")
    target = Scripted("target")
    target.available = False

    with pytest.raises(EmbedderUnavailableError):
        bank.upkeep.reembed(target)

    assert bank.search("quote the paths").hits[0].memory.id == kept
    lesson(bank, "pin versions")
    target.available = True
    assert bank.upkeep.reembed(target) == 2
    assert bank.upkeep.status().not_embedded == 0


def test_a_move_never_leaves_fewer_with_vectors_than_before(open_bank: OpenBank) -> None:
    bank = open_bank(embedder="hash")
    for title in ("quote paths", "what raises is not embedded", "pin versions"):
        lesson(bank, title)
    before = bank.search("quote paths", limit=3, min_confidence=0)
    mute = Scripted("mute", rows={"": [0, 0]})

    with pytest.raises(EmbeddingError, match=r"1 memories \(RuntimeError: the driver gave up\); 0 are.*nothing was"):
        bank.upkeep.reembed(Scripted("target"))
    with pytest.raises(EmbeddingError, match=r"mute could not embed 3 memories \(the embedder returned zeros"):
        bank.upkeep.reembed(mute)

    assert bank.search("quote paths", limit=3, min_confidence=0) == before
    assert (bank.upkeep.status().not_embedded, bank.upkeep.status().problems) == (0, ())


def test_a_move_goes_through_when_what_fails_was_without_a_vector_before(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=Scripted())
    lesson(bank, "quote paths")
    lesson(bank, "what raises is not embedded")

    assert bank.upkeep.reembed(Scripted("target")) == 1
    assert bank.upkeep.status().not_embedded == 1


def test_a_bank_whose_embedder_never_worked_says_so_and_re_embedding_does_not_pretend(open_bank: OpenBank) -> None:
    bank = open_bank(embedder=Scripted(rows={"": [0, 0]}))
    lesson(bank, "quote paths")

    assert "1 memories are not embedded" in bank.upkeep.status().problems[0]
    assert "cannot be used: scripted: the embedder returned zeros" in bank.upkeep.doctor()[-1].what
    with pytest.raises(EmbeddingError, match="could not embed 1 memories"):
        bank.upkeep.reembed()


def test_a_bank_remembers_its_embedder(open_bank: OpenBank) -> None:
    first = open_bank(embedder="hash")
    kept = lesson(first, "quote paths")
    other = open_bank(embedder=None)

    assert other.search("quote paths").hits[0].memory.id == kept
    assert other.upkeep.status().embedder.startswith("hash")
    first.upkeep.reembed("minilm")
    assert other.search("quote paths").hits[0].memory.id == kept
    assert open_bank(project="new", embedder=None).upkeep.status().embedder.startswith("minilm")


def test_the_embedder_of_another_bank_is_named_by_status_and_doctor(open_bank: OpenBank) -> None:
    lesson(open_bank(embedder="hash"), "quote paths")
    other = open_bank(embedder=Scripted())

    assert "embedder='hash' (--embedder hash)" in other.upkeep.status().problems[0]
    assert "embedder='hash'" in other.upkeep.doctor(dry_run=True)[0].what


def test_a_bank_whose_embedder_no_name_opens_asks_for_it(open_bank: OpenBank) -> None:
    kept = lesson(open_bank(embedder=Scripted("ours")), "quote paths")
    other = open_bank(embedder=None)

    with pytest.raises(EmbedderMismatchError, match=r"'ours', an embedder that no name opens.*as embedder"):
        other.search("quote paths")
    assert "'ours'" in other.upkeep.status().problems[0]
    assert "'ours'" in other.upkeep.doctor()[0].what
    assert other.get(kept).title == "quote paths"


def test_another_process_learns_of_the_move_at_its_next_call(open_bank: OpenBank) -> None:
    mover, other = open_bank(embedder=HashEmbedder(64)), open_bank(embedder=HashEmbedder(64))
    lesson(mover, "quote paths")
    other.search("quote")

    mover.upkeep.reembed(HashEmbedder(32))

    with pytest.raises(EmbedderMismatchError):
        other.search("quote")
    with pytest.raises(EmbedderMismatchError):
        lesson(other, "never stored with the old vectors")


def test_a_filter_never_eats_the_one_memory_that_fits_it(open_bank: OpenBank) -> None:
    rows = {"noise": [1.0, 0.01], "gold": [0.8, 0.6], "query": [1.0, 0.0]}
    bank = open_bank(embedder=Scripted(rows=rows))
    bank.exchange.import_from(
        [{"title": f"noise {number}", "content": f"noise lesson {number}", "tags": ["noise"]} for number in range(500)]
    )
    gold = lesson(bank, "gold", tags=["gold"])

    assert [hit.memory.id for hit in bank.search("query", limit=5, tags=["gold"]).hits] == [gold]


def test_after_a_deletion_every_memory_keeps_its_own_text(open_bank: OpenBank) -> None:
    bank = open_bank()
    first, _, third = (lesson(bank, title) for title in ("quote paths", "pin versions", "close files"))

    bank.delete(first)

    hit = bank.search("close files", min_confidence=0).hits[0]
    assert (hit.memory.id, hit.memory.title, hit.memory.content) == (third, "close files", "close files: in full")
    assert len(bank.search("files", limit=10, min_confidence=0, policy="mmr").hits) <= 2


@pytest.mark.parametrize("wrong", ["7", " 7 ", "1", "00000000-0000-0000-0000-000000000000"])
def test_deleting_by_another_id_deletes_nothing(open_bank: OpenBank, wrong: str) -> None:
    bank, other = open_bank(), open_bank(project="payroll")
    for number in range(9):
        lesson(bank, f"lesson {number}")
    foreign = lesson(other, "of another project")

    for memory_id in (wrong, foreign):
        with pytest.raises(MemoryNotFoundError):
            bank.get(memory_id)
        bank.delete(memory_id)

    assert bank.count() == 9
    assert other.count() == 1


@pytest.mark.parametrize("number", [7, 1, 1.0, None, b"7"])
def test_an_id_is_a_text_and_never_the_number_of_a_row(open_bank: OpenBank, number: Any) -> None:
    bank = open_bank()
    for title in ("quote paths", "pin versions"):
        lesson(bank, title)

    for call in (bank.delete, bank.get, bank.upkeep.archive):
        with pytest.raises(InvalidInputError):
            call(number)
    assert bank.count() == 2


def test_nothing_derived_and_nothing_pickled_lies_in_the_folder(open_bank: OpenBank, tmp_path: Path) -> None:
    bank = open_bank()
    lesson(bank, "quote paths")
    folder = Path(bank.upkeep.status().folder)
    planted = folder / "index.pkl"
    planted.write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    (folder / "index.faiss").write_bytes(b"not an index")
    bank.close()

    found = open_bank().search("quote the paths")

    assert found.hits[0].memory.title == "quote paths"
    assert not (tmp_path / "ran").exists()
    files = {file.relative_to(folder).parts[0] for file in folder.rglob("*") if file.is_file()}
    assert files <= {"bank.sqlite3", "bank.sqlite3-wal", "bank.sqlite3-shm", "signals", "index.pkl", "index.faiss"}


def test_the_default_embedder_opens_and_searches_without_a_connection(tmp_path: Path, socket_disabled: None) -> None:
    with ReasoningBank(tmp_path, tenant="acme", project="billing") as bank:
        bank.record("Quote paths", "Put paths in quotes", outcome="failure")

        assert bank.search("quote the paths").hits


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_bank_that_was_used_before_a_fork_works_on_both_sides_of_it(tmp_path: Path) -> None:
    bank = ReasoningBank(tmp_path, tenant="acme", project="billing")
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    bank.search("quote the paths")

    def child() -> None:
        signal.alarm(30)
        bank.record("Pin versions", "Pin each dependency's version", outcome="success")
        found = bank.search("another question about quoting paths")
        os._exit(0 if found.hits[0].memory.title == "Quote paths" else 1)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(40)

    assert process.exitcode == 0
    assert bank.search("which version of the dependencies to install").hits[0].memory.title == "Pin versions"
    bank.close()


def re_embedded_in_little_memory(root: Path, memories: int) -> None:
    """Runs in a process of its own; its exit code says what went wrong."""
    words = ("deploy", "rollback", "retries", "timeout", "migration", "缓存", "naïve", "C++", "#417")
    bank = ReasoningBank(root, tenant="acme", project="billing", embedder="hash")
    bank.exchange.import_from(
        {"title": f"lesson {n}", "content": " ".join(words[(n * i) % 9] for i in range(5000))[:20_000]}
        for n in range(memories)
    )
    embedder = MiniLMEmbedder(threads=1)
    peaks = []
    for target in (embedder, HashEmbedder(), embedder):
        bank.upkeep.reembed(target)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    if peaks[-1] > 1000:
        os._exit(2)
    if peaks[-1] > peaks[0] * 1.1 + 20:
        os._exit(3)
    os._exit(0 if bank.upkeep.status().not_embedded == 0 else 4)


@pytest.mark.parametrize("memories", [8, pytest.param(300, marks=[pytest.mark.exhaustive, pytest.mark.timeout(900)])])
def test_long_texts_are_re_embedded_within_a_gigabyte_and_no_run_takes_more_than_the_one_before(
    tmp_path: Path, memories: int
) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=re_embedded_in_little_memory, args=(tmp_path, memories)
    )
    process.start()
    process.join(880)

    assert process.exitcode == 0


@pytest.mark.parametrize("title", ["Migrations", "Before the tests"])
def test_a_paraphrase_is_reported_and_a_lesson_that_only_shares_words_is_not(tmp_path: Path, title: str) -> None:
    with ReasoningBank(tmp_path, tenant="acme", project="billing") as bank:
        first = lesson(bank, title, "Run migrations before tests")
        for again in ("Run migrations before tests", "run  MIGRATIONS before tests."):
            assert not bank.record(title, again, outcome="success").created

        paraphrase = bank.record(title, "Before running the tests, run the migrations", outcome="success")
        different = bank.record("Linting", "Run the tests only after the linter passes", outcome="success")

    assert (paraphrase.created, paraphrase.possible_duplicate_of) == (True, first)
    assert (different.created, different.possible_duplicate_of) == (True, None)
