"""Erasing a name on the command line."""

from __future__ import annotations

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli


def test_erasing_a_name_says_how_much_it_is_and_asks_first(cli: Cli, bank: ReasoningBank) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure", source={"by": "ann"})
    bank.recall("quote the paths", thread="ann")

    said = "To be deleted of ann: 1 memories, 1 runs, 0 jobs, 0 nodes.\n"
    assert cli("erase", "ann", "--dry-run").out == said
    assert cli("erase", "ann", "--json").code == 2
    assert cli("erase", "anne", "--yes").err == (
        "Error: nothing was recorded under 'anne': give a `by`, a session, a thread, or the reference of a run\n"
    )
    assert bank.count() == 1

    done = cli("erase", "ann", "--yes", "--json")

    assert (done.code, len(done.json["memories"]), len(done.json["runs"])) == (0, 1, 1)
    assert bank.count(state=None) == 0


def test_forgetting_a_source_looks_first_whether_there_is_one(cli: Cli, bank: ReasoningBank) -> None:
    bank.record("Look", "Look first", outcome="success", source={"by": "crawler"})
    mistyped = cli("forget", "crawlr")

    # Nobody is there to answer: it was not asked.
    assert (mistyped.code, "did you mean 'crawler'?" in mistyped.err, "for good" in mistyped.err) == (1, True, False)
    assert "Delete 1 memories that came from 'crawler', for good?" in cli("forget", "crawler").err
    assert bank.sources.forget("crawler", dry_run=True).memories == (bank.list().memories[0].id,)
    assert (bank.count(state=None), bank.sources.list()) == (1, [])
