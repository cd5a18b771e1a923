"""Fits the weights of the guard's wording model and writes `reasoningbank/guard/weights.py`.

    python -m benchmarks.guard_fit [--write]

It learns from the sentences in `guard_sentences.jsonl` (written for this project; those marked held-out are left out)
and, as examples of harmless technical prose, from the docstrings of the standard library. Prints how the sentences that
it did not see come out.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reasoningbank.screening.guard import sentence_of, wording

Float64 = npt.NDArray[np.float64]

SENTENCES = Path(__file__).with_name("guard_sentences.jsonl")
TARGET = Path(wording.__file__).with_name("weights.py")
HEADER = '''"""The weights of the guard's wording model: written by `python -m benchmarks.guard_fit --write`."""

BIAS = {bias:.2f}

# A feature and a hundred times its weight; `#` before a class of words.
WEIGHTS = """
{rows}
"""
'''
SEEN_AT_LEAST = 2
BENIGN_COPIES = 8
DECAY = 1e-4
STEPS = 500


def sentences(label: str, split: str) -> list[str]:
    """Return our own sentences of a label and split; what hides itself in an encoding teaches nothing about wording."""
    rows = [json.loads(line) for line in SENTENCES.read_text("utf-8").splitlines()]
    kept = (row for row in rows if row["label"] == label and row["split"] == split)
    return [row["text"] for row in kept if row["family"] != "obfuscation"]


def docstrings() -> Iterator[str]:
    """Yield the sentences of the standard library's docstrings."""
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if {"test", "tests", "site-packages", "lib2to3", "idlelib"} & set(path.parts):
            continue
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", ast.get_docstring(node) or ""):
                    if 25 < len(sentence) < 300:
                        yield " ".join(sentence.split())


def features(text: str) -> set[str]:
    """Return what the model sees of a sentence."""
    return wording.features(sentence_of(text))


class Rows:
    """Sentences as sparse rows of features, scaled by the root of their number."""

    def __init__(self, texts: Sequence[str], vocabulary: dict[str, int]) -> None:
        found = [[vocabulary[f] for f in features(text) if f in vocabulary] for text in texts]
        self.row = np.repeat(np.arange(len(texts)), [len(f) for f in found])
        self.column = np.array([c for f in found for c in f], dtype=np.int64)
        self.value = np.repeat([1 / max(1, len(f)) ** 0.5 for f in found], [len(f) for f in found])
        self.shape = (len(texts), len(vocabulary))

    def times(self, weights: Float64) -> Float64:
        return np.bincount(self.row, self.value * weights[self.column], self.shape[0]).astype(np.float64)

    def transposed(self, errors: Float64) -> Float64:
        return np.bincount(self.column, self.value * errors[self.row], self.shape[1]).astype(np.float64)


def fit(rows: Rows, labels: Float64, importance: Float64) -> tuple[Float64, float]:
    """Return weights and bias of a logistic regression with decay, by Adam."""
    weights, bias = np.zeros(rows.shape[1]), 0.0
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = importance * (1 / (1 + np.exp(-(rows.times(weights) + bias))) - labels)
        gradient = rows.transposed(error) + DECAY * weights
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        weights -= 0.03 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        bias -= 0.5 * float(error.sum())
    return weights, bias


def train() -> tuple[dict[str, float], float]:
    """Return the weight of each feature that matters, and the bias."""
    attacks = sentences("attack", "fit")
    benign = sentences("benign", "fit") * BENIGN_COPIES + sorted(set(docstrings()))
    counts = Counter(f for text in attacks + benign for f in features(text))
    names = sorted(f for f, n in counts.items() if n >= SEEN_AT_LEAST)
    labels = np.r_[np.ones(len(attacks)), np.zeros(len(benign))]
    importance = np.r_[np.full(len(attacks), 0.3 * len(benign) / len(attacks)), np.ones(len(benign))]
    importance /= importance.sum()
    weights, bias = fit(Rows(attacks + benign, {f: i for i, f in enumerate(names)}), labels, importance)
    return {f: float(w) for f, w in zip(names, weights, strict=True) if abs(w) >= 0.05}, bias


def module_of(weights: dict[str, float], bias: float) -> str:
    """Return the source of weights.py."""
    line, rows = "", []
    for name, weight in sorted(weights.items()):
        item = f"{name} {round(100 * weight)}"
        if len(line) + len(item) > 116:
            rows.append(line)
            line = ""
        line += f"{' ' if line else ''}{item}"
    return HEADER.format(bias=bias, rows="\n".join([*rows, line]))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard_fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace weights.py")
    arguments = parser.parse_args()
    weights, bias = train()
    print(f"{len(weights)} features")
    for label in ("attack", "benign"):
        scores = [wording.score(features(text), weights, bias) for text in sentences(label, "held-out")]
        for floor in (wording.HINT, wording.STRONG):
            print(f"held-out {label}: {np.mean(np.array(scores) >= floor):.2f} score {floor} or more")
    if arguments.write:
        TARGET.write_text(module_of(weights, bias), "utf-8")


if __name__ == "__main__":
    main()
