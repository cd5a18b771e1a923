"""Does search find the right lesson, and does it say when there is none?

    python -m benchmarks.retrieval --data FOLDER [FOLDER ...] [--split test] [--policy relevance] [--embedder minilm]
                                   [--mixed] [--json]

Each folder holds corpus.jsonl, queries.jsonl and qrels.tsv; it is recorded into a bank of its own and asked through
`search`. `dense` and `keyword` are the bank's two legs alone; `rrf`, `minmax_0.5` and `minmax_0.7` the plain ways of
fusing them.

`gate`: how well `strength` tells queries with an answer from foreign ones (those of sets of another family, which is
what a name has before its first underscore), and from the same queries with their answers archived; what the gate
costs; and how many are called weak. `budget`: the block of `recall`, with three lessons in at most 500 tokens.
With --mixed only what is lost where lessons by hand and distilled ones stand together, or with random confidences.
With --json the last line is one JSON object; without, a table.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from benchmarks.remembering import Remembering
from benchmarks.retrieval_legs import COMBINATIONS, Legs
from benchmarks.retrieval_mixed import mixed
from benchmarks.retrieval_sets import (
    DEEPEST,
    SHOWN,
    Query,
    RetrievalSet,
    auroc,
    difference,
    each,
    figures,
    load,
    record,
)
from reasoningbank import ReasoningBank, SearchResult
from reasoningbank.embed.named import open_embedder
from reasoningbank.search import relevance as gate_settings

FOREIGN_QUERIES = 150
TOKENS = 500
LESSONS = 3
GOALS = {
    "ndcg@10": "≥ 0.66",
    "hit@5": "≥ 0.80",
    "foreign_auroc": "≥ 0.99",
    "gold_removed_auroc": "≥ 0.66",
    "ndcg_loss": "≤ 0.005",
    "most_tokens": f"≤ {TOKENS}",
    "ndcg@3_loss": "≤ 0.02",
}


@dataclass
class Asked:
    """A set in its bank."""

    data: RetrievalSet
    bank: ReasoningBank
    embedder: Remembering
    policy: str
    documents: dict[str, list[str]] = field(default_factory=dict)
    memory: dict[str, str] = field(default_factory=dict)
    quarantined: int = 0

    def record(self) -> None:
        """Record every document; two that say the same are one memory. What is quarantined is counted and approved."""
        self.documents, self.quarantined = record(self.bank, self.data.documents)
        self.memory = {document: memory for memory, same in self.documents.items() for document in same}

    def search(self, query: Query, k: int = DEEPEST) -> SearchResult:
        """Search, for k more than the query may not get."""
        return self.bank.search(query.text, k + len(query.exclude), policy=self.policy)

    def ranking(self, memories: Sequence[str]) -> list[str]:
        """Return the documents of memories."""
        return [document for memory in memories for document in self.documents[memory]]

    def rankings(self) -> list[list[str]]:
        """Return what search finds for each query."""
        return [self.ranking([m.id for m in self.search(query).memories]) for query in self.data.queries]

    def baselines(self) -> dict[str, list[list[str]]]:
        """Return the rankings of the legs and of their plain combinations."""
        legs = Legs(Path(self.bank.upkeep.status().folder) / "bank.sqlite3", self.documents)
        found: dict[str, list[list[str]]] = {name: [] for name in COMBINATIONS}
        for query in self.data.queries:
            dense, keyword = legs.dense(self.embedder.embed_query(query.text)), legs.keyword(query.text)
            for name, combine in COMBINATIONS.items():
                found[name].append(legs.ranking(combine(dense, keyword), DEEPEST + len(query.exclude)))
        legs.close()
        return found

    def strengths(self, queries: Sequence[Query]) -> list[float]:
        """Return how strong the strongest match of each query is."""
        return [self.search(query, 1).strength for query in queries]

    def strengths_without_answers(self) -> list[float]:
        """Return the same with the answers archived."""
        found = []
        for query in self.data.queries:
            answers = sorted({self.memory[document] for document in query.grades})
            for memory in answers:
                self.bank.upkeep.archive(memory)
            found += self.strengths([query])
            for memory in answers:
                self.bank.upkeep.restore(memory)
        return found

    def budgeted(self) -> tuple[list[list[str]], int]:
        """Return what fits into the block of each query's recall, and the longest block's tokens."""
        recalls = [self.bank.recall(query.text, limit=LESSONS, max_tokens=TOKENS) for query in self.data.queries]
        return [self.ranking([m.id for m in r.memories]) for r in recalls], max(r.tokens for r in recalls)


def of_set(asked: Asked) -> tuple[dict[str, Any], dict[str, float]]:
    """Return a set's figures, and what the gate and the budget cost in it."""
    queries, rankings = asked.data.queries, asked.rankings()
    ours = each(queries, rankings)
    baselines = asked.baselines()
    shown = {name: fmean(ours[name]) for name in SHOWN}
    legs = {name: {m: figures(queries, found)[m] for m in SHOWN} for name, found in baselines.items()}
    plain = each(queries, baselines["minmax_0.7"])
    with patch.object(gate_settings, "KEEP_FROM", -1.0):
        ungated = figures(queries, asked.rankings())["ndcg@10"]
    packed, tokens = asked.budgeted()
    costs = {
        "ndcg_loss": ungated - shown["ndcg@10"],
        "ndcg@3_loss": fmean(ours["ndcg@3"]) - figures(queries, packed)["ndcg@3"],
        "most_tokens": float(tokens),
    }
    return {**shown, **legs, "vs_minmax": difference(ours["ndcg@10"], plain["ndcg@10"])}, costs


def of_gate(banks: Sequence[Asked]) -> dict[str, Any]:
    """Return how well strength tells queries with an answer from others; a mean over the sets."""
    foreign, removed, weak, foreign_weak = [], [], [], []
    for asked in banks:
        present = asked.strengths(asked.data.queries)
        removed.append(auroc(present, asked.strengths_without_answers()))
        weak.append(fmean(strength < gate_settings.WEAK_BELOW for strength in present))
        others = [b for b in banks if family(b) != family(asked)]
        absent = [s for b in others for s in asked.strengths(b.data.queries[:FOREIGN_QUERIES])]
        if absent:
            foreign.append(auroc(present, absent))
            foreign_weak.append(fmean(strength < gate_settings.WEAK_BELOW for strength in absent))
    return {
        "foreign_auroc": fmean(foreign) if foreign else None,
        "gold_removed_auroc": fmean(removed),
        "weak": fmean(weak),
        "foreign_weak": fmean(foreign_weak) if foreign_weak else None,
    }


def family(asked: Asked) -> str:
    """Return what a set's name begins with."""
    return asked.data.name.partition("_")[0]


def mean(sets: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the mean over the sets of every figure."""
    found: dict[str, Any] = {name: fmean(s[name] for s in sets.values()) for name in SHOWN}
    for leg in COMBINATIONS:
        found[leg] = {name: fmean(s[leg][name] for s in sets.values()) for name in SHOWN}
    found["vs_minmax"] = [fmean(s["vs_minmax"][i] for s in sets.values()) for i in range(3)]
    return found


def run(folders: Sequence[Path], *, split: str, policy: str, embedder: str) -> dict[str, Any]:
    """Measure every set in a bank of its own, which is gone afterwards."""
    remembering = Remembering(open_embedder(embedder))
    with tempfile.TemporaryDirectory(prefix="retrieval-") as root:
        banks = []
        for folder in folders:
            bank = ReasoningBank(root, tenant="benchmark", project=folder.name, embedder=remembering)
            banks.append(Asked(load(folder, split), bank, remembering, policy))
            banks[-1].record()
        measured = {asked.data.name: of_set(asked) for asked in banks}
        sets = {name: shown for name, (shown, _) in measured.items()}
        costs = [cost for _, cost in measured.values()]
        gate = of_gate(banks) | {"ndcg_loss": fmean(c["ndcg_loss"] for c in costs)}
        budget = {
            "ndcg@3_loss": fmean(c["ndcg@3_loss"] for c in costs),
            "most_tokens": max(c["most_tokens"] for c in costs),
        }
        quarantined = {asked.data.name: asked.quarantined for asked in banks}
        for asked in banks:
            asked.bank.close()
    return {"sets": sets, "mean": mean(sets), "gate": gate, "budget": budget, "quarantined": quarantined}


def rounded(value: Any) -> Any:
    """Return figures with four digits."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) else value


def table(found: dict[str, Any]) -> Table:
    """Return the figures for people: a row for each set, nDCG@10 of everything and the other measures of search."""
    shown = Table("", *SHOWN, *(f"{leg} ndcg@10" for leg in COMBINATIONS), "vs 0.7/0.3", title="Retrieval")
    for name, of in [*found["sets"].items(), ("mean", found["mean"])]:
        middle, low, high = of["vs_minmax"]
        shown.add_row(
            name,
            *(f"{of[measure]:.3f}" for measure in SHOWN),
            *(f"{of[leg]['ndcg@10']:.3f}" for leg in COMBINATIONS),
            f"{middle:+.3f} ({low:+.3f} to {high:+.3f})",
        )
    return shown


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--split", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--policy", default="relevance")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.mixed:
        embedder = Remembering(open_embedder(given.embedder))
        print(
            json.dumps(
                rounded(mixed(given.data, split=given.split, embedder=embedder)), indent=None if given.json else 2
            )
        )
        return
    found = rounded(run(given.data, split=given.split, policy=given.policy, embedder=given.embedder))
    if given.json:
        print(json.dumps(found, ensure_ascii=False))
        return
    console = Console(width=180)
    console.print(table(found))
    others = {**found["gate"], **found["budget"]}
    for name, value in others.items():
        console.print(f"{name}: {value}" + (f" (goal {GOALS[name]})" if name in GOALS else ""))
    console.print(f"quarantined: {found['quarantined']}")


if __name__ == "__main__":
    main()
