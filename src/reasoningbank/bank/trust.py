"""The trusting part of the API: quarantine, archives, and sources that turn out to be bad."""

from __future__ import annotations

from reasoningbank.bank.handle import Handle
from reasoningbank.memory import Memory
from reasoningbank.results import Forgotten


class Trust(Handle):
    """Approve, archive, restore, forget."""

    def approve(self, memory_id: str) -> Memory:
        """Serve a quarantined memory from now on. `list(state="quarantined")` shows them, with what was found.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
            InvalidInputError: it is not quarantined.
        """
        from reasoningbank.services.record import trust

        return trust.approve(self._engine, memory_id)

    def archive(self, memory_id: str) -> Memory:
        """Take a memory out of service. It stays, with its evidence; `restore` undoes it.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
        """
        from reasoningbank.services.record import trust

        return trust.archive(self._engine, memory_id)

    def restore(self, memory_id: str) -> Memory:
        """Put an archived memory back into the state it was in.

        Raises:
            MemoryNotFoundError: there is none with this id in this project.
            InvalidInputError: it is not archived.
        """
        from reasoningbank.services.record import trust

        return trust.restore(self._engine, memory_id)

    def forget(self, source: str) -> Forgotten:
        """Archive everything that came from a source, and let its signals count for nothing.

        What it brings later is quarantined. Nothing is deleted: `remember` undoes it.

        Args:
            source: the `by` of memories and judges, or the session they came from.

        Raises:
            InvalidInputError: the name is blank.
        """
        from reasoningbank.services.record import trust

        return trust.forget(self._engine, source, forgotten=True)

    def remember(self, source: str) -> Forgotten:
        """Undo `forget`: its memories are served and its signals count again.

        Raises:
            InvalidInputError: the name is blank.
        """
        from reasoningbank.services.record import trust

        return trust.forget(self._engine, source, forgotten=False)
