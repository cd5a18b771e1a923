from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from llama_index.core.tools import RetrieverTool

from llama_index.memory.reasoningbank import ReasoningBankRetriever, get_tools
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"


async def test_sync_and_async_retrieve_the_same(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank, limit=1)
    (found,) = retriever.retrieve(ASKED)

    assert [node.node_id for node in await retriever.aretrieve(ASKED)] == [found.node_id]
    assert found.metadata["title"] == "Pin the timezone"
    assert found.node_id == found.metadata["memory_id"]
    assert bank.get(found.node_id).usage_count == 0


async def test_an_asynchronous_call_does_not_hold_up_the_event_loop(bank: ReasoningBank) -> None:
    from blockbuster import blockbuster_ctx

    retriever, search = ReasoningBankRetriever(bank, limit=1), get_tools(bank)[0]
    with blockbuster_ctx(["reasoningbank", "llama_index.memory.reasoningbank"]):
        (found,) = await retriever.aretrieve(ASKED)
        answer = await search.acall(query=ASKED)

    assert found.metadata["title"] == "Pin the timezone"
    assert "Pin the timezone" in answer.content


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        ({"outcome": "failure"}, ["Never delete invoices"]),
        ({"tags": ["none"]}, []),
        ({"min_confidence": 0.99, "strict": True}, []),
        ({"filters": {"since": "1d", "outcome": "failure"}}, ["Never delete invoices"]),
        ({"filters": {"where": {"no such key": 1}}}, []),
    ],
)
def test_filters_are_honoured(bank: ReasoningBank, options: dict[str, Any], titles: list[str]) -> None:
    found = ReasoningBankRetriever(bank, **options).retrieve("the invoices")

    assert [node.metadata["title"] for node in found] == titles


def test_the_tools_keep_their_filters_and_their_limit(bank: ReasoningBank) -> None:
    one, guarded = get_tools(bank, limit=1)[0], get_tools(bank, read_only=True, filters={"outcome": "failure"})[0]

    assert one.call(query="the invoices").content.count("invoices") >= 1
    assert "Never delete invoices" in guarded.call(query="the invoices", outcome="failure").content
    with pytest.raises(ValueError, match="outcome is bound to 'failure'"):
        guarded.call(query="the invoices", outcome="success")
    assert "Pin the timezone" not in guarded.call(query=ASKED).content


def test_a_model_is_shown_a_node_as_a_framed_lesson_and_nothing_of_its_bookkeeping(bank: ReasoningBank) -> None:
    bank.record("Cash books", "Close the cash books at noon", outcome="success", applies_when="in December")
    (node, *_) = ReasoningBankRetriever(bank).retrieve("close the cash books")
    shown = node.get_content(metadata_mode=MetadataMode.LLM)

    assert shown.count("Cash books") == 1
    assert shown.index("<lessons-") < shown.index("in December") < shown.index("</lessons-")
    assert "memory_id" not in shown
    assert node.get_content(metadata_mode=MetadataMode.EMBED) == shown


def test_a_retriever_fails_open_as_the_block_does(bank: ReasoningBank, caplog: pytest.LogCaptureFixture) -> None:
    bank.close()

    assert ReasoningBankRetriever(bank).retrieve(ASKED) == []
    assert "no lessons were recalled" in caplog.text
    with pytest.raises(OSError, match="closed"):
        ReasoningBankRetriever(bank, fail_open=False).retrieve(ASKED)


def test_nothing_asked_finds_nothing(bank: ReasoningBank) -> None:
    assert ReasoningBankRetriever(bank).retrieve("  ") == []


def test_it_works_in_a_query_engine_and_as_a_tool(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    tool = RetrieverTool.from_defaults(retriever, name="lessons", description="Lessons.")

    assert engine.query(ASKED).source_nodes[0].metadata["title"] == "Pin the timezone"
    assert "Pin the timezone" in tool.call(ASKED).content


async def test_tools_record_search_and_report(bank: ReasoningBank) -> None:
    tools = {tool.metadata.name: tool for tool in get_tools(bank)}
    recorded = await tools["memory_record"].acall(title="Quote", content="Quote the paths", outcome="failure")
    found = tools["memory_search"].call(query="quote the paths", limit="1")

    assert "Recorded as" in recorded.content
    assert "Quote the paths" in found.content
    ref = found.content.rsplit("ref: ", 1)[1]
    assert "Counted for 1" in tools["memory_outcome"].call(ref=ref, succeeded="true").content


@pytest.mark.parametrize(
    "arguments",
    [{"query": "x", "project": "other"}, {"query": "x", "tenant": "other"}, {"query": "x", "bank": "other"}],
)
async def test_a_forged_scope_is_refused(bank: ReasoningBank, arguments: dict[str, Any]) -> None:
    search = get_tools(bank)[0]

    with pytest.raises(ValueError, match="no argument of the name"):
        search.call(**arguments)
    with pytest.raises(ValueError, match="no argument of the name"):
        await search.acall(**arguments)


def test_schemas_hold_no_scope_and_a_read_only_bank_one_tool(bank: ReasoningBank) -> None:
    for tool in get_tools(bank):
        parameters = tool.metadata.get_parameters_dict()
        assert {"tenant", "project", "root", "bank"}.isdisjoint(parameters["properties"])
    (search,) = get_tools(bank, read_only=True)
    search.call(query=ASKED)

    assert bank.upkeep.status().open_episodes == 0


async def test_an_agent_sees_a_tools_error_and_goes_on(agents: Any) -> None:
    agent = agents.function_agent(
        ("memory_feedback", {"memory_id": "nope", "helpful": True}), "done", tools=get_tools(agents.bank)
    )
    result = await agent.run("vote")

    assert str(result) == "done"
    assert result.tool_calls[0].tool_output.is_error


def test_an_agent_puts_lessons_right_only_where_that_is_allowed(bank: ReasoningBank) -> None:
    memory_id = bank.record("Clean up", "Run rm -rf /build", outcome="success").memory.id
    tools = {tool.metadata.name: tool for tool in get_tools(bank, allow=("update", "retire"))}

    tools["memory_update"].call(memory_id=memory_id, content="Run make clean", reason="safer")
    assert bank.get(memory_id).content == "Run make clean"
    tools["memory_retire"].call(memory_id=memory_id, reason="no longer")
    assert bank.get(memory_id).state == "archived"


def test_doubtful_lessons_say_so_in_nodes(bank: ReasoningBank) -> None:
    retriever = ReasoningBankRetriever(bank)
    sure, weak = retriever.retrieve("parse the dates of the invoices"), retriever.retrieve("remove the old emails")

    assert bank.search("remove the old emails").weak
    assert [node.metadata["weak"] for node in (*sure, *weak)] == [False] * len(sure) + [True] * len(weak)
    assert weak
    assert all("most likely none is about this task" in node.text for node in weak)
