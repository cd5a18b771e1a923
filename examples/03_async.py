"""The same calls in async code: each is one hop to a worker thread."""

import asyncio

from reasoningbank import AsyncReasoningBank, ReasoningBank

LESSONS = {
    "Retry with a pause": "Wait longer after each refused request, and give up after five.",
    "Ask for pages": "Read long lists page by page: the first answer holds a hundred rows at the most.",
    "Name the time zone": "Store times in UTC, and say so in the name of the column.",
}


async def main() -> None:
    with ReasoningBank("memory", tenant="acme", project="api") as bank:
        memory = AsyncReasoningBank(bank)
        await asyncio.gather(*(memory.record(title, text, outcome="success") for title, text in LESSONS.items()))

        for question in ("the service refuses requests", "a list stops after a hundred rows"):
            found = await memory.search(question, limit=1)
            print(f"{question}: {[hit.memory.title for hit in found.hits]}")

        async with memory.episode("fetch a list that stops after a hundred rows") as run:
            await run.step("asked for page 2", "the other rows")
            await run.report("success")
            print(f"credited: {[hit.memory.title for hit in run.hits]}")


asyncio.run(main())
