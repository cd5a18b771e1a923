"""Which bank a command works on: from its options, else from the environment, else from nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reasoningbank.config import ENVIRONMENT, environment


class UsageError(Exception):
    """The command was not given what it needs; exit code 2."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One value of the scope.

    Attributes:
        origin: where it came from, in words.
    """

    value: str
    origin: str


DEFAULTS = {"embedder": "minilm"}


def chosen(options: Mapping[str, str | None]) -> dict[str, Chosen]:
    """Return what is chosen by options, environment variables and defaults, by name; what is not is left out."""
    variables = environment()
    found = {}
    for name, given in options.items():
        if given is not None:
            found[name] = Chosen(given, f"--{name}")
        elif name in variables:
            found[name] = Chosen(variables[name], ENVIRONMENT[name])
        elif name in DEFAULTS:
            found[name] = Chosen(DEFAULTS[name], "default")
    return found


def needed(scope: Mapping[str, Chosen], name: str) -> str:
    """Return a value of the scope.

    Raises:
        UsageError: it is not chosen; the message names the option and the variable.
    """
    if name not in scope:
        raise UsageError(f"no {name}: give --{name}, or set {ENVIRONMENT[name]}")
    return scope[name].value
