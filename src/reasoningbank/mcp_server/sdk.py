"""The official SDK, both majors: its low-level server with our own JSON in and out.

The SDK's classes are read from the protocol's own names, which both majors know; what differs is how handlers are
registered. They run in worker threads, so that a slow embedder keeps nobody else waiting; a call that is cancelled runs
to its end there, so that it is whole or absent and holds no lock.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

import anyio
from anyio import to_thread

from reasoningbank import MissingExtraError, __version__
from reasoningbank.mcp_server.offer import Offer, ResourceNotFoundError

NAME = "reasoningbank"
RESOURCE_NOT_FOUND = -32002


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
}


async def _answer(offer: Offer, kind: str, params: Any) -> dict[str, Any]:
    """Return the protocol's own JSON for a request of one kind."""
    match kind:
        case "list_tools":
            return {"tools": offer.tools()}
        case "call_tool":
            return await to_thread.run_sync(offer.call, params.name, params.arguments)
        case "list_resources":
            return {"resources": offer.resources()}
        case "list_resource_templates":
            return {"resourceTemplates": offer.templates()}
    return {"contents": await to_thread.run_sync(offer.read, str(params.uri))}


def build_server(offer: Offer) -> Any:
    """Return the SDK's low-level server for an offer; MissingExtraError when the SDK is not installed."""
    load("mcp")
    types, errors, lowlevel = load("mcp.types"), load("mcp.shared.exceptions"), load("mcp.server.lowlevel")
    is_major_1 = version("mcp").startswith("1.")

    def handler(kind: str, result: Any) -> Callable[..., Awaitable[Any]]:

        async def handle(*given: Any) -> Any:
            # Major 1 hands over the request, major 2 a context and the request's parameters.
            try:
                params = given[-1].params if is_major_1 else given[-1]
                answered = result.model_validate(await _answer(offer, kind, params))
            except ResourceNotFoundError as error:
                if is_major_1:
                    raise errors.McpError(types.ErrorData(code=RESOURCE_NOT_FOUND, message=str(error))) from error
                raise errors.MCPError(RESOURCE_NOT_FOUND, str(error)) from error
            return types.ServerResult(answered) if is_major_1 else answered

        return handle

    handlers = {kind: handler(kind, getattr(types, result)) for kind, (_, result) in KINDS.items()}
    if not is_major_1:
        handlers = {f"on_{kind}": handle for kind, handle in handlers.items()}
        return lowlevel.Server(NAME, version=__version__, instructions=offer.instructions, **handlers)
    server = lowlevel.Server(NAME, version=__version__, instructions=offer.instructions)
    server.request_handlers.update({getattr(types, KINDS[kind][0]): handle for kind, handle in handlers.items()})
    return server


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


async def _serve(server: Any, incoming: io.TextIOWrapper, outgoing: io.TextIOWrapper) -> None:
    stdio = load("mcp.server.stdio")
    async with stdio.stdio_server(anyio.wrap_file(incoming), anyio.wrap_file(outgoing)) as (read, write):
        await server.run(read, write, server.create_initialization_options())
