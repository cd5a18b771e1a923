"""The table of rules."""

from __future__ import annotations

import re

import pytest

from reasoningbank.screening.scrub import Rule
from reasoningbank.screening.scrub.commands import COMMANDS
from reasoningbank.screening.scrub.context import NAMED
from reasoningbank.screening.scrub.forms import FORMS
from reasoningbank.screening.scrub.prose import PROSE, TOLD


@pytest.mark.parametrize("rule", [*FORMS, *NAMED, *PROSE, *TOLD, *COMMANDS], ids=lambda rule: rule.name)
def test_every_rule_of_the_table_compiles_and_has_keywords_in_lower_case(rule: Rule) -> None:
    re.compile(rule.pattern)

    assert rule.keywords
    assert all(keyword == keyword.lower() for keyword in rule.keywords)
