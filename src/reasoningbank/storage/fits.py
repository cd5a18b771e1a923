"""What banks that exchange fitted, each to what it saw, and the parameters that all of it puts into force.

They are a function of the newest fit of each origin and of the evidence that it had told before: the same on every bank
that has the same changes. What a bank says of its own weight is never asked.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from reasoningbank.belief.averaged import averaged
from reasoningbank.belief.calibrated import STARTING, Parameters
from reasoningbank.storage import parameters, replica, replica_evidence, trust
from reasoningbank.storage.contract import Reading, Writing
from reasoningbank.storage.parameters import Fit
from reasoningbank.storage.replica import Register

_LOCAL = ("harms", "harmful")


class OriginFit(NamedTuple):
    """The newest fit of an origin; `clock` is "" of one that was not told yet, `judged` its weight."""

    origin: str
    clock: str
    judged: int
    change: int
    parameters: Parameters

    @property
    def told(self) -> dict[str, Any]:
        """What others are told of it: all but what is about memories by this bank's own numbers."""
        return {name: value for name, value in self.parameters.record().items() if name not in _LOCAL}


def of(reading: Reading, origin: str) -> OriginFit | None:
    """Return the newest fit of an origin."""
    register = replica.register(reading, replica.FIT, origin)
    return None if register is None else _read(register)


def untold(reading: Reading, me: str) -> OriginFit | None:
    """Return this bank's own fit if others were not told of it; also one from before it spoke with anybody."""
    own = of(reading, me)
    if own is None and not replica.fit_registers(reading) and (before := parameters.newest(reading)) is not None:
        return OriginFit(me, "", 0, before.change, before.parameters)
    return None if own is None or own.clock else own


def put(writing: Writing, fit: OriginFit) -> None:
    """Note the newest fit of an origin."""
    body = {"judged": fit.judged, "change": fit.change, "parameters": fit.parameters.record()}
    register = Register(replica.FIT, fit.origin, "", "", fit.clock, fit.origin, json.dumps(body))
    replica.put_register(writing, register)


def _read(register: Register) -> OriginFit:
    body = json.loads(register.body)
    return OriginFit(register.a, register.clock, body["judged"], body["change"], Parameters.of(body["parameters"]))


def learn(writing: Writing, fit: Fit) -> None:
    """Put a fit of this bank's own into force: as it is, or with those of the banks that it exchanges with."""
    me = replica.speaks_as(writing)
    if me is None:
        parameters.add(writing, fit)
        return
    put(writing, OriginFit(me, "", replica_evidence.judged_by_origin(writing, me), fit.change, fit.parameters))
    settle(writing, fit.at)


def settle(writing: Writing, now: datetime) -> None:
    """Put into force what the fits of all origins give that are not blocked, unless it is."""
    me, fits = replica.speaks_as(writing), list(map(_read, replica.fit_registers(writing)))
    names = {origin: f"{replica.PREFIX}{known.name}" for origin, known in replica.origins(writing).items()}
    blocked = trust.blocked_among(writing, list(names.values()))
    own = next((fit for fit in fits if fit.origin == me), None)
    found = averaged([(fit.parameters, fit.judged) for fit in fits if names.get(fit.origin) not in blocked])
    change = 0
    if own is not None:
        change = own.change
        found = replace(found, harms=own.parameters.harms, harmful=own.parameters.harmful)
    before = parameters.newest(writing) or Fit(STARTING, 0, now)
    if (before.parameters, before.change) != (found, change):
        parameters.add(writing, Fit(found, change, now))
