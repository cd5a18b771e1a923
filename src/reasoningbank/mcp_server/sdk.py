"""The official SDK, both majors: its low-level server with our own JSON in and out.

The SDK's classes are read from the protocol's own names, which both majors know; what differs is how handlers are
registered. They run in worker threads, so that a slow embedder keeps nobody else waiting; a call that is cancelled runs
to its end there, so that it is whole or absent and holds no lock.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.metadata import version
from typing import Any

import anyio
from anyio import to_thread

from reasoningbank import MissingExtraError, __version__
from reasoningbank.errors import InvalidInputError
from reasoningbank.mcp_server.offer import Offer, ResourceNotFoundError, changes_lessons
from reasoningbank.mcp_server.wire import INVALID_PARAMS, UnreadableError, readable
from reasoningbank.serving import PATIENCE

NAME = "reasoningbank"
RESOURCE_NOT_FOUND = -32002
# A request that is answered when the client has enough of what it gives.
NEVER_ENDING = "subscriptions/listen"


def load(module: str) -> Any:
    """Import a module of the SDK; MissingExtraError when it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError("the MCP server", "mcp") from error


# The SDK's names for a request and its result, by the protocol's.
KINDS = {
    "list_tools": ("ListToolsRequest", "ListToolsResult"),
    "call_tool": ("CallToolRequest", "CallToolResult"),
    "list_resources": ("ListResourcesRequest", "ListResourcesResult"),
    "list_resource_templates": ("ListResourceTemplatesRequest", "ListResourceTemplatesResult"),
    "read_resource": ("ReadResourceRequest", "ReadResourceResult"),
    "list_prompts": ("ListPromptsRequest", "ListPromptsResult"),
    "get_prompt": ("GetPromptRequest", "GetPromptResult"),
}


# What is answered to a request of each kind, in the protocol's own JSON.
ANSWERS: dict[str, Callable[[Offer, Any], dict[str, Any]]] = {
    "list_tools": lambda offer, _: {"tools": offer.tools()},
    "call_tool": lambda offer, params: offer.call(params.name, params.arguments),
    "list_resources": lambda offer, params: offer.resources(getattr(params, "cursor", None)),
    "list_resource_templates": lambda offer, _: {"resourceTemplates": offer.templates()},
    "read_resource": lambda offer, params: {"contents": offer.read(str(params.uri))},
    "list_prompts": lambda offer, _: {"prompts": offer.prompts()},
    "get_prompt": lambda offer, params: offer.prompt(params.name, params.arguments),
}


def build_server(offer: Offer, *, announce: bool = True) -> Any:
    """Return the SDK's low-level server for an offer; MissingExtraError when the SDK is not installed.

    Args:
        announce: tell clients when a call changed which lessons there are; over HTTP nobody listens between requests.
    """
    load("mcp")
    make = _of_major_1 if version("mcp").startswith("1.") else _of_major_2
    return make(offer, announce, {"version": __version__, "instructions": offer.instructions})


async def _answer(offer: Offer, kind: str, params: Any, announced: Callable[[], Awaitable[None]] | None) -> Any:
    """Return the SDK's result for a request of one kind; `announced` tells clients that lessons changed."""
    found = await to_thread.run_sync(ANSWERS[kind], offer, params)
    if announced is not None and kind == "call_tool" and changes_lessons(found):
        await announced()
    return getattr(load("mcp.types"), KINDS[kind][1]).model_validate(found)


def _of_major_1(offer: Offer, announce: bool, about: dict[str, Any]) -> Any:
    types, errors = load("mcp.types"), load("mcp.shared.exceptions")
    server = load("mcp.server.lowlevel").Server(NAME, **about)

    async def announced() -> None:
        await server.request_context.session.send_resource_list_changed()

    def handler(kind: str) -> Callable[..., Awaitable[Any]]:
        async def handle(request: Any) -> Any:
            try:
                return types.ServerResult(await _answer(offer, kind, request.params, announced if announce else None))
            except (ResourceNotFoundError, InvalidInputError) as error:
                raise errors.McpError(types.ErrorData(code=_code(error), message=str(error))) from error

        return handle

    server.request_handlers.update({getattr(types, asked): handler(kind) for kind, (asked, _) in KINDS.items()})
    return server


def _of_major_2(offer: Offer, announce: bool, about: dict[str, Any]) -> Any:
    errors, subscriptions = load("mcp.shared.exceptions"), load("mcp.server.subscriptions")
    listening = subscriptions.InMemorySubscriptionBus()

    def handler(kind: str) -> Callable[..., Awaitable[Any]]:
        async def handle(context: Any, params: Any) -> Any:
            async def announced() -> None:
                await context.session.send_resource_list_changed()
                await listening.publish(subscriptions.ResourcesListChanged())

            try:
                return await _answer(offer, kind, params, announced if announce else None)
            except (ResourceNotFoundError, InvalidInputError) as error:
                raise errors.MCPError(_code(error), str(error)) from error

        return handle

    handlers: dict[str, Any] = {f"on_{kind}": handler(kind) for kind in KINDS}
    if announce:
        handlers["on_subscriptions_listen"] = subscriptions.ListenHandler(listening)
    return load("mcp.server.lowlevel").Server(NAME, **about, **handlers)


def _code(error: Exception) -> int:
    return RESOURCE_NOT_FOUND if isinstance(error, ResourceNotFoundError) else INVALID_PARAMS


# -- on standard input and output, which then carry the protocol and nothing else ------------------------------------


def serve_stdio(server: Any) -> None:
    """Serve one client on standard input and output, until it closes them."""
    anyio.run(_serve, server, *take_the_wire())


def take_the_wire() -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """Return standard input and output as UTF-8 text, and point the process's own ones elsewhere.

    What a dependency prints, also from C or in a child process, goes to standard error from then on.
    """
    incoming = io.TextIOWrapper(os.fdopen(os.dup(0), "rb"), "utf-8", "replace", newline="\n")
    outgoing = io.TextIOWrapper(os.fdopen(os.dup(1), "wb"), "utf-8", "replace", newline="\n")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing


class _Outgoing:
    """Standard output, on which each message is a line of its own, whoever writes it.

    It knows which requests have no answer yet.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._file, self._changed = anyio.wrap_file(stream), anyio.Condition()
        self._open: set[str | int] = set()

    def expects(self, message: str) -> None:
        """Note what a message from the client asks for, or takes back."""
        asked = json.loads(message)
        if asked.get("method") == "notifications/cancelled":
            self._open.discard(asked.get("params", {}).get("requestId"))
        elif "id" in asked and "method" in asked and asked["method"] != NEVER_ENDING:
            self._open.add(asked["id"])

    async def write(self, line: str) -> None:
        async with self._changed:
            await self._file.write(line)
            await self._file.flush()
            self._open.discard(json.loads(line).get("id"))
            self._changed.notify_all()

    async def flush(self) -> None:
        """Nothing is left to be flushed."""

    async def all_answered(self) -> None:
        """Wait until every request has its answer, but not for ever."""
        with anyio.move_on_after(PATIENCE):
            async with self._changed:
                while self._open:
                    await self._changed.wait()


async def _messages(incoming: io.TextIOWrapper, outgoing: _Outgoing) -> AsyncIterator[str]:
    """Give the messages that the SDK reads; what is none is answered here."""
    async for line in anyio.wrap_file(incoming):
        if not line.strip():
            continue
        try:
            message = readable(line)
        except UnreadableError as error:
            await outgoing.write(error.answer + "\n")
        else:
            outgoing.expects(message)
            yield message
    # At the end of its input the SDK drops what it has at hand, which is done all the same: a record would be stored,
    # and its client told that the connection was closed.
    await outgoing.all_answered()


async def _serve(server: Any, incoming: io.TextIOWrapper, outgoing: io.TextIOWrapper) -> None:
    stdio, lowlevel = load("mcp.server.stdio"), load("mcp.server.lowlevel")
    options = server.create_initialization_options(lowlevel.NotificationOptions(resources_changed=True))
    wire = _Outgoing(outgoing)
    async with stdio.stdio_server(_messages(incoming, wire), wire) as (read, write):
        await server.run(read, write, options)
