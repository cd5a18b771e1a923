"""The official SDK, both majors: its low-level server with our own JSON in and out.

The SDK's classes are read from the protocol's own names, which both majors know; what differs is how handlers are
registered. They run in worker threads, so that a slow embedder keeps nobody else waiting; a call that is cancelled runs
to its end there, so that it is whole or absent and holds no lock.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from anyio import to_thread

from reasoningbank import MissingExtraError, __version__
from reasoningbank.mcp_server.offer import INSTRUCTIONS, Offer, ResourceNotFoundError

NAME = "reasoningbank"
RESOURCE_NOT_FOUND = -32002


def load(module: str) -> Any:
    """Import a module of the SDK.

    Raises:
        MissingExtraError: the SDK is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError("the MCP server", "mcp") from error


def build_server(offer: Offer) -> Any:
    """Return the SDK's low-level server for an offer.

    Raises:
        MissingExtraError: the SDK is not installed.
    """
    load("mcp")
    return _of_major_1(offer) if version("mcp").startswith("1.") else _of_major_2(offer)


# Our answer, by the SDK's names for the request and its result.
Answers = dict[str, Callable[[Any], Awaitable[dict[str, Any]]]]
KINDS = {
    "list_tools": ("ListToolsRequest", "ListToolsResult"),
    "call_tool": ("CallToolRequest", "CallToolResult"),
    "list_resources": ("ListResourcesRequest", "ListResourcesResult"),
    "list_resource_templates": ("ListResourceTemplatesRequest", "ListResourceTemplatesResult"),
    "read_resource": ("ReadResourceRequest", "ReadResourceResult"),
}


def _answers(offer: Offer) -> Answers:
    """Return what answers each kind of request, from its parameters to the protocol's own JSON."""

    async def list_tools(_params: Any) -> dict[str, Any]:
        return {"tools": offer.tools()}

    async def call_tool(params: Any) -> dict[str, Any]:
        return await to_thread.run_sync(offer.call, params.name, params.arguments)

    async def list_resources(_params: Any) -> dict[str, Any]:
        return {"resources": offer.resources()}

    async def list_resource_templates(_params: Any) -> dict[str, Any]:
        return {"resourceTemplates": offer.templates()}

    async def read_resource(params: Any) -> dict[str, Any]:
        return {"contents": await to_thread.run_sync(offer.read, str(params.uri))}

    return {
        "list_tools": list_tools,
        "call_tool": call_tool,
        "list_resources": list_resources,
        "list_resource_templates": list_resource_templates,
        "read_resource": read_resource,
    }


def _of_major_2(offer: Offer) -> Any:
    types, errors = load("mcp.types"), load("mcp.shared.exceptions")

    def handler(kind: str, answer: Callable[[Any], Awaitable[dict[str, Any]]]) -> Callable[[Any, Any], Any]:
        result = getattr(types, KINDS[kind][1])

        async def handle(_context: Any, params: Any) -> Any:
            try:
                return result.model_validate(await answer(params))
            except ResourceNotFoundError as error:
                raise errors.MCPError(RESOURCE_NOT_FOUND, str(error)) from error

        return handle

    handlers = {f"on_{kind}": handler(kind, answer) for kind, answer in _answers(offer).items()}
    lowlevel = load("mcp.server.lowlevel")
    return lowlevel.Server(NAME, version=__version__, instructions=INSTRUCTIONS, **handlers)


def _of_major_1(offer: Offer) -> Any:
    types, errors = load("mcp.types"), load("mcp.shared.exceptions")

    def handler(kind: str, answer: Callable[[Any], Awaitable[dict[str, Any]]]) -> Callable[[Any], Any]:
        result = getattr(types, KINDS[kind][1])

        async def handle(request: Any) -> Any:
            try:
                return types.ServerResult(result.model_validate(await answer(request.params)))
            except ResourceNotFoundError as error:
                found = types.ErrorData(code=RESOURCE_NOT_FOUND, message=str(error))
                raise errors.McpError(found) from error

        return handle

    server = load("mcp.server.lowlevel").Server(NAME, version=__version__, instructions=INSTRUCTIONS)
    for kind, answer in _answers(offer).items():
        server.request_handlers[getattr(types, KINDS[kind][0])] = handler(kind, answer)
    return server
