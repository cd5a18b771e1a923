"""Real tasks in a real bank: the figures are what the lessons handed out deserve, and learning raises them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.learning import __main__ as learning
from benchmarks.learning import tasks
from benchmarks.learning.world import HELPED, WITHOUT, Scenario
from benchmarks.retrieval_sets import load

TOPICS = {"invoice": "billing ledger", "forum": "thread subscribe"}
WAYS = ("first", "slowly", "twice", "backwards", "at night", "by hand")


def retrieval_set(folder: Path, about: dict[str, str]) -> Path:
    """Write six lessons a topic, which its query finds equally well; `about` says whose query they are relevant to."""
    folder.mkdir()
    documents = [(topic, f"{topic}, {way}", f"{TOPICS[topic]} {topic} {way}") for topic in TOPICS for way in WAYS]
    queries = [{"id": topic, "text": f"{words} {topic}"} for topic, words in TOPICS.items()]
    corpus = [{"id": document, "title": "", "text": text} for _, document, text in documents]
    grades = [f"{about[topic]}\t{document}\t1" for topic, document, _ in documents]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
    (folder / "qrels.tsv").write_text("\n".join(["query\tdocument\tgrade", *grades]), "utf-8")
    return folder


@pytest.fixture
def fitting(tmp_path: Path) -> Path:
    """A set in which what is found is relevant."""
    return retrieval_set(tmp_path / "fitting", {topic: topic for topic in TOPICS})


@pytest.fixture
def misleading(tmp_path: Path) -> Path:
    """A set in which only lessons that have no word of the query are relevant to it."""
    return retrieval_set(tmp_path / "misleading", dict(zip(TOPICS, reversed(TOPICS), strict=True)))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs with one lesson each: it matters which."""
    monkeypatch.setattr(tasks, "RUNS", 160)
    monkeypatch.setattr(tasks, "LESSONS", 1)


def test_a_bank_that_learns_which_lessons_help_beats_one_that_does_not(fitting: Path) -> None:
    found = tasks.success(fitting, 1, "hash")

    assert found["relevance alone"] + 0.1 < found["default"] < HELPED


def test_lessons_that_are_relevant_to_nothing_help_nobody(misleading: Path) -> None:
    found = tasks.success(misleading, 1, "hash")

    assert found["relevance alone"] == pytest.approx(Scenario().none_helped)
    assert Scenario().none_helped <= found["default"] <= WITHOUT


def test_all_methods_meet_the_same_runs(fitting: Path) -> None:
    data = load(fitting, "all")
    lessons = [[document] for document in data.documents]
    first, again, other = ([run.luck for run in tasks.runs(data, lessons, seed)] for seed in (1, 1, 2))

    assert first == again != other


def test_figures_are_by_seed_and_their_mean(fitting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(1) as pool:
        found = learning.on_real_tasks([fitting], (1, 2), "hash", pool)["fitting"]

    assert found.keys() == {"default", "cautious", "relevance alone"}
    assert found["default"]["by_seed"][0] == round(tasks.success(fitting, 1, "hash")["default"], 4)
    assert found["default"]["success"] == pytest.approx(sum(found["default"]["by_seed"]) / 2, abs=1e-4)
    assert "relevance alone" in capsys.readouterr().out
