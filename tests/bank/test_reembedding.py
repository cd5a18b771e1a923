"""Moving a bank to another embedder, remembering which one is its own, and saying when that cannot work."""

from __future__ import annotations

import pytest

from reasoningbank import EmbedderMismatchError, EmbedderUnavailableError, EmbeddingError
from reasoningbank.embed.hashing import HashEmbedder
from tests.bank.embedders import Scripted, lesson
from tests.conftest import OpenBank


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
