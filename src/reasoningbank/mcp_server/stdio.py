"""The server on standard input and output, which then carry the protocol and nothing else."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from reasoningbank.mcp_server.sdk import load


def serve_stdio(server: Any) -> None:
    """Serve one client on standard input and output, until it closes them."""
    import anyio

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
    import anyio

    stdio = load("mcp.server.stdio")
    async with stdio.stdio_server(anyio.wrap_file(incoming), anyio.wrap_file(outgoing)) as (read, write):
        await server.run(read, write, server.create_initialization_options())
