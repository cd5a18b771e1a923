"""What confidences cost where they say nothing of relevance: lessons by hand among distilled ones, and random ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.retrieval_sets import DEEPEST, Query, RetrievalSet, figures, load, record
from reasoningbank import Draft, Memory, ReasoningBank
from reasoningbank.embed.base import Embedder

BY_HAND, DISTILLED = 0.8, 0.6
LOWEST, HIGHEST = 0.3, 0.95
MEASURED = ("ndcg@10", "hit@1")

Confidences = Callable[[np.random.Generator, int], Sequence[float]]


def by_hand(share: float) -> Confidences:
    """Return what gives a share of the lessons, at random, the confidence of those that are recorded by hand."""
    return lambda random, many: np.where(random.random(many) < share, BY_HAND, DISTILLED).tolist()


MIXTURES: Mapping[str, Confidences] = {
    "alike": by_hand(1.0),
    "5 % by hand": by_hand(0.05),
    "20 % by hand": by_hand(0.2),
    "50 % by hand": by_hand(0.5),
    "random": lambda random, many: random.uniform(LOWEST, HIGHEST, many).tolist(),
}


def with_confidences(drafts: Mapping[str, Draft], confidences: Sequence[float]) -> dict[str, Draft]:
    """Return documents with what each is to be recorded with."""
    given = zip(drafts.items(), confidences, strict=True)
    return {name: draft.model_copy(update={"confidence": confidence}) for (name, draft), confidence in given}


def mixed(folders: Sequence[Path], *, split: str, embedder: Embedder, seed: int = 0) -> dict[str, Any]:
    """Return for each set its figures with all confidences alike, and what each mixture loses of them.

    `search` is asked for ten; `recall` hands out as many as it finds worth their place, of ten, without a budget.
    """
    found: dict[str, Any] = {}
    for folder in folders:
        data = load(folder, split)
        rows = {name: _figures(data, confidences, embedder, seed) for name, confidences in MIXTURES.items()}
        alike = rows.pop("alike")
        losses = {name: {m: alike[m] - row[m] for m in alike} for name, row in rows.items()}
        found[data.name] = {"alike": alike, "loss": losses}
    mean = {
        name: {m: fmean(of["loss"][name][m] for of in found.values()) for m in next(iter(found.values()))["alike"]}
        for name in MIXTURES
        if name != "alike"
    }
    return {"sets": found, "mean_loss": mean}


def _figures(data: RetrievalSet, confidences: Confidences, embedder: Embedder, seed: int) -> dict[str, float]:
    with (
        tempfile.TemporaryDirectory(prefix="mixed-") as root,
        ReasoningBank(root, tenant="benchmark", project=data.name, embedder=embedder) as bank,
    ):
        given = confidences(np.random.default_rng(seed), len(data.documents))
        documents, _ = record(bank, with_confidences(data.documents, given))
        queries = data.queries
        searched = [_ranking(documents, bank.search(q.text, _deep(q)).memories) for q in queries]
        recalled = [_ranking(documents, bank.recall(q.text, _deep(q), max_tokens=1_000_000).memories) for q in queries]
    of_search, of_recall = figures(queries, searched), figures(queries, recalled)
    return {m: of_search[m] for m in MEASURED} | {f"recall {m}": of_recall[m] for m in MEASURED}


def _deep(query: Query) -> int:
    return DEEPEST + len(query.exclude)


def _ranking(documents: Mapping[str, Sequence[str]], memories: Sequence[Memory]) -> list[str]:
    return [name for memory in memories for name in documents[memory.id]]
