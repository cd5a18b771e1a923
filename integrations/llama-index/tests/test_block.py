from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory
from llama_index.core.workflow import Context

from llama_index.memory.reasoningbank import ReasoningBankMemoryBlock, run_with_memory
from reasoningbank import ReasoningBank

ASKED = "parse the dates of the invoices"
Verdicts = Callable[[ReasoningBank], list[str | None]]


def usage(bank: ReasoningBank) -> int:
    return sum(memory.usage_count for memory in bank.list().memories)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def test_it_is_a_memory_block() -> None:
    assert BaseMemoryBlock.__name__ in [kind.__name__ for kind in ReasoningBankMemoryBlock.__mro__]
    assert ReasoningBankMemoryBlock.class_name() == "ReasoningBankMemoryBlock"


async def test_the_lessons_are_in_what_the_memory_gives_and_never_in_what_it_stores(agents: Any) -> None:
    memory = agents.memory()
    await memory.aput(user(ASKED))
    given, stored = await memory.aget(), await memory.aget_all()

    assert "Pin the timezone" in (given[0].content or "")
    assert [m.role.value for m in stored] == ["user"]


async def test_asked_three_times_in_a_run_it_searches_and_counts_once(agents: Any, verdicts: Verdicts) -> None:
    memory = agents.memory(agents.block(limit=1))
    agent = agents.function_agent(("lookup", {"what": "a"}), "done")
    await agent.run(ASKED, memory=memory)

    assert agents.lessons() == [1, 1]
    assert usage(agents.bank) == 1
    assert verdicts(agents.bank) == [None]


async def test_the_same_words_in_the_next_run_recall_anew(agents: Any, verdicts: Verdicts) -> None:
    memory = agents.memory(agents.block(limit=1))
    for _ in range(3):
        await agents.function_agent("done").run(ASKED, memory=memory)

    assert usage(agents.bank) == 3
    assert len(verdicts(agents.bank)) == 3


async def test_a_new_memory_of_the_same_session_begins_a_new_run_once_the_last_is_reported(agents: Any) -> None:
    block = agents.block(limit=1)
    for _ in range(2):
        memory = agents.memory(block)
        await run_with_memory(agents.function_agent("done").run(ASKED, memory=memory), memory=memory)

    assert usage(agents.bank) == 2


async def test_two_sessions_never_mix(agents: Any, open_bank: Callable[..., ReasoningBank]) -> None:
    other = open_bank("globex")
    other.record("Lesson of globex", "Parse the dates of the invoices in UTC", outcome="success")
    blocks = {"acme": agents.block(), "globex": agents.block(bank=other)}
    memories = {
        (tenant, i): agents.memory(blocks[tenant], session_id=f"{tenant}-{i}") for i in range(10) for tenant in blocks
    }
    for memory in memories.values():
        await memory.aput(user(ASKED))
    given = await asyncio.gather(*(memory.aget() for memory in memories.values()))

    for (tenant, _), messages in zip(memories, given, strict=True):
        assert ("Lesson of globex" in messages[0].content) is (tenant == "globex")
        assert ("Pin the timezone" in messages[0].content) is (tenant == "acme")


@pytest.mark.parametrize(
    "message",
    [
        ChatMessage(role="user", blocks=[ImageBlock(image=b"iVBORw0KGgo=")]),
        ChatMessage(role="user", content=""),
        ChatMessage(role="user", blocks=[TextBlock(text="  ")]),
        ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [{"id": "1"}]}),
    ],
    ids=["image", "empty", "blank", "tool calls without content"],
)
async def test_a_message_that_asks_nothing_recalls_nothing(
    agents: Any, verdicts: Verdicts, message: ChatMessage
) -> None:
    assert await agents.block().aget([message], session_id="s") == ""
    assert verdicts(agents.bank) == []


async def test_it_has_its_own_budget(agents: Any) -> None:
    assert await agents.block(max_tokens=20).aget([user(ASKED)], session_id="s") == ""


async def test_truncation_drops_whole_lessons_and_never_the_block(agents: Any) -> None:
    block = agents.block()
    whole = await block.aget([user("the invoices")], session_id="s")
    shorter = await block.atruncate(whole, 5)

    assert whole.count("\n\n[") == 2
    assert shorter.count("\n\n[") == 1
    assert shorter.endswith(whole[-20:])
    assert await block.atruncate(whole, 10_000) == ""


async def test_it_stores_no_chat_turns_and_raises_for_no_content(agents: Any) -> None:
    block = agents.block()
    await block.aput([ChatMessage(role="assistant", content=None), user("x")], session_id="s")

    assert agents.bank.count() == 2


def test_two_blocks_of_one_name_are_refused(agents: Any) -> None:
    with pytest.raises(ValueError, match="unique"):
        agents.memory(agents.block(), agents.block())


async def test_two_blocks_with_two_names_work_side_by_side(
    agents: Any, open_bank: Callable[..., ReasoningBank]
) -> None:
    team = open_bank(project="team")
    team.record("Ask the team", "Ask the team how to parse the dates of the invoices", outcome="success")
    memory = agents.memory(agents.block(), agents.block(bank=team, name="team"))
    await memory.aput(user(ASKED))
    given = await memory.aget()

    assert "Pin the timezone" in given[0].content
    assert "Ask the team" in given[0].content


async def test_a_sync_call_inside_a_running_loop_works(agents: Any) -> None:
    memory = agents.memory()
    await memory.aput(user(ASKED))

    assert "Pin the timezone" in (memory.get()[0].content or "")


async def test_inserted_into_the_user_message_it_does_not_pile_up(agents: Any) -> None:
    memory = agents.memory(insert_method=InsertMethod.USER)
    await memory.aput(user(ASKED))
    given = [await memory.aget() for _ in range(3)][-1]

    assert str(given[-1].content).count("<lessons-") == 1


async def test_after_a_context_round_trip_the_memory_is_passed_again(agents: Any) -> None:
    """A Context does not keep the memory: without memory= the agent silently goes on with an empty one."""
    agent = agents.function_agent("one", "two", "three")
    context = Context(agent)
    await agent.run(ASKED, ctx=context, memory=agents.memory())
    with pytest.warns(Warning, match="unserializable key: memory"):
        saved = context.to_dict()

    await agent.run(ASKED, ctx=Context.from_dict(agent, saved))
    await agent.run(ASKED, ctx=Context.from_dict(agent, saved), memory=agents.memory())

    assert agents.lessons() == [1, 0, 1]


def test_the_bank_is_not_in_dumps(agents: Any) -> None:
    block = agents.block()

    assert "bank" not in block.model_dump()
    assert str(agents.bank.root) not in repr(block)


async def test_a_disk_that_fails_does_not_break_the_agent(agents: Any, caplog: pytest.LogCaptureFixture) -> None:
    memory = agents.memory()
    agents.bank.close()
    with caplog.at_level(logging.WARNING):
        await agents.function_agent("done").run(ASKED, memory=memory)

    assert agents.lessons() == [0]
    assert "no lessons were recalled" in caplog.text


async def test_failing_open_can_be_switched_off(agents: Any) -> None:
    block = agents.block(fail_open=False)
    agents.bank.close()

    with pytest.raises(OSError, match="closed"):
        await block.aget([user(ASKED)], session_id="s")


async def test_a_recall_does_not_hold_up_the_event_loop(agents: Any) -> None:
    from blockbuster import blockbuster_ctx

    block = agents.block()
    with blockbuster_ctx(["reasoningbank", "llama_index.memory.reasoningbank"]):
        assert "Pin the timezone" in await block.aget([user(ASKED)], session_id="s")


async def test_sixteen_threads_can_ask_one_block(agents: Any, verdicts: Verdicts) -> None:
    block = agents.block(limit=1)

    def ask(session: int) -> Any:
        return asyncio.run(block.aget([user(ASKED)], session_id=str(session)))

    given = await asyncio.gather(*(asyncio.to_thread(ask, session) for session in range(16)))

    assert all("<lessons-" in text for text in given)
    assert len(verdicts(agents.bank)) == 16


def test_a_memory_is_what_it_was_without_the_block(agents: Any) -> None:
    assert isinstance(agents.memory(), Memory)


async def test_the_lessons_are_filtered_by_all_that_a_recall_filters_by(
    agents: Any, open_bank: Callable[..., ReasoningBank]
) -> None:
    bank = open_bank("initech")
    needed = bank.record("Install tzdata", "Slim images have none", outcome="success").memory
    asked = bank.record("Pin the timezone", "Parse the dates of the invoices in UTC", outcome="success").memory
    bank.links.add(asked.id, needed.id, "requires")

    async def given(**options: Any) -> str:
        memory = agents.memory(agents.block(bank=bank, limit=1, **options))
        await memory.aput(user(ASKED))
        return str((await memory.aget())[0].content)

    assert "Install tzdata" not in await given(filters={"since": "1d"})
    assert "Install tzdata" in await given(expand_links=True)
    assert "Pin the timezone" not in await given(filters={"where": {"no such key": 1}})


@pytest.mark.parametrize("weak", ["mark", "omit"])
async def test_doubtful_lessons_are_marked_or_left_out(agents: Any, weak: str) -> None:
    memory = agents.memory(agents.block(weak=weak))
    await memory.aput(user("remove the old emails"))
    given = "".join(message.content or "" for message in await memory.aget())

    assert agents.bank.search("remove the old emails").weak
    assert ("most likely none is about" in given) is (weak == "mark")
