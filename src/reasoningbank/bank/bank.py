"""The bank: one handle, bound to one project of one tenant, with everything it can do."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from reasoningbank.bank.consolidating import Consolidating
from reasoningbank.bank.distilling import Distilling
from reasoningbank.bank.graphing import Graphing
from reasoningbank.bank.linking import Linking
from reasoningbank.bank.transfer import Transfer
from reasoningbank.bank.trust import Trust
from reasoningbank.bank.upkeep import Upkeep
from reasoningbank.bank.writing import Writing


class ReasoningBank(Writing, Distilling, Linking, Graphing, Trust, Transfer, Consolidating, Upkeep):
    """An experience memory for agents: lessons from what worked, guard-rails from what failed.

        with ReasoningBank(tenant="acme", project="billing") as bank:
            bank.record("Quote paths", "Put paths in quotes: names hold blanks.", outcome="failure")
            with bank.episode("rename the scans in ./in") as run:
                answer = agent(run.text)
                run.report("success" if check(answer) else "failure")

    A handle is safe for threads, for several processes on one folder, and across a fork. It opens its files at its
    first use; reading never makes a project.

    Args:
        root: the folder that holds the data; the user's data folder when None.
        tenant: whose data it is. There is no default.
        project: which project's. There is no default.
        embedder: "minilm" (local), "hash", "openai:<model>", a fastembed model's name, or an object with the contract.
        settings: a Settings, or a dictionary of its fields.
        clock: the only source of time.

    Raises:
        ScopeError: no tenant or no project.
        InvalidNameError: a name that is not allowed.
        InvalidInputError: an unknown setting, or a value that is not allowed.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
