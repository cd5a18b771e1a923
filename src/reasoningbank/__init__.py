"""ReasoningBank: an experience memory for AI agents.

This is the whole public API. Importing it loads no numpy, no FAISS and no model: those come at a bank's first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from reasoningbank.adapters.outcomes import FailureFilter, Judge, RunOutcomes, is_neutral
from reasoningbank.adapters.request import request_text
from reasoningbank.adapters.run_tree import RootRun, RunTree
from reasoningbank.adapters.tools import (
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
from reasoningbank.aio import AsyncReasoningBank, AsyncRun
from reasoningbank.bank import BankRoot, ReasoningBank, Run, utc_now
from reasoningbank.change import Change
from reasoningbank.config import Settings
from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.episode import Episode, EpisodePage, Served, Verdict
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
    NodeNotFoundError,
    NotFoundError,
    ProjectDeletedError,
    ProjectNotFoundError,
    ReadOnlyError,
    ReasoningBankError,
    ScopeError,
    StorageError,
)
from reasoningbank.graph.nodes import Band, Edge, Node, NodeKind
from reasoningbank.graph.paths import Ended, GraphPath, Reached
from reasoningbank.graph.results import (
    EdgeStored,
    GraphImported,
    GraphRecall,
    NodeHit,
    NodePage,
    NodeSearch,
    NodeStored,
)
from reasoningbank.links import Conflict, Link, Linked, SuggestedLink
from reasoningbank.measures.criteria import Calibration, Weighing
from reasoningbank.measures.reliability import Bin, Measure
from reasoningbank.memory import Draft, Memory, Outcome, Source, State
from reasoningbank.prompt.block import Lesson, LessonBlock, shorten
from reasoningbank.results import (
    Consolidated,
    EpisodeSummary,
    Feedback,
    Forgotten,
    Hit,
    Imported,
    KnownOf,
    MemoryRuns,
    Page,
    Pruned,
    Recall,
    Recommendation,
    Recorded,
    Rejected,
    Reported,
    SearchResult,
    StepsKept,
    Unmerged,
)
from reasoningbank.services.search.prompt import prompt_block
from reasoningbank.signals import Signal, SignalKind
from reasoningbank.status import Maintained, Metrics, Repair, Status

__version__ = "0.1.0"

# Distilling is loaded when it is asked for: most processes only recall, and the import has to stay fast.
_LATER = {
    **dict.fromkeys(("Attempt", "LLMSelector", "Rollout", "Scaled"), "reasoningbank.distill.contrast"),
    **dict.fromkeys(("DistillStatus", "Distillation", "Distilled", "Rejection"), "reasoningbank.distill.distillation"),
    **dict.fromkeys(("Distiller", "LLMDistiller"), "reasoningbank.distill.distiller"),
    **dict.fromkeys(("JudgeLabel", "Judgement", "LLMJudge", "RunJudge"), "reasoningbank.distill.judge"),
    **dict.fromkeys(("Job", "JobStatus"), "reasoningbank.runs.jobs"),
    **dict.fromkeys(("Worker",), "reasoningbank.services.runs.worker"),
    **dict.fromkeys(("read_runs",), "reasoningbank.distill.run_files"),
    **dict.fromkeys(("TemplateDistiller",), "reasoningbank.distill.template"),
    **dict.fromkeys(
        ("CallableChat", "Chat", "ChatMessage", "ChatReply", "ChatRequest", "FinishReason", "Usage", "read_finish"),
        "reasoningbank.llm.base",
    ),
    **dict.fromkeys(("OpenAIChat",), "reasoningbank.llm.openai"),
    **dict.fromkeys(("BadLine", "RunVerdict", "Step", "Trajectory"), "reasoningbank.runs.trajectory"),
}

if TYPE_CHECKING:
    from reasoningbank.distill.contrast import Attempt, LLMSelector, Rollout, Scaled
    from reasoningbank.distill.distillation import Distillation, Distilled, DistillStatus, Rejection
    from reasoningbank.distill.distiller import Distiller, LLMDistiller
    from reasoningbank.distill.judge import JudgeLabel, Judgement, LLMJudge, RunJudge
    from reasoningbank.distill.run_files import read_runs
    from reasoningbank.distill.template import TemplateDistiller
    from reasoningbank.llm.base import (
        CallableChat,
        Chat,
        ChatMessage,
        ChatReply,
        ChatRequest,
        FinishReason,
        Usage,
        read_finish,
    )
    from reasoningbank.llm.openai import OpenAIChat
    from reasoningbank.runs.jobs import Job, JobStatus
    from reasoningbank.runs.trajectory import BadLine, RunVerdict, Step, Trajectory
    from reasoningbank.services.runs.worker import Worker
else:

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LATER[name]), name)


__all__ = [
    "MEMORY_FEEDBACK",
    "MEMORY_LOOKUP",
    "MEMORY_OUTCOME",
    "MEMORY_RECORD",
    "MEMORY_SEARCH",
    "AsyncReasoningBank",
    "AsyncRun",
    "Attempt",
    "BadLine",
    "Band",
    "BankRoot",
    "Bin",
    "BusyError",
    "Calibration",
    "CallableChat",
    "Change",
    "Chat",
    "ChatError",
    "ChatMessage",
    "ChatReply",
    "ChatRequest",
    "Conflict",
    "Consolidated",
    "CorruptionError",
    "DeadlineExceededError",
    "DistillStatus",
    "Distillation",
    "DistillationError",
    "Distilled",
    "Distiller",
    "Draft",
    "Edge",
    "EdgeStored",
    "Embedder",
    "EmbedderIdentity",
    "EmbedderMismatchError",
    "EmbedderUnavailableError",
    "EmbeddingError",
    "Ended",
    "Episode",
    "EpisodeNotFoundError",
    "EpisodePage",
    "EpisodeSummary",
    "FailureFilter",
    "Feedback",
    "FinishReason",
    "Forgotten",
    "GraphImported",
    "GraphPath",
    "GraphRecall",
    "Hit",
    "Imported",
    "InvalidInputError",
    "InvalidNameError",
    "Job",
    "JobNotFoundError",
    "JobStatus",
    "Judge",
    "JudgeLabel",
    "JudgeUnavailableError",
    "Judgement",
    "KnownOf",
    "LLMDistiller",
    "LLMJudge",
    "LLMSelector",
    "Lesson",
    "LessonBlock",
    "LimitExceededError",
    "Link",
    "Linked",
    "Maintained",
    "Measure",
    "Memory",
    "MemoryNotFoundError",
    "MemoryRuns",
    "MemoryTool",
    "Metrics",
    "MissingExtraError",
    "ModelFileError",
    "NewerFormatError",
    "Node",
    "NodeHit",
    "NodeKind",
    "NodeNotFoundError",
    "NodePage",
    "NodeSearch",
    "NodeStored",
    "NotFoundError",
    "OpenAIChat",
    "Outcome",
    "Page",
    "ProjectDeletedError",
    "ProjectNotFoundError",
    "Pruned",
    "Reached",
    "ReadOnlyError",
    "ReasoningBank",
    "ReasoningBankError",
    "Recall",
    "Recommendation",
    "Recorded",
    "Rejected",
    "Rejection",
    "Repair",
    "Reported",
    "Rollout",
    "RootRun",
    "Run",
    "RunJudge",
    "RunOutcomes",
    "RunTree",
    "RunVerdict",
    "Scaled",
    "ScopeError",
    "SearchResult",
    "Served",
    "Settings",
    "Signal",
    "SignalKind",
    "Source",
    "State",
    "Status",
    "Step",
    "StepsKept",
    "StorageError",
    "SuggestedLink",
    "TemplateDistiller",
    "ToolAnswer",
    "ToolSpec",
    "Trajectory",
    "Unmerged",
    "Usage",
    "Verdict",
    "Weighing",
    "Worker",
    "__version__",
    "hit_data",
    "is_neutral",
    "memory_data",
    "memory_tools",
    "prompt_block",
    "read_finish",
    "read_runs",
    "request_text",
    "shorten",
    "utc_now",
]
