"""Whose bank a run uses, and which shared banks it looks through."""

from __future__ import annotations

import pytest

from reasoningbank import BankRoot, ReasoningBank, ScopeError
from reasoningbank.adapters import RunScope, bank_of
from reasoningbank.adapters.recalling import Recalling
from tests.conftest import OpenBank


@pytest.fixture
def bank(open_bank: OpenBank) -> ReasoningBank:
    bank = open_bank()
    with BankRoot(bank.root, tenant="acme", embedder="hash") as root:
        root.shared.create("org", readers=["billing"])
        with root.shared.open("org") as org:
            org.record("Quote paths", "Put paths in quotes: names hold blanks.", outcome="failure")
    return bank


def test_an_adapter_looks_through_the_shared_banks_that_it_names(bank: ReasoningBank) -> None:
    plain, shared = bank_of(bank, RunScope({})), bank_of(bank, RunScope({}), ("org",))

    assert plain is bank
    assert shared is bank_of(bank, RunScope({}), ("org",))
    assert shared.with_shared(("org",)) is shared
    assert plain.search("put paths in quotes").hits == ()
    assert [hit.level for hit in shared.search("put paths in quotes").hits] == ["org"]
    assert [each.name for each in shared.upkeep.status().shared] == ["org"]
    assert bank.upkeep.status().shared == ()


def test_a_bank_that_a_resolver_gives_looks_through_them_too(bank: ReasoningBank) -> None:
    recalling = Recalling(lambda _: bank, shared=("org",))

    recalled = recalling.recall(recalling.bank({}), "put paths in quotes", ref="run", thread=None)
    assert [hit.level for hit in recalled.hits] == ["org"]
    with pytest.raises(ScopeError):
        bank_of(lambda _: None, RunScope({}))  # type: ignore[arg-type, return-value]


def test_what_was_opened_beside_a_bank_is_closed_with_it(bank: ReasoningBank) -> None:
    shared = bank.with_shared(("org",))
    shared.search("put paths in quotes")
    shared.close()
    bank.record("Still open", "The project's files are this one's", outcome="success")

    bank.close()
