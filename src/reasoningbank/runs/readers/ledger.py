"""What a reader left out of a run: what it was, how often, and where."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from reasoningbank.memory import Text

PLACES = 3  # of each kind are named
KINDS = 40  # of things left out are told apart; the rest is counted together
OTHER = "other things"


class LeftOut(BaseModel):
    """Something in a run's file that is not in the run.

    Attributes:
        what: it was, in words.
        count: how often.
        places: where the first of them are, as paths into the file's JSON.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: Text
    count: int = Field(default=1, ge=1)
    places: tuple[Text, ...] = ()

    def __str__(self) -> str:
        at = f" ({', '.join(self.places)}{', …' if self.count > len(self.places) else ''})" if self.places else ""
        return f"{self.count:,} × {self.what}{at}"


class Ledger:
    """Counts what is left out of one run.

    Attributes:
        tools_unclear: something may have been the use of a tool and was not understood.
    """

    def __init__(self) -> None:
        self.tools_unclear = False
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[str]] = {}

    def note(self, what: str, place: str = "", *, maybe_tool: bool = False) -> None:
        """Count one thing that is left out; `maybe_tool` when it may have been an act."""
        self.tools_unclear |= maybe_tool
        what = what if what in self._counts or len(self._counts) < KINDS else OTHER
        self._counts[what] = self._counts.get(what, 0) + 1
        places = self._places.setdefault(what, [])
        if place and len(places) < PLACES:
            places.append(place[:200])

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return all that was left out, in the order in which it was met first."""
        return tuple(
            LeftOut(what=what, count=count, places=tuple(self._places[what])) for what, count in self._counts.items()
        )
