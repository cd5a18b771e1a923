from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from langchain_reasoningbank import ReasoningBankMiddleware, attach
from reasoningbank import ReasoningBank, Verdict

DATES = "parse the dates of the invoices"
ASK: Any = {"messages": [("user", DATES)]}
THREAD: Any = {"configurable": {"thread_id": "t"}}


# -- one recall, one block -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_run_recalls_once_and_shows_one_block_to_every_model_call(
    agents: Any, tool_call: Callable[..., AIMessage], way: str
) -> None:
    agent, model = agents.build(tool_call("lookup", what="a"), "done", system_prompt="Be careful.")
    given = agent.invoke(ASK) if way == "sync" else asyncio.run(agent.ainvoke(ASK))

    assert agents.blocks(model) == [1, 1]
    assert [m.type for m in given["messages"]] == ["human", "ai", "tool", "ai"]
    assert model.seen[0][0].text.startswith("Be careful.")
    assert sum(m.usage_count for m in agents.bank.list().memories) <= 3
    assert agents.verdicts() == ["unknown"]


def test_the_lessons_come_last_in_one_system_message(agents: Any) -> None:
    prompt = SystemMessage([{"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}}])
    agent, model = agents.build("done", system_prompt=prompt)
    agent.invoke(ASK)

    systems = [m for m in model.seen[0] if isinstance(m, SystemMessage)]
    assert len(systems) == 1
    assert systems[0] is model.seen[0][0]
    assert systems[0].content[0] == {"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}}
    assert "<lessons-" in systems[0].content[-1]["text"]


def test_the_messages_are_the_same_with_and_without_the_middleware(agents: Any, scripted: Any) -> None:
    agent, _ = agents.build("done")
    plain = create_agent(scripted("done"), [agents.lookup])

    with_it, without = agent.invoke(ASK)["messages"], plain.invoke(ASK)["messages"]
    assert [(m.type, m.text) for m in with_it] == [(m.type, m.text) for m in without]


def test_no_lesson_is_in_the_message_stream(agents: Any) -> None:
    agent, _ = agents.build("done")

    streamed = [chunk.text for chunk, _ in agent.stream(ASK, stream_mode="messages")]
    assert "done" in "".join(streamed)
    assert "<lessons-" not in "".join(streamed)


def test_the_state_is_private_and_plain_json(agents: Any) -> None:
    import json

    agent, _ = agents.build("done", checkpointer=InMemorySaver())
    given = agent.invoke(ASK, THREAD)
    state = agent.get_state(THREAD).values

    assert set(given) == {"messages"}
    assert json.loads(json.dumps(state["reasoningbank"])) == state["reasoningbank"]
    assert "timezone" not in str(state["reasoningbank"])


def test_each_turn_of_a_thread_recalls_anew_and_has_its_own_episode(agents: Any) -> None:
    agent, model = agents.build("one", "two", checkpointer=InMemorySaver())
    agent.invoke(ASK, THREAD)
    agent.invoke({"messages": [("user", "quote the names of the invoices")]}, THREAD)

    assert agents.blocks(model) == [1, 1]
    assert agents.verdicts() == ["unknown", "unknown"]


@pytest.mark.parametrize(
    "content", [[{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], [], ""], ids=str
)
def test_an_image_or_an_empty_message_recalls_nothing(agents: Any, content: Any) -> None:
    agent, model = agents.build("done")
    agent.invoke({"messages": [HumanMessage(content)]})

    assert agents.blocks(model) == [0]
    assert agents.verdicts() == []


def test_two_middlewares_with_two_banks_do_not_meet(
    agents: Any, scripted: Any, open_bank: Callable[..., ReasoningBank]
) -> None:
    team = open_bank(project="team")
    team.record("Ask the team", "Ask the team how to parse the dates of the invoices", outcome="success")
    first, second = (
        ReasoningBankMiddleware(agents.bank),
        ReasoningBankMiddleware(team, name="team"),
    )
    model = scripted("done")
    agent = attach(attach(create_agent(model, [], middleware=[first, second]), first), second)
    agent.invoke(ASK)

    assert agents.blocks(model) == [2]
    assert "Ask the team" in model.seen[0][0].text
    assert (agents.verdicts(), agents.verdicts(team)) == (["unknown"], ["unknown"])


# -- endings -------------------------------------------------------------------------------------------------------


class BadHook(AgentMiddleware[Any, Any]):
    """Somebody else's middleware, with a bug."""

    def after_model(self, state: Any, runtime: Any) -> None:
        raise KeyError("a bug in somebody else's hook")


def retry(**options: Any) -> ModelRetryMiddleware:
    return ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, **options)


DOWN = ValueError("model down")


@dataclass
class Ending:
    """A run, what the caller sees of it, and what the bank should be told."""

    script: list[Any]
    verdict: str = "success"
    raises: type[BaseException] | None = None
    others: tuple[Any, ...] = ()
    first: bool = True


ENDINGS = {
    "success": Ending(["done"]),
    "the model raises": Ending([DOWN], "failure", ValueError),
    "a tool raises": Ending(["boom"], "failure", RuntimeError),
    "a retry inside ours": Ending([DOWN, "done"], others=(retry(),)),
    "a retry outside ours": Ending([DOWN, "done"], others=(retry(),), first=False),
    "retries used up give a normal result": Ending([DOWN, DOWN], others=(retry(),)),
    "tool retries used up give a normal result": Ending(["boom", "x"], others=(ToolRetryMiddleware(max_retries=0),)),
    "another hook raises": Ending(["done"], "failure", KeyError, others=(BadHook(),)),
    "recursion limit": Ending(["a"] * 99, "failure", GraphRecursionError),
    "call limit": Ending(["a"] * 9, others=(ModelCallLimitMiddleware(run_limit=2, exit_behavior="end"),)),
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("name", ENDINGS)
def test_every_ending_is_reported_once(agents: Any, tool_call: Any, name: str, way: str) -> None:
    ending = ENDINGS[name]
    lines = [tool_call("lookup", what=line) if line in ("a", "boom") else line for line in ending.script]
    agent, _ = agents.build(*lines, others=ending.others, first=ending.first, judge=lambda state: True)
    config = {"recursion_limit": 20}

    def run() -> Any:
        return agent.invoke(ASK, config) if way == "sync" else asyncio.run(agent.ainvoke(ASK, config))

    if ending.raises is None:
        run()
    else:
        with pytest.raises(ending.raises):
            run()

    assert agents.verdicts() == [ending.verdict]


def test_a_run_that_merely_ends_teaches_nothing(agents: Any) -> None:
    agent, _ = agents.build("done")
    before = {m.id: m.confidence for m in agents.bank.list().memories}
    agent.invoke(ASK)

    assert {m.id: m.confidence for m in agents.bank.list().memories} == before


def test_a_judged_run_teaches_exactly_once(agents: Any) -> None:
    agent, _ = agents.build("done", judge=lambda state: state["messages"][-1].text == "done", limit=1)
    agent.invoke(ASK)
    memory = agents.bank.search(DATES, 1).memories[0]

    assert memory.confidence > 0.8
    with agents.bank._engine.read() as connection:
        assert connection is not None
        assert connection.execute("SELECT count(*) FROM evidence WHERE kind = 'outcome'").fetchone() == (1,)


def test_a_user_can_report_by_thread_or_by_a_reference_of_their_own(agents: Any) -> None:
    agent, _ = agents.build("one", "two", checkpointer=InMemorySaver(), limit=1)
    agent.invoke(ASK, THREAD)
    assert agents.bank.report("success", thread="t").recorded

    agent.invoke(ASK, {"configurable": {"thread_id": "t", "reasoningbank_ref": "mine"}})
    assert agents.bank.report("failure", ref="mine").recorded
    assert agents.verdicts() == ["success", "failure"]


def test_the_reference_can_be_read_from_the_state(bank: ReasoningBank, scripted: Any) -> None:
    middleware = ReasoningBankMiddleware(bank)
    made: Any = create_agent(scripted("x"), [], middleware=[middleware], checkpointer=InMemorySaver())
    agent: Any = attach(made, middleware)
    agent.invoke(ASK, THREAD)

    assert bank.runs.get(middleware.ref_of(agent.get_state(THREAD).values)).verdict is Verdict.UNKNOWN
    assert middleware.ref_of({}) == ""


def test_an_agent_that_is_not_attached_is_warned_about_once(
    bank: ReasoningBank, scripted: Any, caplog: pytest.LogCaptureFixture
) -> None:
    agent = create_agent(scripted("a", "b"), [], middleware=[ReasoningBankMiddleware(bank)])
    with caplog.at_level(logging.WARNING):
        agent.invoke(ASK)
        agent.invoke(ASK)

    assert caplog.text.count("is not attached") == 1


def test_the_lessons_are_filtered_by_all_that_a_recall_filters_by(agents: Any) -> None:
    agent, model = agents.build("done", filters={"since": "1d"}, expand_links=True)
    agent.invoke(ASK)
    other, nothing = agents.build("done", filters={"where": {"no such key": 1}})
    other.invoke(ASK)

    assert (agents.blocks(model), agents.blocks(nothing)) == ([1], [0])


@pytest.mark.parametrize("weak", ["mark", "omit"])
def test_doubtful_lessons_are_marked_or_left_out(agents: Any, weak: str) -> None:
    agent, model = agents.build("fine", weak=weak)
    agent.invoke({"messages": [("user", "remove the old emails")]})

    assert agents.bank.search("remove the old emails").weak
    assert ("most likely none is about" in str(model.seen)) is (weak == "mark")
