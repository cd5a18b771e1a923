"""Shared banks on a server do what they do in folders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reasoningbank import BankRoot
from tests.servers import Postgres


@pytest.fixture
def root(postgres: Postgres) -> Iterator[BankRoot]:
    with BankRoot(postgres.application, tenant="acme", embedder="hash") as opened:
        yield opened
    postgres.empty()


def test_a_lesson_is_promoted_recalled_credited_and_closed(root: BankRoot) -> None:
    root.shared.create("org", approvers=["sales"], readers=["billing"])
    sales, billing = (root.open(name, shared=("org",)) for name in ("sales", "billing"))
    own = sales.record("Quote paths", "Put paths in quotes: names hold blanks.", outcome="failure").memory.id
    copy = sales.sharing.promote(own, to="org").memory
    assert copy is not None

    recalled = billing.recall("put paths in quotes", ref="run")
    billing.report("success", ref="run")
    billing.report("failure", ref="run")

    assert [(hit.level, hit.memory.id) for hit in recalled.hits] == [("org", copy.id)]
    assert [hit.also[0].memory for hit in sales.search("put paths in quotes").hits] == [copy.id]
    assert [link.state for link in sales.sharing.links()] == ["same"]
    with root.shared.open("org") as org:
        pieces = org.evidence(copy.id).pieces
        assert sorted((p.kind, p.source, p.negative > 0) for p in pieces) == [
            ("outcome", "billing", True),
            ("usage", "billing", False),
        ]
    assert billing.sharing.status()[0].due == 0
    assert root.projects() == ["billing", "sales"]
    assert root.shared.remove("org", project="billing")
    assert billing.search("put paths in quotes").hits == ()
    root.shared.delete("org")
    assert root.shared.list() == []
