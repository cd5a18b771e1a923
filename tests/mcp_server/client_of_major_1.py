# mypy: ignore-errors
# It is written for the other major, which is not installed where mypy runs.
"""A client with the SDK's first major, run as a script in an environment that has it; it prints what it saw.

`client_of_major_1.py stdio`, `client_of_major_1.py http ADDRESS`, `client_of_major_1.py langchain`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

SERVER = {"command": os.environ["SERVER_PYTHON"], "args": ["-m", "reasoningbank", "mcp"], "env": dict(os.environ)}
RECORD = {"title": "Quote paths", "content": "Prüfstand 試験", "outcome": "failure"}


async def drive(read: Any, write: Any) -> dict[str, Any]:
    from mcp import ClientSession

    async with ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        recorded = await session.call_tool("memory_record", RECORD)
        found = await session.call_tool("memory_search", {"query": "Prüfstand 試験"})
        bad = await session.call_tool("memory_feedback", {"memory_id": "nope", "helpful": True})
        status = await session.read_resource("memory://status")
        return {
            "tools": [tool.name for tool in tools],
            "created": (recorded.structuredContent or {})["created"],
            "found": [memory["content"] for memory in (found.structuredContent or {})["memories"]],
            "bad": [bad.isError, bad.content[0].text],
            "status": json.loads(status.contents[0].text)["memories"],
        }


async def over_stdio() -> dict[str, Any]:
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with stdio_client(StdioServerParameters(**SERVER)) as (read, write):
        return await drive(read, write)


async def over_http(address: str) -> dict[str, Any]:
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(address) as (read, write, _):
        return await drive(read, write)


async def through_langchain() -> dict[str, Any]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"memory": {"transport": "stdio", **SERVER}})
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        return await tools[name].ainvoke({"name": name, "args": arguments, "id": "1", "type": "tool_call"})

    await call("memory_record", RECORD)
    found = await call("memory_search", {"query": "Prüfstand 試験"})
    return {"tools": list(tools), "text": str(found.content), "artifact": found.artifact}


async def main() -> None:
    match sys.argv[1:]:
        case ["stdio"]:
            seen = await over_stdio()
        case ["http", address]:
            seen = await over_http(address)
        case _:
            seen = await through_langchain()
    sys.stdout.write(json.dumps(seen, default=str) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
