"""What confidences cost where they say nothing of relevance is measured, in a set small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.retrieval_mixed import MIXTURES, mixed
from reasoningbank.embed.hashing import HashEmbedder

TOPICS = (
    "quote the paths of scans",
    "pin every version",
    "rotate signing keys",
    "parse dates in UTC",
    "close open files",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six lessons for each topic, of which the query names one."""
    documents = [
        {"id": f"{topic}/{n}", "title": f"{topic} {n}", "text": f"{topic}: case {chr(97 + n) * 5}"}
        for topic in TOPICS
        for n in range(6)
    ]
    queries = [{"id": topic, "text": f"{topic} in case ccccc", "split": "test"} for topic in TOPICS]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents), "utf-8")
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries), "utf-8")
    judged = "".join(f"{topic}\t{topic}/2\t1\n" for topic in TOPICS)
    (tmp_path / "qrels.tsv").write_text("query\tdocument\tgrade\n" + judged, "utf-8")
    return tmp_path


def test_confidences_that_say_nothing_of_relevance_cost_next_to_nothing(folder: Path) -> None:
    found = mixed([folder], split="test", embedder=HashEmbedder())
    (of_set,) = found["sets"].values()

    assert of_set["alike"]["hit@1"] == of_set["alike"]["ndcg@10"] == 1.0
    assert of_set["loss"].keys() == found["mean_loss"].keys() == MIXTURES.keys() - {"alike"}
    assert all(row[measure] == 0.0 for row in of_set["loss"].values() for measure in ("ndcg@10", "hit@1"))
    # A recall may trust who recorded that a lesson rarely helps; that others are by hand moves no lesson that fits out.
    assert all(of_set["loss"][name]["recall hit@1"] == 0.0 for name in MIXTURES if name.endswith("by hand"))
