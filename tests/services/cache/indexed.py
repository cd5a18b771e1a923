"""Memories that are nothing but words, and what FTS5 and a cache find of them."""

from __future__ import annotations

from collections.abc import Sequence

from reasoningbank import ReasoningBank
from reasoningbank.memory import Draft
from reasoningbank.search.bm25 import within_budget
from reasoningbank.search.terms import match_expression
from reasoningbank.services.cache import postings
from reasoningbank.services.cache.project import ProjectCache
from reasoningbank.services.view import View
from reasoningbank.storage import records
from reasoningbank.storage.records import NewMemory
from reasoningbank.verdict import Verdict
from tests.services.cache.views import looking

ANY = Draft(title="Any", content="Anything.", outcome=Verdict.SUCCESS)


def put(bank: ReasoningBank, n: int, text: str) -> None:
    with bank._engine.write() as edit:
        records.index(edit, 1, {n: NewMemory(str(n), ANY, b"", (), text)})


def rewrite(bank: ReasoningBank, n: int, text: str) -> None:
    with bank._engine.write() as edit:
        records.remove_from_index(edit, n)
        records.index(edit, 1, {n: NewMemory(str(n), ANY, b"", (("lesson", b"1234"),), text)})


def remove(bank: ReasoningBank, *numbers: int) -> None:
    with bank._engine.write() as edit:
        for n in numbers:
            records.delete(edit, n)


def of_fts5(view: View, wanted: Sequence[str]) -> list[tuple[int, float]]:
    asked = within_budget(view.words.sizes(wanted), postings.BUDGET)
    if not asked:
        return []
    return view.execute(
        "SELECT rowid, -bm25(terms) FROM terms WHERE terms MATCH ? ORDER BY rowid", (match_expression(asked),)
    ).fetchall()


def found(cache: ProjectCache, view: View, wanted: Sequence[str]) -> list[tuple[int, float]]:
    rows, scores, _ = cache.matches(view, wanted)
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


def search(bank: ReasoningBank, cache: ProjectCache, *wanted: str) -> list[tuple[int, float]]:
    """Look anew, check what is found, and return it."""
    with looking(bank, cache) as view:
        rows = found(cache, view, wanted)
        assert rows == of_fts5(view, wanted)
    return rows


def numbers(rows: list[tuple[int, float]]) -> list[int]:
    return [n for n, _ in rows]
