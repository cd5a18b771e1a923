"""Addresses of vector engines, and what an engine does that cannot be reached."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest

from reasoningbank import ReasoningBank
from reasoningbank.errors import InvalidInputError, MissingExtraError
from reasoningbank.vectors import remote
from reasoningbank.vectors.remote import AwayError, EngineAddress, Part, checked_address, open_engine

PART = Part("c", 2, "0" * 32)
QUERY = np.array([1.0, 0.0], dtype=np.float32)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("qdrant://db:6333", EngineAddress("qdrant", "http://db:6333", "", "reasoningbank")),
        ("qdrant+https://db/?collections=team", EngineAddress("qdrant", "https://db", "", "team")),
        ("qdrant:///srv/vectors", EngineAddress("qdrant", "", "/srv/vectors", "reasoningbank")),
        ("qdrant://:memory:", EngineAddress("qdrant", "", ":memory:", "reasoningbank")),
        ("milvus://db:19530", EngineAddress("milvus", "http://db:19530", "", "reasoningbank")),
        ("milvus:///srv/vectors.db", EngineAddress("milvus", "", "/srv/vectors.db", "reasoningbank")),
    ],
)
def test_an_address_names_a_server_or_a_path(address: str, expected: EngineAddress) -> None:
    assert EngineAddress.of(address) == expected


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("qdrant://:key@db:6333", "QDRANT_API_KEY"),
        ("qdrant://db:6333/name", "qdrant://HOST:PORT"),
        ("qdrant://db:6333?names=x", "collections=NAME"),
        ("qdrant://", "neither a server nor a path"),
        ("milvus:///srv/vectors", "ends in .db"),
        ("milvus://:memory:", "ends in .db"),
        ("redis://db:6379", "no engine that is known"),
    ],
)
def test_another_address_is_refused_in_words(address: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said) as refused:
        checked_address(address)
    assert "key@" not in str(refused.value)


@pytest.mark.parametrize("vectors", ["redis://db:6379", "qdrant:/x", "elsewhere"])
def test_a_bank_refuses_what_is_no_engine(tmp_path: Path, vectors: str) -> None:
    with pytest.raises(InvalidInputError):
        ReasoningBank(tmp_path, tenant="t", project="p", settings={"vectors": vectors})


@pytest.mark.parametrize("kind", ["qdrant", "milvus"])
def test_a_missing_package_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(remote, "find_spec", lambda _: None)

    with (
        pytest.raises(MissingExtraError, match=rf"reasoningbank-core\[{kind}\]"),
        ReasoningBank(tmp_path, tenant="t", project="p", embedder="hash", settings={"vectors": f"{kind}://db"}) as bank,
    ):
        bank.search("anything")


@pytest.mark.parametrize("kind", ["qdrant", "milvus"])
def test_a_server_that_does_not_listen_is_away(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reasoningbank.vectors.milvus.TIMEOUT", 0.5)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        with pytest.raises(AwayError):
            open_engine(f"{kind}://127.0.0.1:{port}").nearest(PART, QUERY, 1, None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the client's own lock file
def test_a_folder_that_another_has_open_is_away(tmp_path: Path) -> None:
    from qdrant_client import QdrantClient

    other = QdrantClient(path=str(tmp_path / "q"))
    with pytest.raises(AwayError):
        open_engine(f"qdrant://{tmp_path / 'q'}")
    other.close()


def test_a_file_of_milvus_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "find_spec", lambda name: None if name == "milvus_lite" else name)

    with pytest.raises(MissingExtraError, match=r"pymilvus\[milvus-lite\]"):
        checked_address("milvus:///srv/vectors.db")


@pytest.mark.parametrize("address", ["qdrant://:memory:", "milvus://{}/m.db"], ids=["Qdrant", "Milvus"])
def test_a_part_holds_its_own_only(address: str, tmp_path: Path) -> None:
    engine = open_engine(address.format(tmp_path))
    ours, theirs = Part("parts", 2, "a" * 32), Part("parts", 2, "b" * 32)
    assert engine.count(ours) == 0
    assert engine.nearest(ours, QUERY, 5, None)[0].tolist() == []
    engine.remove(ours, np.array([1]))
    engine.drop(ours)
    rows = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    engine.put(ours, np.array([1, 2]), rows)
    engine.put(theirs, np.array([2, 3]), rows)

    ids, cosines = engine.nearest(ours, QUERY, 5, None)
    assert ids.tolist() == [1, 2]
    assert cosines.tolist() == pytest.approx([1.0, 0.0])
    assert engine.nearest(theirs, QUERY, 5, np.array([1, 3]))[0].tolist() == [3]

    engine.remove(ours, np.array([2, 3]))
    assert (engine.count(ours), engine.count(theirs)) == (1, 2)
    engine.drop(ours)
    assert (engine.count(ours), engine.count(theirs)) == (0, 2)
    engine.drop(theirs)


def test_more_than_milvus_can_rank_comes_unranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reasoningbank.vectors.milvus.MOST", 3)
    engine = open_engine(f"milvus://{tmp_path}/m.db")
    engine.put(PART, np.arange(9), np.repeat([QUERY], 9, axis=0))
    engine.put(PART, np.array([4]), np.array([[0.0, 1.0]], dtype=np.float32))

    ids, cosines = engine.nearest(PART, QUERY, 4, None)
    assert sorted(ids.tolist()) == [*range(9)]
    assert set(cosines.tolist()) == {-1.0}
    assert sorted(engine.nearest(PART, QUERY, 4, np.array([1, 4]))[0].tolist()) == [1, 4]
    assert engine.nearest(PART, np.array([0.0, 1.0], dtype=np.float32), 1, None)[0].tolist() == [4]
