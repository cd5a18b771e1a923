"""What the domain makes once and keeps is what it would make anew."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from reasoningbank.diagnostics.rules import Rule
from reasoningbank.screening.guard import forms
from reasoningbank.screening.guard.signs import Sign
from reasoningbank.screening.scrub import rule_set
from tools.domain import domain_modules


def kept() -> Iterator[Any]:
    for path in domain_modules():
        name = ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")
        for value in vars(import_module(name)).values():
            if hasattr(value, "cache_info") and value.__module__ == name and not inspect.signature(value).parameters:
                yield pytest.param(value, id=f"{name}.{value.__name__}")


@pytest.mark.parametrize("make", list(kept()))
def test_it_is_what_would_be_made_anew(make: Callable[[], object]) -> None:
    anew, found = inspect.unwrap(make)(), make()

    assert type(anew) is type(found)
    if type(found).__eq__ is not object.__eq__:
        assert anew == found


def test_forms_are_compiled_when_they_are_first_asked_for() -> None:
    """Those of the tables were compiled by whichever test came first."""
    assert Rule(r"error: (.+)").form.match("error: no such table")
    assert Sign("exfiltrate", 1.0, ("send", "key"), also=("host",)).classes == {"send", "key", "host"}
    assert forms._compiled.__wrapped__("^keys?$").search("a\nkey")
    assert rule_set._pattern.__wrapped__(r"\d{6}", "badge").match("123456")
