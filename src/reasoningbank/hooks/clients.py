"""The clients: where each keeps its hooks, in what shape, and what is known to be silent there.

Data, with what it was checked against. The payloads in the tests are of the published shapes, or recorded by others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from reasoningbank.hooks.entry import DEADLINE, MOMENTS

Shape = Literal["grouped", "plain", "own file"]
SECONDS = int(DEADLINE) + 2


@dataclass(frozen=True, slots=True)
class Client:
    """One coding agent.

    Attributes:
        checked: what payloads and configuration were checked with: a version where one is known, and how.
        user, project: the file of its hooks, below the home folder and below a repository.
        shape: "grouped" (events hold matchers, which hold commands), "plain" (events hold commands), or "own file"
            (plain, in a file that is ours alone).
        timeout: the field for the time limit of a command, and how many of its units make a second.
        matcher: which tools' acts are told; "" for all.
        silences: what the client drops or does not tell, in words; `doctor` says them.
    """

    name: str
    checked: str
    user: str
    project: str
    shape: Shape
    timeout: tuple[str, int]
    matcher: str = ""
    silences: tuple[str, ...] = ()

    @property
    def events(self) -> tuple[str, ...]:
        """The events that are hooked."""
        return tuple(MOMENTS[self.name])

    def entry(self, event: str, command: Callable[[str], str]) -> dict[str, Any]:
        """Return what stands under an event."""
        field, per_second = self.timeout
        limit = {field: SECONDS * per_second}
        if self.shape == "grouped":
            tools = {"matcher": self.matcher} if self.matcher and "Tool" in event else {}
            return {**tools, "hooks": [{"type": "command", "command": command(event), **limit}]}
        if self.shape == "own file":
            return {"type": "command", "bash": command(event), "powershell": command(event), **limit}
        return {"command": command(event), **limit}


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "2.1.289: payloads captured by others and the types of its SDK",
            user=".claude/settings.json",
            project=".claude/settings.json",
            shape="grouped",
            timeout=("timeout", 1),
            silences=(
                "Read, Edit, Glob and Grep tell of no failure",
                "a command that goes well comes without an exit code",
            ),
        ),
        Client(
            "codex",
            "0.155: the schemas in its sources",
            user=".codex/hooks.json",
            project=".codex/hooks.json",
            shape="grouped",
            timeout=("timeout", 1),
            silences=(
                "hooks that are not trusted are skipped without a word: run /hooks once after installing, and after "
                "each change of a command",
                "no event says that a command failed: it is told by the output, and some versions fire none for it",
                "a turn is taken for over at Stop, since no event ends a session",
            ),
        ),
        Client(
            "cursor",
            "its published hooks reference; no version is known",
            user=".cursor/hooks.json",
            project=".cursor/hooks.json",
            shape="plain",
            timeout=("timeout", 1),
            silences=("nothing can be added at a prompt: lessons come at the start of a session and at failures",),
        ),
        Client(
            "copilot",
            "its published hooks reference; no version is known",
            user=".copilot/hooks/reasoningbank.json",
            project=".github/hooks/reasoningbank.json",
            shape="own file",
            timeout=("timeoutSec", 1),
            silences=("a command that fails is a tool that succeeded: the exit code is read from the end of its text",),
        ),
        Client(
            "gemini",
            "its published hooks reference; no version is known",
            user=".gemini/settings.json",
            project=".gemini/settings.json",
            shape="grouped",
            timeout=("timeout", 1_000),
            silences=(
                "a folder that is not trusted runs no project hooks",
                "it does not wait for what is done at the end of a session",
            ),
        ),
    )
}
