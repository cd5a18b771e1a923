"""The clients that the server is put into: where each keeps its servers, in what shape, and what it was checked with.

Data. The configurations in the tests are of the documented forms.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from reasoningbank.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Attributes:
        checked: what the shape was checked with.
        user: the file of its servers below the home folder; by platform (as `sys.platform` has it) where that differs.
        project: the file below a repository; "" where it reads none.
        group: the name under which all servers stand.
        form: how the file is written.
        more: what stands in an entry beside its command and arguments.
        notes: what a person has to know or do.
    """

    name: str
    checked: str
    user: str | Mapping[str, str]
    project: str
    group: str = "mcpServers"
    form: Literal["json", "toml"] = "json"
    more: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def user_file(self, platform: str = sys.platform) -> str:
        """Return the file below the home folder on a platform."""
        if isinstance(self.user, str):
            return self.user
        return self.user.get(platform, self.user["linux"])


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-desktop",
            "the protocol's quickstart for users, and the file of its Linux build; no version is known",
            user={
                "darwin": "Library/Application Support/Claude/claude_desktop_config.json",
                "win32": "AppData/Roaming/Claude/claude_desktop_config.json",
                "linux": ".config/Claude/claude_desktop_config.json",
            },
            project="",
            notes=("quit it and start it again: closing its window is not enough",),
        ),
        Client(
            "claude-code",
            "2.1.303: its documentation of MCP",
            user=".claude.json",
            project=".mcp.json",
            more={"type": "stdio"},
            notes=("/mcp shows whether it is connected; a server of a repository is asked about at the first start",),
        ),
        Client(
            "cursor",
            "its documentation of MCP, October 2026; no version is known",
            user=".cursor/mcp.json",
            project=".cursor/mcp.json",
            notes=("restart it, and switch the server on in its settings, under MCP",),
        ),
        Client(
            "vscode",
            "its reference of the MCP configuration, 2026; no version is known",
            user={
                "darwin": "Library/Application Support/Code/User/mcp.json",
                "win32": "AppData/Roaming/Code/User/mcp.json",
                "linux": ".config/Code/User/mcp.json",
            },
            project=".vscode/mcp.json",
            group="servers",
            more={"type": "stdio"},
            notes=("the command `MCP: List Servers` starts it; tools are used in agent mode",),
        ),
        Client(
            "windsurf",
            "its documentation of MCP, 2026; no version is known",
            user=".codeium/windsurf/mcp_config.json",
            project="",
            notes=("refresh the servers in its MCP settings",),
        ),
        Client(
            "codex",
            "0.145: forms that its strict check of the configuration takes",
            user=".codex/config.toml",
            project=".codex/config.toml",
            group="mcp_servers",
            form="toml",
            # It waits ten seconds otherwise, and the first start may have to fetch the package.
            more={"startup_timeout_sec": 60},
            notes=("/mcp shows whether it is connected; a repository's file is read where the repository is trusted",),
        ),
    )
}


def client_named(name: str) -> Client:
    """Return a client; InvalidInputError when there is none of this name."""
    if name not in CLIENTS:
        raise InvalidInputError(f"client {name!r} is not known: use one of {', '.join(CLIENTS)}")
    return CLIENTS[name]
