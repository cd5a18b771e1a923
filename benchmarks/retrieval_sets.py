"""Retrieval sets: a folder with corpus.jsonl, queries.jsonl and qrels.tsv; and the figures of a ranking."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import ir_measures
from ir_measures import RR, R, ScoredDoc, Success, nDCG

from reasoningbank import Draft, ReasoningBank, State, Verdict

# A ranking of one query's documents, best first.
Ranking = Sequence[str]
MEASURES = {
    "ndcg@5": nDCG @ 5,
    "ndcg@10": nDCG @ 10,
    "recall@5": R @ 5,
    "mrr@10": RR @ 10,
    "hit@1": Success @ 1,
    "hit@5": Success @ 5,
    "ndcg@3": nDCG @ 3,
}
SHOWN = tuple(name for name in MEASURES if name != "ndcg@3")
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Query:
    """A query: which documents it may not get, and the grade of those it should."""

    id: str
    text: str
    exclude: frozenset[str]
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Documents by id, as lessons, and queries."""

    name: str
    documents: dict[str, Draft]
    queries: list[Query]


def load(folder: Path, split: str) -> RetrievalSet:
    """Read a set; of its queries those of a split ("all" for all) that have an answer."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            grades[query][document] = int(grade)
    queries = [
        Query(row["id"], row["text"], frozenset(row.get("exclude") or ()), grades[row["id"]])
        for row in rows(folder / "queries.jsonl")
        if split in ("all", row.get("split", "test")) and row["id"] in grades
    ]
    documents = {row["id"]: lesson(row) for row in rows(folder / "corpus.jsonl")}
    return RetrievalSet(folder.name, documents, queries)


def record(bank: ReasoningBank, drafts: Mapping[str, Draft]) -> tuple[dict[str, list[str]], int]:
    """Record documents and approve what is quarantined; two that say the same are one memory.

    Returns the documents of each memory, and how many were quarantined.
    """
    documents: dict[str, list[str]] = defaultdict(list)
    quarantined = 0
    for name, memory in zip(drafts, (r.memory for r in bank.record_many(drafts.values())), strict=True):
        documents[memory.id].append(name)
        if len(documents[memory.id]) == 1 and memory.state is State.QUARANTINED:
            bank.upkeep.approve(memory.id)
            quarantined += 1
    return documents, quarantined


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def lesson(row: Mapping[str, Any]) -> Draft:
    """Return a document as a lesson; one without a title is called by its first words."""
    text = str(row["text"]).strip() or str(row["title"])
    title = str(row.get("title") or "").strip() or first_words(text)
    return Draft(title=title[:200], content=text[:20_000], outcome=Verdict.SUCCESS)


def first_words(text: str) -> str:
    """Return the beginning of a text, as a title."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:80].rsplit(" ", 1)[0] + "…"


def figures(queries: Sequence[Query], rankings: Sequence[Ranking]) -> dict[str, float]:
    """Return the mean of every measure."""
    per_query = each(queries, rankings)
    return {name: fmean(per_query[name]) for name in MEASURES}


def each(queries: Sequence[Query], rankings: Sequence[Ranking]) -> dict[str, list[float]]:
    """Return every measure of every query, in order. A document that a query may not get is passed over."""
    found = {name: [0.0] * len(queries) for name in MEASURES}
    place = {query.id: i for i, query in enumerate(queries)}
    judged = [ir_measures.Qrel(q.id, document, grade) for q in queries for document, grade in q.grades.items()]
    run = [
        ScoredDoc(query.id, document, -float(position))
        for query, ranking in zip(queries, rankings, strict=True)
        for position, document in enumerate([d for d in ranking if d not in query.exclude][:DEEPEST])
    ]
    names = {measure: name for name, measure in MEASURES.items()}
    for metric in ir_measures.iter_calc(list(names), judged, run):
        found[names[metric.measure]][place[metric.query_id]] = float(metric.value)
    return found


def difference(ours: Sequence[float], theirs: Sequence[float], rounds: int = 2_000) -> list[float]:
    """Return the mean paired difference and its 95 % bootstrap interval."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    draw = random.Random(0)
    means = sorted(fmean(draw.choices(differences, k=len(differences))) for _ in range(rounds))
    return [fmean(differences), means[int(0.025 * rounds)], means[int(0.975 * rounds)]]


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """Return the chance that one drawn from `present` is above one drawn from `absent`; ties count half."""
    above = sum((p > a) + 0.5 * (p == a) for p in present for a in absent)
    return above / (len(present) * len(absent))
