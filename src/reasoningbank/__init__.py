"""ReasoningBank: an experience memory for AI agents.

This is the whole public API. Importing it loads no numpy, no FAISS and no model: those come at a bank's first use.
"""

from reasoningbank.aio import AsyncReasoningBank
from reasoningbank.bank import BankRoot, ReasoningBank, Run, utc_now
from reasoningbank.config import Settings
from reasoningbank.episode import Episode, Served, Verdict
from reasoningbank.errors import (
    BusyError,
    ChatError,
    CorruptionError,
    DeadlineExceededError,
    DistillationError,
    EmbedderMismatchError,
    EmbedderUnavailableError,
    EmbeddingError,
    EpisodeNotFoundError,
    InvalidInputError,
    InvalidNameError,
    JobNotFoundError,
    JudgeUnavailableError,
    LimitExceededError,
    MemoryNotFoundError,
    MissingExtraError,
    ModelFileError,
    NewerFormatError,
    NotFoundError,
    ProjectDeletedError,
    ProjectNotFoundError,
    ReadOnlyError,
    ReasoningBankError,
    ScopeError,
    StorageError,
)
from reasoningbank.lessons import Lesson, LessonBlock
from reasoningbank.memory import Draft, Memory, Outcome, Source, State
from reasoningbank.request import request_text
from reasoningbank.results import Feedback, Hit, Imported, Page, Recall, Recorded, Rejected, Reported, SearchResult
from reasoningbank.run_outcomes import FailureFilter, Judge, RunOutcomes, is_neutral
from reasoningbank.run_tree import RootRun, RunTree
from reasoningbank.services.prompt import prompt_block
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.status import Maintained, Repair, Status
from reasoningbank.toolset import (
    MEMORY_FEEDBACK,
    MEMORY_LOOKUP,
    MEMORY_OUTCOME,
    MEMORY_RECORD,
    MEMORY_SEARCH,
    MemoryTool,
    ToolAnswer,
    ToolSpec,
    hit_data,
    memory_data,
    memory_tools,
)

__version__ = "0.1.0"

__all__ = [
    "MEMORY_FEEDBACK",
    "MEMORY_LOOKUP",
    "MEMORY_OUTCOME",
    "MEMORY_RECORD",
    "MEMORY_SEARCH",
    "AsyncReasoningBank",
    "BankRoot",
    "BusyError",
    "ChatError",
    "CorruptionError",
    "DeadlineExceededError",
    "DistillationError",
    "Draft",
    "EmbedderMismatchError",
    "EmbedderUnavailableError",
    "EmbeddingError",
    "Episode",
    "EpisodeNotFoundError",
    "FailureFilter",
    "Feedback",
    "Hit",
    "Imported",
    "InvalidInputError",
    "InvalidNameError",
    "JobNotFoundError",
    "Judge",
    "JudgeUnavailableError",
    "Lesson",
    "LessonBlock",
    "LimitExceededError",
    "Maintained",
    "Memory",
    "MemoryNotFoundError",
    "MemoryTool",
    "MissingExtraError",
    "ModelFileError",
    "NewerFormatError",
    "NotFoundError",
    "Outcome",
    "Page",
    "ProjectDeletedError",
    "ProjectNotFoundError",
    "ReadOnlyError",
    "ReasoningBank",
    "ReasoningBankError",
    "Recall",
    "Recorded",
    "Rejected",
    "Repair",
    "Reported",
    "RootRun",
    "Run",
    "RunOutcomes",
    "RunTree",
    "ScopeError",
    "SearchResult",
    "Served",
    "Settings",
    "Signal",
    "SignalKind",
    "Source",
    "State",
    "Status",
    "StorageError",
    "ToolAnswer",
    "ToolSpec",
    "Verdict",
    "__version__",
    "hit_data",
    "is_neutral",
    "memory_data",
    "memory_tools",
    "prompt_block",
    "request_text",
    "utc_now",
]
