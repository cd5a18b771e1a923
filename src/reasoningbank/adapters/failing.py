"""What every integration does when an agent's tool fails: ask what is known of the error, and count what follows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from reasoningbank.adapters.banks import Banks, RunScope, bank_of
from reasoningbank.adapters.watched import key_of
from reasoningbank.bank import ReasoningBank
from reasoningbank.outputs import failure_of

# Under which argument tools take a command.
COMMANDS = ("command", "cmd", "commands", "script", "code")
# So many runs are remembered in which something was handed out that may still be repaired.
MOST_PENDING = 1_000


class ToolFailures:
    """Looks at what the tools of runs give back.

        failures = ToolFailures(bank)
        lessons = failures.look(output, tool="bash", arguments={"command": "git push"}, failed=True, ref=recall.ref)

    It fails open and in time: then there are no lessons, which the bank logs.

    Args:
        bank: whose lessons: a bank, or a resolver of the run's config and context.
        timeout: seconds that a recall may take.
        max_tokens: budget of a block; the bank's setting `failure_tokens` when None.
    """

    def __init__(self, bank: Banks, *, timeout: float = 0.5, max_tokens: int | None = None) -> None:
        self._banks, self._timeout, self._max_tokens = bank, timeout, max_tokens
        self._pending: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def bank(self, scope: RunScope) -> ReasoningBank:
        """Return the bank of a run; ScopeError when the resolver gives none."""
        return bank_of(self._banks, scope)

    def look(
        self,
        output: str,
        *,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        failed: bool | None = None,
        ref: str | None = None,
        task: str | None = None,
        scope: RunScope | None = None,
    ) -> str:
        """Return the block of lessons about the errors in what a tool gave back; "" for most.

        A success is told to the bank while something that was handed out in the run may be repaired by it.

        Args:
            arguments: the tool's; the command in them is what failed, if there is one.
            failed: whether the tool failed; by its output when None.
            ref: the run's episode; one of its own is opened when None.
            task: what is being done, for an episode that is opened here.
            scope: the run's config and context, for a resolver.
        """
        bank = self.bank(RunScope(None) if scope is None else scope)
        command = command_in(arguments or {})
        if not (failure_of(output) is not None if failed is None else failed):
            if ref and key_of(bank, ref) in self._pending:
                bank.report_act(ref, tool=tool, command=command)
            return ""
        found = bank.recall_failure(
            output,
            tool=tool,
            command=command,
            exit_code=1 if failed else None,
            task=task or None,
            ref=ref or None,
            max_tokens=self._max_tokens,
            timeout=self._timeout,
        )
        if found.hits:
            self._pending[key_of(bank, found.ref)] = None
            while len(self._pending) > MOST_PENDING:
                self._pending.popitem(last=False)
        return found.text


def command_in(arguments: Mapping[str, Any]) -> str | None:
    """Return the command among a tool's arguments, as one line; None where there is none."""
    given = next((arguments[name] for name in COMMANDS if arguments.get(name)), None)
    if isinstance(given, (list, tuple)):
        return " ".join(map(str, given))
    return given if isinstance(given, str) else None
