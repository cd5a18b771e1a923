"""Are duplicates told from look-alikes? Ranking of labelled pairs, what is merged unasked, and what is proposed.

    python -m benchmarks.dedup --data PATH [PATH ...] [--split all] [--embedder minilm] [--threshold 0.75] [--json]

PATH is a JSON-lines file, or a folder of them. Each line is a pair: a, b, label (1: the same thing in other words; 0:
alike, but not the same); and, if it likes, set and split. `benchmarks/pairs.jsonl` is one. For each set, of the split
"dev", which limits were tuned on, and of all others, which they were not:

- AUC of the cosine alone, and of the likeness that consolidation ranks by;
- all texts of a set in one bank, precision and recall: of what `consolidate()` merges unasked, and of that together
  with what it proposes. A text is in one group only, and pairs that nobody labelled are not counted.

With --json the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.given import ASIDE, TUNED, files, objects
from benchmarks.remembering import Remembering
from reasoningbank import ReasoningBank
from reasoningbank.embed.named import open_embedder
from reasoningbank.upkeep import Change
from reasoningbank.upkeep.likeness import likeness, wording

TITLE = 100
GOALS = {"auc nl2bash": "≥ 0.80", "precision unasked": "≥ 0.95", "recall of both, nl2bash": "≥ 0.15"}
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
    alike = [likeness(cosine, *texts) for cosine, texts in zip(cosines, words, strict=True)]
    unasked, both = together(pairs, embedder, threshold)
    return {
        "pairs": len(pairs),
        "positive": sum(labels),
        "auc_cosine": auc(cosines, labels),
        "auc_likeness": auc(alike, labels),
        "by_cosine_alone": quality([c > threshold for c in cosines], labels),
        "merged_unasked": quality(unasked, labels),
        "merged_or_proposed": quality(both, labels),
    }


def together(pairs: Sequence[Pair], embedder: Remembering, threshold: float) -> tuple[list[bool], list[bool]]:
    """Return for each pair whether a bank of all texts would merge its two unasked; and whether when agreed to."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair["a"], pair["b"])))
    with (
        tempfile.TemporaryDirectory() as root,
        ReasoningBank(root, tenant="bench", project="dedup", embedder=embedder) as bank,
    ):
        drafts = [{"title": text[:TITLE].strip(), "content": text, "outcome": "success"} for text in texts]
        ids = {text: one.memory.id for text, one in zip(texts, bank.record_many(drafts), strict=True)}
        found = bank.upkeep.consolidate(threshold=threshold)
    # What was stored once only was the same in all but spelling.
    ends = [frozenset((ids[pair["a"]], ids[pair["b"]])) for pair in pairs]
    merges = [change for change in found.changes if change.kind == "merge"]
    unasked, proposed = grouped(merges), grouped(found.proposed)
    once = [len(both) == 1 or both in unasked for both in ends]
    return once, [now or both in proposed for now, both in zip(once, ends, strict=True)]


def grouped(merges: Sequence[Change]) -> set[frozenset[str]]:
    """Return every two memories that merges put together."""
    return {frozenset(both) for change in merges for both in combinations(change.memories, 2)}


def table(report: dict[str, Any]) -> Table:
    """Return the report as a table."""
    shown = Table(title="Duplicates: ranking (AUC), and what is merged (precision, recall)")
    columns = ("set", "pairs", "cosine", "likeness", "by cosine alone", "unasked", "unasked or proposed")
    for column in columns:
        shown.add_column(column, justify="left" if column == "set" else "right")
    for name, found in report["sets"].items():
        merges = [found[kind] for kind in ("by_cosine_alone", "merged_unasked", "merged_or_proposed")]
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
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--split", default="all", help="dev, test, or all")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--threshold", type=float, default=0.75)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    groups: dict[str, list[Pair]] = defaultdict(list)
    for path in files(given.data, ".jsonl"):
        for pair in objects(path):
            split = pair.get("split", "test")
            if given.split in ("all", split):
                groups[f"{pair.get('set', path.stem)}, {TUNED if split == 'dev' else ASIDE}"].append(pair)
    embedder = Remembering(open_embedder(given.embedder))
    sets = {name: measure(groups[name], embedder, given.threshold) for name in sorted(groups)}
    report = {"split": given.split, "embedder": given.embedder, "threshold": given.threshold, "sets": sets}
    if given.json:
        print(json.dumps(report | {"goals": GOALS}))
    else:
        Console(width=140).print(table(report))
    return report


if __name__ == "__main__":
    main()
