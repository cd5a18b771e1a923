"""The rules that a user gives a bank: made in Python, or written in a file.

allow = ["hunter2"]

[[rule]]
name = "badge"
keywords = ["badge"]
pattern = 'badge no\\. (?P<secret>\\d{6})'
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from reasoningbank.errors import InvalidInputError
from reasoningbank.screening.scrub.rule import Rule
from reasoningbank.screening.scrub.rule_set import DEFAULT_RULES, RuleSet

ScrubRules: TypeAlias = "RuleSet | Iterable[Rule] | str | os.PathLike[str]"

KEYS = frozenset({"rule", "allow"})
RULE_KEYS = frozenset({"name", "keywords", "pattern"})


def as_rule_set(given: ScrubRules | None) -> RuleSet:
    """Return rules as a set; the built-in ones alone when None.

    InvalidInputError, which names the file and the rule, when they cannot be read.
    """
    if given is None:
        return DEFAULT_RULES
    if isinstance(given, RuleSet):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_rules(Path(given).expanduser())
    rules = tuple(given)
    if not all(isinstance(rule, Rule) for rule in rules):
        raise InvalidInputError("scrub_rules holds what is no Rule: give rules, a RuleSet, or a file of them")
    return RuleSet(rules)


def read_rules(path: Path) -> RuleSet:
    """Return the rules of a file in TOML: tables `[[rule]]` with name, keywords and pattern, and a list `allow`."""
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"the scrubbing rules {path} cannot be read: {error}") from None
    if unknown := sorted(said.keys() - KEYS):
        raise InvalidInputError(f"the scrubbing rules {path} hold {unknown[0]!r}; known: {', '.join(sorted(KEYS))}")
    tables, allow = said.get("rule", []), said.get("allow", [])
    if not isinstance(tables, list) or not _are_texts(allow):
        raise InvalidInputError(
            f"the scrubbing rules {path}: write each rule as [[rule]], and allow as a list of texts"
        )
    return RuleSet([_rule(table, f"{path}: rule {number}") for number, table in enumerate(tables, start=1)], allow)


def _rule(table: Any, where: str) -> Rule:
    if not isinstance(table, dict) or table.keys() - RULE_KEYS or not {"name", "pattern"} <= table.keys():
        raise InvalidInputError(f"{where} needs a name and a pattern, and may have keywords; nothing else")
    keywords = table.get("keywords", [])
    if not _are_texts(keywords) or not _are_texts([table["name"], table["pattern"]]):
        raise InvalidInputError(f"{where}: name and pattern are texts, keywords a list of texts")
    return Rule(table["name"], tuple(keyword.lower() for keyword in keywords), table["pattern"])


def _are_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) and one for one in given)
