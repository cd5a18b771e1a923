"""The choice: the set of memories that makes a run likeliest to succeed.

A run succeeds with chance S1 when one of its memories helps, and S0 when none does. A memory helps with chance
q = a theta: a, that it is about the task; theta, that it helps with a task it is about. So a set S gives

    V(S) = S0 + (S1 - S0) (1 - prod (1 - q) - c |S|)

with c what it costs to show a memory, in tokens and distraction, as a share of what one that helps is worth. The next
memory adds (S1 - S0) (q prod (1 - q') - c), and greedily adding the one that adds most, as long as it adds anything,
gives the best set: with equal costs, the best of each size are those with the greatest q. What says the same as a
chosen memory helps together with it, not once more: its q counts by what is left of it, and the first of the ranking
stands for all that say the same. Source: leaky noisy-OR (Pearl 1988, section 4.3.2); greedy choice of a submodular set
(Nemhauser, Wolsey & Fisher 1978).

Finding out is worth something, too. In place of the mean of theta stands (1 - w) mean + w high, `high` being the upper
end of its central 80 % interval (an upper confidence bound, Lai & Robbins 1985). w grows with what one more use would
tell, and is largest for what was never handed out; the interval narrows with what is known, and widens as that fades.
Both mean and `high` rise with what speaks for a memory (Milgrom 1981), so that evidence for it never makes it less
likely to be shown. There is no chance in it: the same bank gives the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reasoningbank.belief.belief import MARGIN
from reasoningbank.belief.calibrated import Parameters
from reasoningbank.search.ranking import Floats
from reasoningbank.signals import SignalKind, Tally

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

# w, with everything told of a use, and how much must be told for half of that; and what is added to it before the first
# use, whatever is told: half of that after one, a third after two.
EXPLORING: Final = 0.3
HALF_TOLD: Final = 0.5
NEW: Final = 0.1

# What has so many more votes against it than for it, and surely helps less often than this, is not handed out for want
# of better. Fewer votes may be about tasks that the memory was not about.
BLAMED: Final = 3.0
SELDOM: Final = 0.5

# From this cosine on two memories begin to say the same; at 1 they do. Half of that is taken for it.
ALIKE_FROM: Final = 0.9
HALF: Final = 0.5


def chances(learned: Parameters, relevance: Floats) -> npt.NDArray[np.float64]:
    """Return the chances that memories are about a task, in (0, 1), of those that their relevance alone gives."""
    chance = np.clip(relevance, MARGIN, 1.0 - MARGIN)
    return 1.0 / (1.0 + np.exp(-learned.offset - learned.slope * np.log(chance / (1.0 - chance))))


def success(learned: Parameters, confidences: Sequence[float], relevance: Sequence[float]) -> float:
    """Return how likely a run is to succeed with memories of which this was believed at recall; S0 without any."""
    helps = chances(learned, np.array(relevance)) * np.array(confidences)
    return learned.helped - (learned.helped - learned.unhelped) * float(np.prod(1.0 - helps))


def exploring(learned: Parameters) -> float:
    """Return w, in [0, EXPLORING), by what a use tells: the Fisher information about a chance to help of one half."""
    mean, half = (learned.helped + learned.unhelped) / 2.0, (learned.helped - learned.unhelped) / 2.0
    outcome, vote = half**2 / (mean * (1.0 - mean)), 4.0 * (2.0 * learned.accuracy - 1.0) ** 2
    told = learned.reported * outcome + learned.voted * vote
    return EXPLORING * told / (told + HALF_TOLD)


def alike(vectors: Floats, row: int) -> Floats:
    """Return how far each of the unit rows says the same as one of them, in [0, 1]; each says the same as itself."""
    same: Floats = np.clip((vectors @ vectors[row] - ALIKE_FROM) / (1.0 - ALIKE_FROM), 0.0, 1.0)
    same[row] = 1.0  # also where it has no vector
    return same


def judged_and_votes(tallies: Iterable[Tally]) -> tuple[bool, float]:
    """Tell whether there is any evidence about a memory, and by how much votes for it outweigh those against it."""
    judged, votes = False, 0.0
    for t in tallies:
        judged |= t.kind is not SignalKind.USAGE
        if t.kind is SignalKind.EXPLICIT:
            votes += t.positive - t.negative
    return judged, votes


def surely_harms(learned: Parameters, numbers: npt.NDArray[np.int64], memories: npt.NDArray[np.object_]) -> Mask:
    """Return which memories surely harm, by hold-outs, still say what they said then, and may be withheld at all."""
    if not learned.harmful:
        return np.zeros(len(numbers), dtype=bool)
    from reasoningbank.search.holdout import is_exempt

    sure = set(learned.harmful)
    rows = zip(numbers.tolist(), memories.tolist(), strict=True)
    return np.array([(n, memory.revision) in sure and not is_exempt(memory) for n, memory in rows], dtype=bool)


@dataclass(frozen=True, slots=True)
class Prospects:
    """Memories that may be handed out: aligned arrays, in the ranking's order, which decides between equals.

    Attributes:
        about: the chance that each is about the task.
        mean, high: of the belief that it helps with a task it is about.
        shown: how often it was handed out.
        harm: what it likely costs, as a share of what one that helps is worth; it decides between memories, and leaves
            none out.
    """

    about: Floats
    mean: Floats
    high: Floats
    shown: npt.NDArray[np.int64]
    harm: Floats


def select(prospects: Prospects, same_as: Callable[[int], Floats], *, k: int, cost: float, explore: float) -> Rows:
    """Return the rows of up to `k` memories, in their order, with which a run is likeliest to succeed.

    Fewer than k when what is left would add less than it costs.

    Args:
        same_as: how far each says the same as that of a row, in [0, 1]; a row says the same as itself.
        cost: c, in [0, 1].
        explore: w of what was handed out often, in [0, EXPLORING).
    """
    expected = prospects.about * prospects.mean
    hope = explore + NEW / (1.0 + prospects.shown)
    hoped = prospects.about * ((1.0 - hope) * prospects.mean + hope * prospects.high)
    left, new = np.ones(len(hoped), dtype=bool), np.ones(len(hoped))
    none, rows = 1.0, list[int]()
    while len(rows) < k:
        adds = none * hoped * new
        worth = left & (adds >= cost)
        if not worth.any():
            break
        likeliest = same_as(int(np.argmax(np.where(worth, adds - prospects.harm, -np.inf))))
        row = int(np.argmax(left & (likeliest >= HALF)))
        none *= 1.0 - float(expected[row] * new[row])
        rows.append(row)
        left[row] = False
        new = np.minimum(new, 1.0 - same_as(row))
    return np.array(sorted(rows), dtype=np.intp)
