"""A chain with a retriever: how feedback finds its run, and what it does when something is amiss."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from langchain_reasoningbank import ReasoningBankRetriever, attach, format_lessons, lessons_text
from reasoningbank import ReasoningBank

DATES = "parse the dates of the invoices"
THREAD: Any = {"configurable": {"thread_id": "t"}}
PROMPT = ChatPromptTemplate.from_template("{lessons}\n\nTask: {q}")


def chain(lessons: Any, model: Any) -> Runnable[Any, Any]:
    steps: Runnable[Any, Any] = {"lessons": lessons, "q": RunnablePassthrough()} | PROMPT | model
    return steps


# -- feedback that names a run -----------------------------------------------------------------------------------------


def test_feedback_finds_a_run_by_its_id_or_by_a_reference_of_ones_own(
    bank: ReasoningBank, retriever: Any, scripted: Any
) -> None:
    steps = attach(chain(retriever | format_lessons, scripted("ok", "ok")), retriever)
    run_id = uuid4()
    steps.invoke(DATES, {"run_id": run_id})
    steps.invoke(DATES, {"configurable": {"reasoningbank_ref": "mine"}})
    assert bank.report(True, ref=str(run_id)).recorded
    assert bank.report(False, ref="mine").recorded
    assert [episode.verdict for episode in bank.runs.list().episodes] == ["failure", "success"]


def test_a_chain_finds_its_thread(bank: ReasoningBank, retriever: Any, scripted: Any) -> None:
    attach(chain(retriever | format_lessons, scripted("ok")), retriever).invoke(DATES, THREAD)

    assert bank.report(True, thread="t").recorded


# -- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_bank_that_fails_gives_no_documents_and_a_warning(
    bank: ReasoningBank, caplog: pytest.LogCaptureFixture
) -> None:
    both = [ReasoningBankRetriever(bank=bank, record_usage=usage) for usage in (True, False)]
    bank.close()

    assert [retriever.invoke(DATES) for retriever in both] == [[], []]
    assert "no lessons were re" in caplog.text
    with pytest.raises(OSError, match="closed"):
        ReasoningBankRetriever(bank=bank, fail_open=False).invoke(DATES)


def test_a_limit_is_the_only_limit_that_was_not_set(bank: ReasoningBank) -> None:
    for n in range(12):
        bank.record(
            f"Lesson {n}", f"Parse the dates of the invoices, case {n}. " + "More words. " * 60, outcome="success"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = ReasoningBankRetriever(bank=bank, limit=9, record_usage=True).invoke(DATES)
        tight = ReasoningBankRetriever(bank=bank, limit=9, record_usage=True, max_tokens=300).invoke(DATES)

    assert len(free) > len(tight)
    assert lessons_text(free).count("Lesson ") == len([d for d in free if d.metadata["title"].startswith("Lesson")])


def test_foreign_documents_follow_the_block(bank: ReasoningBank) -> None:
    found: Sequence[Document] = [
        Document("A page of the wiki"),
        *ReasoningBankRetriever(bank=bank, limit=1).invoke(DATES),
        Document("Another", metadata={"title": "x"}),
    ]
    text = lessons_text(found)

    assert text.index("Pin the timezone") < text.index("A page of the wiki") < text.index("Another")
    assert lessons_text([Document("alone")]) == "alone"
