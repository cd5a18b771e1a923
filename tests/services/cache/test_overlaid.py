"""A bank whose vectors a lax engine holds: it answers as one that keeps them itself, whatever the engine does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.results import SearchResult
from reasoningbank.services.cache import overlaid
from reasoningbank.storage import told
from reasoningbank.vectors.base import Float32, Int64
from reasoningbank.vectors.remote import AwayError, Part, open_engine
from tests.conftest import OpenBank
from tests.services.cache.moody import Moody, cache_of, part_of, tell

ADDRESSES = {"Qdrant": "qdrant://:memory:", "Milvus": "milvus://{folder}/m.db"}
WORDS = ["cache", "index", "retry", "shard", "token", "queue", "trace", "batch", "lease", "quota", "patch", "merge"]


@pytest.fixture(params=list(ADDRESSES.values()), ids=list(ADDRESSES))
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    # One file for all tests: each has a part of its own.
    return str(request.param).format(folder=tmp_path_factory.getbasetemp())


@pytest.fixture
def engine(address: str, monkeypatch: pytest.MonkeyPatch, written: Callable[[], None]) -> Moody:
    """The engine, which is told nothing but when `written` or the test says so."""
    monkeypatch.setattr(overlaid, "TELL", 8)
    moody = Moody(open_engine(address))
    moody.given_to(monkeypatch)
    return moody


@pytest.fixture
def beside(engine: Moody, address: str, open_bank: OpenBank, written: Callable[[], None]) -> ReasoningBank:
    """A bank whose 20 lessons the engine has and shows."""
    bank = open_bank(settings={"vectors": address})
    for number in range(20):
        record(bank, number)
    bank.search("cache")
    written()
    engine.now += told.LAG
    return bank


def record(bank: ReasoningBank, number: int) -> str:
    said = Random(number).sample(WORDS, 6)
    return bank.record(f"{number}: {' '.join(said[:3])}", " ".join(said[3:]), outcome="success").memory.id


def shown(result: SearchResult) -> list[tuple[str, float]]:
    assert result.degraded == ()
    return [(hit.memory.id, hit.score) for hit in result.hits]


@pytest.mark.parametrize("searches", [30, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_searches_right_after_writes_find_what_exact_ones_find(
    engine: Moody, address: str, open_bank: OpenBank, written: Callable[[], None], searches: int
) -> None:
    bank, exact = open_bank(settings={"vectors": address}), open_bank(settings={"vectors": "kept"})
    random, ids, same = Random(7), [record(bank, number) for number in range(20)], 0
    for number in range(20, 20 + searches):
        ids.append(record(bank, number))
        if random.random() < 0.5:
            bank.delete(ids.pop(random.randrange(len(ids))))
        if random.random() < 0.3:
            bank.update(random.choice(ids), content=" ".join(random.sample(WORDS, 4)))
        query = " ".join(random.sample(WORDS, 2))
        same += shown(bank.search(query)) == shown(exact.search(query))
        written()
        engine.now += 25.0

    assert same == searches
    assert engine.asked > searches / 2


def test_what_the_engine_shows_is_held_no_longer(engine: Moody, beside: ReasoningBank) -> None:
    assert len(shown(beside.search("cache"))) > 5
    held = cache_of(beside)._filled
    assert held is not None
    assert len(held.index) == 0
    assert engine.asked == 1

    record(beside, 20)
    beside.search("cache")
    assert len(held.index) == 1


def test_a_new_process_reads_only_what_came_since(
    engine: Moody, beside: ReasoningBank, address: str, open_bank: OpenBank
) -> None:
    record(beside, 20)
    other = open_bank(settings={"vectors": address})
    found = shown(other.search("cache trace"))

    held = cache_of(other)._filled
    assert held is not None
    assert len(held.index) == 1
    assert found == shown(open_bank(settings={"vectors": "kept"}).search("cache trace"))


def test_filters_are_asked_of_the_engine_only_where_many_pass(
    engine: Moody, beside: ReasoningBank, monkeypatch: pytest.MonkeyPatch, open_bank: OpenBank
) -> None:
    exact = open_bank(settings={"vectors": "kept"})
    few = shown(beside.search("cache trace", outcome="success"))
    assert engine.asked == 0
    monkeypatch.setattr("reasoningbank.vectors.overlaid.GATHERED", 3)

    assert shown(beside.search("cache trace", outcome="success")) == few
    assert few == shown(exact.search("cache trace", outcome="success"))
    assert engine.asked == 1


def test_an_engine_that_is_away_is_missed_in_words_and_catches_up(
    engine: Moody, beside: ReasoningBank, open_bank: OpenBank, written: Callable[[], None]
) -> None:
    engine.away = True
    new = record(beside, 20)
    found = beside.search(beside.get(new).content)

    assert "did not answer (nobody listens there)" in found.degraded[0]
    assert new in [hit.memory.id for hit in found.hits]
    by_words = [hit.keyword for hit in found.hits if hit.memory.id != new]
    assert by_words
    assert min(by_words) > 0
    assert beside.recall("cache trace").degraded == found.degraded
    tell(beside)

    for number in range(21, 30):
        record(beside, number)
    engine.away = False
    assert beside.search("cache trace").degraded == found.degraded, "it is not asked again at once"
    engine.now += told.LAG
    exact = open_bank(settings={"vectors": "kept"})
    assert shown(beside.search("cache trace")) == shown(exact.search("cache trace"))
    written()
    engine.now += told.LAG
    assert shown(beside.search("cache trace")) == shown(exact.search("cache trace"))
    held = cache_of(beside)._filled
    assert held is not None
    assert len(held.index) == 0


def test_an_engine_that_is_away_from_the_first_is_missed_by_nobody(
    engine: Moody, address: str, open_bank: OpenBank, written: Callable[[], None]
) -> None:
    engine.away = True
    bank = open_bank(settings={"vectors": address})
    for number in range(20):
        record(bank, number)
    bank.search("cache")
    written()

    assert len(shown(bank.search("cache trace"))) == 10


def test_an_engine_that_cannot_be_opened_is_away(
    beside: ReasoningBank, engine: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(address: str) -> None:
        raise AwayError("no such host")

    monkeypatch.setattr(overlaid, "open_engine", refuse)

    assert "no such host" in beside.search("cache").degraded[0]


def test_what_an_engine_lost_is_told_anew(
    engine: Moody, beside: ReasoningBank, address: str, open_bank: OpenBank, written: Callable[[], None]
) -> None:
    lost = part_of(beside)
    assert len(engine.ids(lost)) == 20
    engine.engine.drop(lost)
    other = open_bank(settings={"vectors": address})
    exact = shown(open_bank(settings={"vectors": "kept"}).search("cache trace"))

    assert shown(other.search("cache trace")) == exact
    assert engine.asked == 0
    engine.now += told.LAG
    assert shown(other.search("cache trace")) == exact
    written()
    engine.now += told.LAG

    assert shown(other.search("cache trace")) == exact
    assert engine.asked == 1
    assert part_of(other) != lost


def test_vectors_of_another_embedder_are_in_another_collection_and_the_old_ones_go(
    engine: Moody, beside: ReasoningBank, written: Callable[[], None]
) -> None:
    old = part_of(beside)
    beside.upkeep.reembed(HashEmbedder(dim=64))
    beside.search("cache trace")
    written()
    engine.now += told.LAG

    assert len(shown(beside.search("cache trace"))) == 10
    new = part_of(beside)
    assert (new.dim, len(engine.ids(new))) == (64, 20)
    assert new.collection != old.collection
    assert engine.ids(old) == set()


def test_a_copy_of_a_bank_has_its_own_part(
    engine: Moody, beside: ReasoningBank, address: str, open_bank: OpenBank, tmp_path: Path
) -> None:
    shutil.copytree(tmp_path / "root", tmp_path / "copy")
    copy = open_bank(root=tmp_path / "copy", settings={"vectors": address})
    tell(copy)

    assert part_of(copy).key != part_of(beside).key
    engine.now += told.LAG
    assert engine.ids(part_of(copy)) == engine.ids(part_of(beside))


def test_what_another_process_took_out_meanwhile_is_not_put_back(
    engine: Moody, beside: ReasoningBank, address: str, open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = [record(beside, number) for number in range(20, 30)]
    other = open_bank(settings={"vectors": address})
    put = engine.put

    def slow(part: Part, ids: Int64, rows: Float32) -> None:
        monkeypatch.setattr(engine, "put", put)
        tell(other)
        engine.now += told.LAG
        other.delete(new[0])
        tell(other)
        put(part, ids, rows)

    monkeypatch.setattr(engine, "put", slow)
    tell(beside)
    engine.now += told.LAG

    with beside._engine.read() as view:
        stored = {row[0] for row in view.execute("SELECT id FROM vectors")}
    assert engine.ids(part_of(beside)) == stored


def test_of_two_that_tell_a_bank_for_the_first_time_one_takes_its_part_back(
    engine: Moody, address: str, open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, other = open_bank(settings={"vectors": address}), open_bank(settings={"vectors": address})
    for number in range(10):
        record(bank, number)
    put, parts = engine.put, list[Part]()

    def slow(part: Part, ids: Int64, rows: Float32) -> None:
        parts.append(part)
        if len(parts) == 1:
            tell(other)
        put(part, ids, rows)

    monkeypatch.setattr(engine, "put", slow)
    tell(bank)
    engine.now += told.LAG

    late, first = parts
    assert part_of(bank) == first
    assert [len(engine.ids(part)) for part in (first, late)] == [10, 0]


def test_a_deleted_project_is_taken_out_of_the_engine(
    engine: Moody, beside: ReasoningBank, bank_root: Path | str, caplog: pytest.LogCaptureFixture
) -> None:
    part = part_of(beside)
    assert len(engine.ids(part)) == 20
    beside.close()

    BankRoot(bank_root, tenant="acme").delete_project("billing")
    engine.now += told.LAG

    assert engine.ids(part) == set()


def test_a_project_can_be_deleted_while_the_engine_is_away(
    engine: Moody, beside: ReasoningBank, bank_root: Path | str, caplog: pytest.LogCaptureFixture
) -> None:
    key = part_of(beside).key
    beside.close()
    engine.away = True

    BankRoot(bank_root, tenant="acme").delete_project("billing")

    assert key in caplog.text


def test_no_engine_is_loaded_unless_it_is_asked_for(tmp_path: Path) -> None:
    code = (
        "import sys, reasoningbank as r\n"
        f"with r.ReasoningBank({str(tmp_path)!r}, tenant='t', project='p', embedder='hash') as bank:\n"
        "    bank.record('A', 'b c', outcome='success'); bank.search('b')\n"
        "found = [m for m in sys.modules if m.startswith(('qdrant', 'pymilvus', 'milvus', 'grpc'))]\n"
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
