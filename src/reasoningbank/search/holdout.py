"""The hold-out: from which runs lessons are withheld, so that what they do can be measured.

Whether a run is held out depends on a keyed hash of its thread, or of its reference where it has none, and on nothing
else: a retry, a resume, a replay, a fork and another process come to the same. The key is the project's own, so that
nobody who names runs can choose their arm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

from reasoningbank.errors import InvalidInputError
from reasoningbank.memory import Memory

# Of "memory" alone: the chance that one of the lessons recalled is withheld.
SINGLE_RATE: Final = 0.5
# How many times likelier than another lesson one that seems to harm is the one that is withheld. Of simulated projects
# with a lesson that harms (60 for each, 120 for the last) it was named in time in 86 % with 6, 90 with 24, 95 with 60.
SUSPECTED: Final = 60.0

Of = Literal["run", "memory"]


@dataclass(frozen=True, slots=True)
class Holdout:
    """How much is withheld.

    Attributes:
        rate: the chance that something is withheld from a run for which there are lessons, in (0, 1).
        of: "run": all of them; "memory": one of them.
    """

    rate: float
    of: Of = "run"


def as_holdout(given: object) -> Holdout | None:
    """Read a hold-out: a share of the runs; "memory" or "memory:SHARE"; None and 0 are none.

    Raises:
        InvalidInputError: it is none of these.
    """
    if isinstance(given, str):
        of, colon, share = given.partition(":")
        single = Holdout(_number(share) if colon else SINGLE_RATE, "memory")
        found = single if of == "memory" else Holdout(_number(given))
    elif given is None or (isinstance(given, (int, float)) and not isinstance(given, bool)):
        found = Holdout(float(given or 0.0))
    else:
        found = Holdout(math.nan)
    if found.rate == 0.0:
        return None
    if not 0.0 < found.rate < 1.0:
        raise InvalidInputError(
            f"holdout {given!r:.80} is not allowed: give the share of runs to hold out, such as 0.1, "
            '"memory" to withhold one lesson from every other run, or "memory:0.2" from one in five'
        )
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def draw(key: bytes, *names: str) -> float:
    """Return a number in [0, 1) that only depends on key and names, and is spread evenly: BLAKE2b, keyed (RFC 7693)."""
    said = b"".join(len(part := name.encode()).to_bytes(8, "big") + part for name in names)
    return int.from_bytes(blake2b(said, digest_size=8, key=key).digest(), "big") / 2.0**64


def is_exempt(memory: Memory) -> bool:
    """Tell whether a lesson may never be withheld: its metadata say `holdout_exempt`."""
    return memory.metadata.get("holdout_exempt") is True


def chances(holdout: Holdout, candidates: Sequence[int], harms: Mapping[int, float]) -> tuple[float, ...]:
    """Return the chance of each candidate to be withheld, in the order given.

    Of single lessons the chances add up to the rate, and one that seems to harm has more of it: so it is found out
    sooner, and shown less often meanwhile.
    """
    if holdout.of == "run":
        return (holdout.rate,) * len(candidates)
    weights = [SUSPECTED if n in harms else 1.0 for n in candidates]
    return tuple(holdout.rate * weight / math.fsum(weights) for weight in weights)


def withheld(holdout: Holdout, key: bytes, unit: str, chance: Mapping[str, float]) -> frozenset[str]:
    """Return the ids of the lessons that are withheld from a run.

    Args:
        unit: what stays in one arm: the run's thread, or its reference where it has none.
        chance: of each candidate to be withheld, by its id.
    """
    if draw(key, "run", unit) >= holdout.rate or not chance:
        return frozenset()
    if holdout.of == "run":
        return frozenset(chance)
    # The least of exponential variables of these rates is each of them with a chance in proportion to its rate.
    waits = {id_: -math.log1p(-draw(key, "memory", unit, id_)) / share for id_, share in chance.items()}
    return frozenset([min(waits, key=lambda id_: (waits[id_], id_))])
