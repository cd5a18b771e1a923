"""A run is known by the framework's run: its id, never what was said in it or where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.memory import Memory
from llama_index.core.workflow import Context
from llama_index_instrumentation.dispatcher import instrument_tags

from llama_index.memory.reasoningbank import get_tools, run_with_memory
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"
Verdicts = Callable[[ReasoningBank], list[str | None]]


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def passes(result: Any) -> bool:
    return True


async def execute(code: str) -> str:
    """Execute code."""
    return f"ran {code}"


async def ask(agents: Any, agent: Any, memory: Memory | None = None, asked: str = ASKED, **options: Any) -> Any:
    memory = memory or agents.memory()
    handler = agent.run(asked, memory=memory)
    return await run_with_memory(handler, memory=memory, **{"judge": passes, **options})


ANSWER = "Thought: I can answer without using any more tools.\nAnswer: done"
ACT = 'Thought: I need it.\nAction: lookup\nAction Input: {"what": "a"}'
KINDS: dict[str, Callable[[Any], Any]] = {
    "function": lambda agents: agents.function_agent(("lookup", {"what": "a"}), "done"),
    "function, with a prompt": lambda agents: agents.function_agent(
        ("lookup", {"what": "a"}), "done", system_prompt="Be brief."
    ),
    "react": lambda agents: agents.react_agent(ACT, ANSWER),
    "codeact": lambda agents: CodeActAgent(
        code_execute_fn=execute, llm=agents.llm("<execute>1 + 1</execute>", "done"), streaming=False
    ),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_agent_is_shown_the_lessons_in_each_call_and_is_one_run(
    agents: Any, verdicts: Verdicts, kind: str
) -> None:
    await ask(agents, KINDS[kind](agents))

    assert agents.lessons() == [1, 1]
    assert verdicts(agents.bank) == ["success"]


@pytest.mark.parametrize("wrapped", [True, False], ids=["wrapper", "spans"])
async def test_turns_whose_history_is_flushed_are_one_episode_each(
    agents: Any, verdicts: Verdicts, spans: Any, wrapped: bool
) -> None:
    handler = None if wrapped else spans(judge=passes)
    memory = agents.memory(token_limit=600)

    def long(what: str) -> str:
        """Look at length."""
        return "word " * 3_000

    for _ in range(12):
        agent = agents.function_agent(("long", {"what": "a"}), "done", tools=[long])
        if wrapped:
            await ask(agents, agent, memory)
        else:
            await agent.run(ASKED, memory=memory)
    if handler is not None:
        handler.flush()

    assert verdicts(agents.bank) == ["success"] * 12
    assert agents.lessons() == [1] * 24


async def test_a_handoff_is_one_episode(agents: Any, verdicts: Verdicts) -> None:
    handoff = ("handoff", {"to_agent": "second", "reason": "it knows"})
    first = agents.function_agent(handoff, name="first", description="Begins.", can_handoff_to=["second"])
    second = FunctionAgent(name="second", description="Ends.", llm=agents.llm("done"), streaming=False)
    workflow = AgentWorkflow(agents=[first, second], root_agent="first")

    await ask(agents, workflow)

    assert agents.lessons() == [1, 1]
    assert verdicts(agents.bank) == ["success"]


async def test_a_block_and_the_tools_in_one_agent_count_a_success_once(agents: Any, verdicts: Verdicts) -> None:
    memory = agents.memory()
    agent = agents.function_agent(("memory_search", {"query": ASKED}), "done", tools=get_tools(agents.bank))
    handler = agent.run(ASKED, memory=memory)
    await run_with_memory(handler, memory=memory, judge=passes)
    shown = str(agents.prompts[1][-1].content)

    assert shown.endswith(f"ref: {handler.run_id}")
    assert verdicts(agents.bank) == ["success"]
    assert {memory.usage_count for memory in agents.bank.list().memories} == {1}


async def test_the_id_of_the_run_is_the_reference(agents: Any) -> None:
    memory = agents.memory()
    handler = agents.function_agent("done").run(ASKED, memory=memory)
    await run_with_memory(handler, memory=memory)

    assert agents.bank.report("success", ref=handler.run_id).credited


async def test_eight_looks_at_once_are_one_episode(agents: Any, verdicts: Verdicts) -> None:
    block = agents.block()
    given = await asyncio.gather(*(block.aget([user(ASKED)], session_id="s") for _ in range(8)))

    assert len(set(given)) == 1
    assert verdicts(agents.bank) == [None]


async def test_a_run_that_nobody_waits_for_any_more_is_closed_as_unknown(agents: Any, verdicts: Verdicts) -> None:
    begun = asyncio.Event()

    async def waiting(what: str) -> str:
        """Wait."""
        begun.set()
        await asyncio.sleep(60)
        return what

    agent = agents.function_agent(("waiting", {"what": "a"}), tools=[waiting])
    task = asyncio.ensure_future(ask(agents, agent))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert verdicts(agents.bank) == ["unknown"]


async def test_a_run_that_never_asks_the_memory_is_warned_about(agents: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A Context does not keep the memory, not even a living one."""
    agent, memory = agents.function_agent("one", "two"), agents.memory()
    context = Context(agent)
    await run_with_memory(agent.run(ASKED, ctx=context, memory=memory), memory=memory)
    assert not caplog.records
    with pytest.warns(Warning, match="unserializable key: memory"):
        second = agent.run(ASKED, ctx=context)
    await run_with_memory(second, memory=memory)

    assert agents.lessons() == [1, 0]
    assert "never asked this memory" in caplog.text


async def later(result: Any) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"key": "k", "score": True, "comment": "c"}


@pytest.mark.parametrize(
    ("judge", "verdict"),
    [
        (later, "success"),
        (lambda result: EvaluationResult(passing=False, score=2.0, feedback="no"), "failure"),
        (lambda result: object(), "unknown"),
    ],
    ids=["async", "evaluator", "wrong"],
)
async def test_a_judge_may_be_async_and_an_evaluator(agents: Any, verdicts: Verdicts, judge: Any, verdict: str) -> None:
    await ask(agents, agents.function_agent("done"), judge=judge)

    assert verdicts(agents.bank) == [verdict]


@pytest.mark.parametrize("session", ["", "s" * 1_000, "\u200b"])
@pytest.mark.parametrize("asked", [ASKED, "\u200b"], ids=["asked", "nothing"])
async def test_no_session_and_no_message_breaks_the_agent(
    agents: Any, verdicts: Verdicts, session: str, asked: str
) -> None:
    memory = agents.memory(session_id=session)

    assert str(await ask(agents, agents.function_agent("done"), memory, asked)) == "done"
    assert verdicts(agents.bank) == (["success"] if asked == ASKED else [])


# -- many tenants ------------------------------------------------------------------------------------------------------


async def test_a_resolver_gives_each_run_its_own_bank_and_no_model_has_a_say(
    agents: Any, open_bank: Callable[..., ReasoningBank]
) -> None:
    banks = {name: open_bank(project=name) for name in ("red", "blue")}
    for name, bank in banks.items():
        bank.record(f"Lesson of {name}", f"Parse the dates of the invoices in {name}", outcome="success")

    def resolve(run: Any) -> ReasoningBank:
        return banks[run["team"]]

    block, tools = agents.block(bank=resolve), get_tools(resolve)

    async def run(name: str, number: int) -> list[ChatMessage]:
        agent = agents.function_agent(("memory_search", {"query": ASKED}), "done", tools=tools)
        with instrument_tags({"team": name}):
            await ask(agents, agent, agents.memory(block, session_id=f"{name} {number}"))
        return list(agents.prompts)

    await asyncio.gather(*(run(name, number) for number in range(5) for name in banks))

    for prompt in agents.prompts:
        text = " ".join(str(message.content) for message in prompt)
        assert ("Lesson of red" in text) is not ("Lesson of blue" in text)
    assert [len(bank.runs.list().episodes) for bank in banks.values()] == [5, 5]


# -- chat engines ------------------------------------------------------------------------------------------------------


def read(answer: Any) -> str:
    return "".join(answer.response_gen)


async def aread(answer: Any) -> str:
    return "".join([part async for part in answer.async_response_gen()])


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("door", ["chat", "stream_chat", "achat", "astream_chat"])
async def test_each_call_of_a_chat_engine_is_a_run_that_is_closed(
    agents: Any, verdicts: Verdicts, spans: Any, door: str, judged: bool
) -> None:
    from llama_index.memory.reasoningbank import outcome

    heard: list[str] = []

    def judge(answer: Any) -> bool:
        heard.append(str(answer))
        return True

    handler = spans(judge=judge) if judged else None
    engine = SimpleChatEngine.from_defaults(llm=agents.llm("done", "done"), memory=agents.memory())
    for _ in range(2):
        if door.startswith("a"):
            answer = await getattr(engine, door)(ASKED)
            said = await aread(answer) if "stream" in door else str(answer)
        else:
            answer = await asyncio.to_thread(getattr(engine, door), ASKED)
            said = await asyncio.to_thread(read if "stream" in door else str, answer)
        assert said.strip() == "done"
    for watching in (handler, outcome._chat_watch):
        if watching is not None:
            await asyncio.to_thread(watching.flush)

    assert agents.lessons() == [1, 1]
    assert verdicts(agents.bank) == ["success" if judged else "unknown"] * 2
    assert heard == (["done", "done"] if judged else [])


async def test_a_chat_engine_that_raises_failed(agents: Any, verdicts: Verdicts) -> None:
    from llama_index.memory.reasoningbank import outcome

    engine = SimpleChatEngine.from_defaults(llm=agents.llm(ValueError("model down")), memory=agents.memory())
    with pytest.raises(ValueError, match="model down"):
        await engine.achat(ASKED)
    assert outcome._chat_watch is not None
    await asyncio.to_thread(outcome._chat_watch.flush)

    assert verdicts(agents.bank) == ["failure"]


def test_the_agent_kinds_here_are_all_there_are() -> None:
    """A new kind of the framework has to be tried."""
    from llama_index.core.agent import workflow

    kinds = {name for name in workflow.__all__ if name.endswith("Agent") and not name.startswith("Base")}
    assert kinds == {ReActAgent.__name__, FunctionAgent.__name__, CodeActAgent.__name__}
