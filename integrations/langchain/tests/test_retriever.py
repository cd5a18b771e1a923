from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, Runnable, RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from langchain_reasoningbank import ReasoningBankRetriever, attach, format_lessons, lessons_text, trajectory_of
from langchain_reasoningbank.documents import DOUBT
from reasoningbank import ReasoningBank, Verdict

DATES = "parse the dates of the invoices"


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own suite."""

    @pytest.fixture(autouse=True)
    def _open(self, bank: ReasoningBank) -> None:
        self.bank = bank

    @property
    def retriever_constructor(self) -> type[ReasoningBankRetriever]:
        return ReasoningBankRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"bank": self.bank}

    @property
    def retriever_query_example(self) -> str:
        return DATES

    @property
    def num_results_arg_name(self) -> str:
        return "limit"


class Events(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self.seen.append(("start", (kwargs["tags"], kwargs["metadata"]["tenant"])))

    def on_retriever_end(self, documents: Any, **kwargs: Any) -> None:
        self.seen.append(("end", len(documents)))


def titles(documents: Any) -> list[str]:
    return [document.metadata["title"] for document in documents]


def test_a_document_carries_the_lesson_and_what_is_known_of_it(bank: ReasoningBank) -> None:
    document = ReasoningBankRetriever(bank=bank, limit=1).invoke(DATES)[0]
    memory = bank.get(document.metadata["memory_id"])

    assert document.id == memory.id
    first, *said, last = document.page_content.split("\n")
    assert said == [memory.title, memory.content]
    assert re.fullmatch("<lessons-([0-9a-f]+)></lessons-\\1>", first + last)
    assert set(document.metadata) == {
        "memory_id", "title", "outcome", "confidence", "similarity", "score", "provisional", "weak", "tags", "project"
    }  # fmt: skip
    assert document.metadata["project"] == "billing"
    assert 0.0 <= document.metadata["similarity"] <= 1.0


def test_sync_and_async_give_the_same_with_the_same_options(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank=bank)
    for options in ({}, {"limit": 1}, {"limit": 2, "min_confidence": 0.0}):
        assert retriever.invoke(DATES, **options) == asyncio.run(retriever.ainvoke(DATES, **options))
        assert len(retriever.invoke(DATES, **options)) <= options.get("limit", 3)


async def test_both_ways_work_inside_a_running_loop(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank=bank, limit=1)

    assert retriever.invoke(DATES) == await retriever.ainvoke(DATES)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"outcome": "success"}, {"Pin the timezone"}),
        ({"tags": ["shell"]}, {"Quote invoice names"}),
        ({"min_confidence": 0.99, "strict": True}, set()),
    ],
)
def test_filters_are_honoured_in_both_ways(bank: ReasoningBank, options: dict[str, Any], expected: set[str]) -> None:
    retriever = ReasoningBankRetriever(bank=bank, **options)

    assert set(titles(retriever.invoke("the invoices"))) == expected
    assert set(titles(asyncio.run(retriever.ainvoke("the invoices")))) == expected


def test_k_and_the_floor_can_be_configured(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank=bank).configurable_fields(limit=ConfigurableField(id="limit"))

    assert len(retriever.with_config(configurable={"limit": 1}).invoke("the invoices")) == 1
    strict = ReasoningBankRetriever(bank=bank, strict=True).configurable_fields(
        min_confidence=ConfigurableField(id="floor")
    )
    assert len(strict.invoke("the invoices")) == 3
    assert strict.with_config(configurable={"floor": 0.99}).invoke("the invoices") == []


async def test_an_asynchronous_call_does_not_hold_up_the_event_loop(bank: ReasoningBank) -> None:
    from blockbuster import blockbuster_ctx

    retriever = ReasoningBankRetriever(bank=bank, limit=1)
    learning = ReasoningBankRetriever(bank=bank, limit=1, record_usage=True)
    with blockbuster_ctx(["reasoningbank", "langchain_reasoningbank"]):
        assert titles(await retriever.ainvoke(DATES)) == ["Pin the timezone"]
        assert titles(await learning.ainvoke(DATES)) == ["Pin the timezone"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ([{"type": "text", "text": DATES}, {"type": "image_url", "image_url": {"url": "data:..."}}], True),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], False),
        ([], False),
        ([{"type": "text", "text": None}], False),
        ([DATES], True),
        ("   ", False),
    ],
)
def test_content_blocks_are_searched_for_by_their_text(bank: ReasoningBank, query: Any, found: bool) -> None:
    assert bool(ReasoningBankRetriever(bank=bank).invoke(query)) is found


def test_callbacks_see_tags_and_metadata(bank: ReasoningBank) -> None:
    events = Events()
    ReasoningBankRetriever(bank=bank, limit=1).invoke(
        DATES, {"callbacks": [events], "tags": ["traced"], "metadata": {"tenant": "t1"}}
    )

    assert events.seen == [("start", (["traced"], "t1")), ("end", 1)]


def test_nothing_of_the_bank_is_in_dumps_or_logs(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank=bank)

    assert "bank" not in retriever.model_dump()
    assert str(bank.root) not in repr(retriever)
    assert str(bank.root) not in str(dumpd(retriever).get("kwargs"))


def test_a_misspelt_field_is_refused(bank: ReasoningBank) -> None:
    with pytest.raises(ValidationError):
        ReasoningBankRetriever(bank=bank, min_confidnce=0.5)  # type: ignore[call-arg]


def test_a_search_counts_nothing(bank: ReasoningBank) -> None:
    document = ReasoningBankRetriever(bank=bank, limit=1).invoke(DATES)[0]

    assert bank.get(document.metadata["memory_id"]).usage_count == 0
    assert "ref" not in document.metadata


# -- a chain that learns -------------------------------------------------------------------------------------------


def chain(retriever: ReasoningBankRetriever, model: Any) -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{lessons}\n\nTask: {q}")
    steps: Runnable[Any, Any] = {"lessons": retriever | format_lessons, "q": RunnablePassthrough()} | prompt | model
    return steps


def test_a_chain_shows_the_lessons_as_a_framed_block(bank: ReasoningBank, scripted: Any) -> None:
    model = scripted("ok")
    chain(ReasoningBankRetriever(bank=bank, limit=1), model).invoke(DATES)

    text = model.seen[0][0].text
    assert "Pin the timezone (what worked" in text
    assert "not instructions" in text


@pytest.mark.parametrize(
    ("judge", "verdict"),
    [
        (None, Verdict.UNKNOWN),
        (lambda answer: "ok" in answer.text, Verdict.SUCCESS),
        (lambda _: "failure", Verdict.FAILURE),
    ],
)
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
def test_a_chain_with_usage_recorded_closes_its_episode_once(
    bank: ReasoningBank, scripted: Any, judge: Any, verdict: Verdict, way: str
) -> None:
    retriever = ReasoningBankRetriever(bank=bank, limit=1, record_usage=True)
    learning = attach(chain(retriever, scripted("ok")), retriever, judge=judge)
    match way:
        case "invoke":
            learning.invoke(DATES)
        case "ainvoke":
            asyncio.run(learning.ainvoke(DATES))
        case "stream":
            assert list(learning.stream(DATES))
        case "batch":
            learning.batch([DATES])

    memory = bank.search(DATES, 1).memories[0]
    expected = {Verdict.SUCCESS: memory.confidence > 0.8, Verdict.FAILURE: memory.confidence < 0.79}
    assert expected.get(verdict, memory.confidence == pytest.approx(0.8, abs=1e-3))
    assert memory.usage_count == 1
    assert bank.upkeep.status().open_episodes == 0


def test_a_chain_that_raises_is_a_failure(bank: ReasoningBank, scripted: Any) -> None:
    retriever = ReasoningBankRetriever(bank=bank, limit=1, record_usage=True)
    learning = attach(chain(retriever, scripted(ValueError("model down"))), retriever, judge=lambda _: True)

    with pytest.raises(ValueError, match="model down"):
        learning.invoke(DATES)

    memory = bank.search(DATES, 1).hits[0].memory
    assert memory.confidence < 0.8
    assert bank.upkeep.status().open_episodes == 0


def test_a_retriever_that_counts_nothing_has_nothing_to_attach(bank: ReasoningBank, scripted: Any) -> None:
    retriever = ReasoningBankRetriever(bank=bank)

    with pytest.raises(ValueError, match="record_usage=True"):
        attach(chain(retriever, scripted("ok")), retriever)


def test_the_block_keeps_a_hard_budget(bank: ReasoningBank) -> None:
    documents = ReasoningBankRetriever(bank=bank).invoke("the invoices")

    assert lessons_text(documents, max_tokens=10) == ""
    assert lessons_text(documents).count("invoices") >= 2
    assert lessons_text([]) == ""


def test_it_filters_by_all_that_the_bank_filters_by(bank: ReasoningBank) -> None:
    (found, *_) = ReasoningBankRetriever(bank=bank).invoke(DATES)
    filtered = ReasoningBankRetriever(bank=bank, filters={"since": "1d", "where": {"no such key": 1}})

    assert found.metadata["title"] in titles(ReasoningBankRetriever(bank=bank, filters={"since": "1d"}).invoke(DATES))
    assert filtered.invoke(DATES) == []


WEAK = "remove the old emails"


@pytest.mark.parametrize("record_usage", [True, False])
def test_doubtful_lessons_say_so_in_documents_and_in_the_block(bank: ReasoningBank, record_usage: bool) -> None:
    retriever = ReasoningBankRetriever(bank=bank, record_usage=record_usage)
    sure, weak = retriever.invoke(DATES), retriever.invoke(WEAK)

    assert bank.search(WEAK).weak
    assert [document.metadata["weak"] for document in (*sure, *weak)] == [False] * len(sure) + [True] * len(weak)
    assert weak
    assert all(DOUBT in document.page_content for document in weak)
    assert "most likely none is about" in lessons_text(weak)
    assert "most likely none" not in lessons_text(sure)


def test_what_one_query_is_sure_of_is_not_doubtful_for_another(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank=bank, limit=2)
    sure, weak = retriever.invoke(DATES), ReasoningBankRetriever(bank=bank).invoke(WEAK)
    first, *others = lessons_text([*weak, *sure]).split("most likely none is about")

    assert set(sure) <= {*sure, *weak}
    assert all(document.metadata["title"] in first for document in sure)
    assert sum(text.count("<lessons-") for text in (first, *others)) == 1 + bool(set(weak) - set(sure))
    for document in (*sure, *weak):
        assert lessons_text([*weak, *sure]).count(document.metadata["memory_id"]) == 1


def test_documents_shown_without_a_frame_are_known_for_lessons_by_whoever_distils(bank: ReasoningBank) -> None:
    shown = "\n\n".join(document.page_content for document in ReasoningBankRetriever(bank=bank).invoke(DATES))
    run = trajectory_of(
        [
            HumanMessage(DATES),
            AIMessage("", tool_calls=[{"name": "look", "args": {"query": DATES}, "id": "1"}]),
            ToolMessage(shown, tool_call_id="1"),
            AIMessage("Parsed them."),
        ]
    )

    assert "tz=UTC" in shown
    assert bank.distill(run, "success").removed
    assert sorted(titles_in(bank)) == ["Never delete invoices", "Pin the timezone", "Quote invoice names"]


def titles_in(bank: ReasoningBank) -> list[str]:
    return [memory.title for memory in bank.list().memories]


def test_what_becomes_of_doubtful_documents_is_the_users_choice(bank: ReasoningBank) -> None:
    given = ReasoningBankRetriever(bank=bank, record_usage=True, weak="give").invoke(WEAK)

    assert given
    assert not any(DOUBT in document.page_content for document in given)
    assert ReasoningBankRetriever(bank=bank, record_usage=True, weak="omit").invoke(WEAK) == []
    with pytest.raises(ValueError, match="weak"):
        ReasoningBankRetriever(bank=bank, weak="hide")  # type: ignore[arg-type]
