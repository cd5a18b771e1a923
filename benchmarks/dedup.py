"""Are duplicates told from look-alikes? Ranking of labelled pairs, and what consolidation would merge by itself.

    python -m benchmarks.dedup --data pairs.jsonl [--split test] [--embedder minilm] [--threshold 0.75] [--json]

Each line of the file is a pair: set, a, b, label (1: the same thing in other words; 0: alike, but not the same), split.
For each set:

- AUC of the cosine alone, and of the likeness that consolidation ranks by;
- each pair by itself: precision and recall of what would be merged;
- all texts of a set in one bank: the same for the groups that `consolidate()` proposes, where a text has one
  group only. Pairs that nobody labelled are not counted.

Limits are tuned on the dev split; the test split is for reporting. With --json the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.remembering import Remembering
from reasoningbank import ReasoningBank
from reasoningbank.embed.named import open_embedder
from reasoningbank.upkeep.likeness import differences, likeness, wording

TITLE = 100
GOALS = {"auc nl2bash": "≥ 0.80", "precision": "≥ 0.95", "recall": "≥ 0.15"}
Pair = dict[str, Any]


def auc(scores: Sequence[float], labels: Sequence[int]) -> float:
    """Return the chance that a positive pair scores above a negative one; ties count half; 0.5 without both kinds."""
    _, place, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positive = np.asarray(labels) == 1
    n, m = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m)) if n and m else 0.5


def quality(merged: Sequence[bool], labels: Sequence[int]) -> dict[str, float]:
    """Return precision and recall of merges, and how many there are; nothing merged is nothing wrong."""
    right = sum(bool(m and label) for m, label in zip(merged, labels, strict=True))
    many = sum(merged)
    return {
        "merged": many,
        "precision": right / many if many else 1.0,
        "recall": right / max(1, sum(labels)),
    }


def measure(pairs: Sequence[Pair], embedder: Remembering, threshold: float) -> dict[str, Any]:
    """Return the figures of one set of pairs."""
    labels = [int(pair["label"]) for pair in pairs]
    rows = [embedder.embed_documents([pair["a"], pair["b"]]) for pair in pairs]
    cosines = [float(a @ b) for a, b in rows]
    words = [(wording(pair["a"]), wording(pair["b"])) for pair in pairs]
    alike = [likeness(cosine, *both) for cosine, both in zip(cosines, words, strict=True)]
    alone = [c > threshold and differences(*both).none for c, both in zip(cosines, words, strict=True)]
    grouped = together(pairs, embedder, threshold)
    return {
        "pairs": len(pairs),
        "positive": sum(labels),
        "auc_cosine": auc(cosines, labels),
        "auc_likeness": auc(alike, labels),
        "by_cosine_alone": quality([c > threshold for c in cosines], labels),
        "pair_by_pair": quality(alone, labels),
        "in_one_bank": quality(grouped, labels),
    }


def together(pairs: Sequence[Pair], embedder: Remembering, threshold: float) -> list[bool]:
    """Return for each pair whether a bank of all texts would merge its two."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair["a"], pair["b"])))
    with (
        tempfile.TemporaryDirectory() as root,
        ReasoningBank(root, tenant="bench", project="dedup", embedder=embedder) as bank,
    ):
        drafts = [{"title": text[:TITLE].strip(), "content": text, "outcome": "success"} for text in texts]
        ids = {text: one.memory.id for text, one in zip(texts, bank.record_many(drafts), strict=True)}
        found = bank.upkeep.consolidate(threshold=threshold)
    merges = (change.memories for change in found.changes if change.kind == "merge")
    same = {frozenset(both) for memories in merges for both in combinations(memories, 2)}
    # What was stored once only was the same in all but spelling.
    return [ids[p["a"]] == ids[p["b"]] or frozenset((ids[p["a"]], ids[p["b"]])) in same for p in pairs]


def table(report: dict[str, Any]) -> Table:
    """Return the report as a table."""
    shown = Table(title="Duplicates: ranking (AUC), and what is merged (precision, recall)")
    columns = ("set", "pairs", "cosine", "likeness", "by cosine alone", "pair by pair", "in one bank")
    for column in columns:
        shown.add_column(column, justify="left" if column == "set" else "right")
    for name, found in report["sets"].items():
        merges = [found[kind] for kind in ("by_cosine_alone", "pair_by_pair", "in_one_bank")]
        shown.add_row(
            name,
            str(found["pairs"]),
            f"{found['auc_cosine']:.3f}",
            f"{found['auc_likeness']:.3f}",
            *(f"{m['precision']:.3f}, {m['recall']:.3f} ({m['merged']})" for m in merges),
        )
    return shown


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure, print, and return the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="test", help="dev, test, or all")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--threshold", type=float, default=0.75)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with given.data.open(encoding="utf-8") as lines:
        pairs = [pair for pair in map(json.loads, lines) if given.split in ("all", pair["split"])]
    embedder = Remembering(open_embedder(given.embedder))
    names = sorted({pair["set"] for pair in pairs})
    sets = {name: measure([p for p in pairs if p["set"] == name], embedder, given.threshold) for name in names}
    if len(names) > 1:
        sets["all"] = measure(pairs, embedder, given.threshold)
    report = {"split": given.split, "embedder": given.embedder, "threshold": given.threshold, "sets": sets}
    if given.json:
        print(json.dumps(report | {"goals": GOALS}))
    else:
        Console().print(table(report))
    return report


if __name__ == "__main__":
    main()
