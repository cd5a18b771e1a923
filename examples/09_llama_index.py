"""LlamaIndex: an agent whose memory has a block of lessons, and a query engine over the same lessons."""

import asyncio
import warnings
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from scripted import works, write_code

from llama_index.memory.reasoningbank import (
    ReasoningBankMemoryBlock,
    ReasoningBankRetriever,
    get_tools,
    run_with_memory,
)
from reasoningbank import ReasoningBank

warnings.filterwarnings("ignore", category=DeprecationWarning)  # of LlamaIndex itself


def answer(messages: list[ChatMessage], **kwargs: Any) -> ChatMessage:
    """Say what the stand-in says."""
    return ChatMessage(role="assistant", content=write_code("\n".join(str(message.content) for message in messages)))


llm = MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)  # any LLM: llm = OpenAI(model="...")


async def main() -> None:
    with ReasoningBank("memory", tenant="acme", project="data") as bank:
        block = ReasoningBankMemoryBlock(bank=bank, timeout=5.0)
        for session, task in enumerate(
            ["split a line of a CSV file into its fields", "take a CSV line's fields apart"]
        ):
            memory = Memory.from_defaults(session_id=str(session), memory_blocks=[block], tokenizer_fn=str.split)
            agent = FunctionAgent(llm=llm, tools=[*get_tools(bank)], streaming=False)
            run = agent.run(task, memory=memory)
            result = await run_with_memory(run, memory=memory, judge=lambda result: works(str(result)))
            print(f"session {session}: {result!s:26} {bank.runs.get(thread=str(session)).verdict}")
            if not works(str(result)):
                bank.record("Read CSV with csv.reader", "Splitting lines at commas breaks fields.", outcome="failure")

        engine = RetrieverQueryEngine.from_args(ReasoningBankRetriever(bank), llm=MockLLM())
        found = engine.query("how do I read CSV?").source_nodes
        print("lessons about it:", [node.metadata["title"] for node in found])


asyncio.run(main())
