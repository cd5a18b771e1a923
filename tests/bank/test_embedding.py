"""A bank and its embedder: bad texts, other models, scale, threads, forks, and an index that is only ever derived."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reasoningbank import (
    InvalidInputError,
    MemoryNotFoundError,
    ReasoningBank,
    Source,
)
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.embed.minilm import MiniLMEmbedder
from tests.bank.embedders import Scripted, lesson
from tests.conftest import OpenBank


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


@pytest.mark.folder_only
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
        for again in ("Run migrations before tests", "Run  migrations\nbefore tests "):
            assert not bank.record(title, again, outcome="success").created
        alike = bank.record(title, "run  MIGRATIONS before tests.", outcome="success")
        assert (alike.created, alike.possible_duplicate_of) == (True, first)
        bank.delete(alike.memory.id)

        paraphrase = bank.record(title, "Before running the tests, run the migrations", outcome="success")
        different = bank.record("Linting", "Run the tests only after the linter passes", outcome="success")

    assert (paraphrase.created, paraphrase.possible_duplicate_of) == (True, first)
    assert (different.created, different.possible_duplicate_of) == (True, None)
