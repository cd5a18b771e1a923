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
    """The root of every error raised on purpose. What it says holds no secret, whatever it was told."""

    def __str__(self) -> str:
        # An endpoint's error names the address with the key in it, a refused argument may be one.
        try:
            from reasoningbank.screening.door import clean
        except ImportError as missing:
            return f"{type(self).__name__} (what it says is withheld, since secrets cannot be looked for: {missing})"
        return clean(Exception.__str__(self))


class InvalidInputError(ReasoningBankError, ValueError):
    """An argument cannot be used. Nothing was written."""


class LimitExceededError(InvalidInputError):
    """A text or a list is longer than the bank takes.

    Attributes:
        field: the field's name.
        limit: the most it takes (characters, or items).
        actual: what came.
    """

    def __init__(self, field: str, *, limit: int, actual: int, unit: str = "characters") -> None:
        super().__init__(f"{field} has {actual:,} {unit}; the limit is {limit:,}: shorten it and record it again")
        self.field, self.limit, self.actual = field, limit, actual


class InvalidNameError(InvalidInputError):
    """A tenant or project name is not allowed."""


class DeadlineExceededError(InvalidInputError):
    """A recall came too late. It opened no episode and wrote no signal."""


class ScopeError(ReasoningBankError, ValueError):
    """No tenant or no project was given, or a folder belongs to another one."""


class SharedAccessError(ScopeError):
    """A shared bank is not open to this project, or not for this. Whether there is one, nobody learns by it.

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
    """What was named is not in this project."""


class MemoryNotFoundError(NotFoundError):
    """No memory has this id in this project."""

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"no memory {memory_id!r} in this project: use an id that search, recall or list returned")
        self.memory_id = memory_id


class EpisodeNotFoundError(NotFoundError):
    """No episode matches the reference or thread."""

    def __init__(self, what: str) -> None:
        super().__init__(f"no episode for {what} in this project: use the ref that recall returned")
        self.what = what


class JobNotFoundError(NotFoundError):
    """No distillation job has this id in this project."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"no job {job_id!r} in this project: use an id that queue.put or queue.list returned")
        self.job_id = job_id


class NodeNotFoundError(NotFoundError):
    """No node of the memory graph has this id in this project."""

    def __init__(self, node_id: str) -> None:
        super().__init__(f"no node {node_id!r} in this project: use an id that graph.add_node or graph.search returned")
        self.node_id = node_id


class ProjectNotFoundError(NotFoundError):
    """The tenant has no project of this name."""

    def __init__(self, project: str, tenant: str, hint: str = "projects() lists the ones there are") -> None:
        super().__init__(f"tenant {tenant!r} has no project {project!r}: {hint}")
        self.project, self.tenant = project, tenant


class StorageError(ReasoningBankError, OSError):
    """The disk or the database refused. What was stored before is intact.

    Attributes:
        path: the file, folder or server concerned.
    """

    def __init__(self, message: str, *, path: Path | ServerAddress) -> None:
        super().__init__(message)
        self.path = path


class BusyError(StorageError):
    """Another process or thread held the write lock for longer than the busy timeout."""


class ReadOnlyError(StorageError):
    """The folder or file cannot be written."""


class CorruptionError(StorageError):
    """A file is damaged."""


class NewerFormatError(StorageError):
    """The project was written by a newer version of the library."""


class ProjectDeletedError(StorageError):
    """The project was deleted while this handle was open."""


class ProjectMovedError(StorageError):
    """The project was moved to another place, which the message names. What is left here is not used any more."""


class EmbeddingError(ReasoningBankError):
    """A text could not be embedded."""


class EmbedderMismatchError(EmbeddingError):
    """The bank holds vectors of another embedder than the one it was opened with."""


class EmbedderUnavailableError(EmbeddingError):
    """The embedder as a whole does not answer, so that trying another text is of no use."""


class ModelFileError(EmbedderUnavailableError):
    """The embedding model's files are missing, or are not the ones that were published."""


class MissingExtraError(ReasoningBankError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str, package: str = "reasoningbank-core") -> None:
        super().__init__(f"{what} needs: pip install '{package}[{extra}]'")
        self.what, self.extra = what, extra


class MissingLibraryError(ReasoningBankError, ImportError):
    """A library that the core itself needs cannot be loaded: it is not there, or does not fit this machine."""

    def __init__(self, missing: ImportError) -> None:
        super().__init__(f"a library cannot be loaded ({missing}): pip install --force-reinstall reasoningbank-core")


class DistillationError(ReasoningBankError):
    """A run could not be judged or distilled."""


class ChatError(DistillationError):
    """The model endpoint failed for good, after its retries."""


class JudgeUnavailableError(DistillationError):
    """The judge gave no verdict: no key, no answer, or none that can be read. It is never taken as failure."""
