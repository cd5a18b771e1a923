"""ReasoningBank: an experience memory for AI agents.

What is used every day is imported from here; what a part of the bank takes and returns beside it, from the module of
its name: `reasoningbank.graph`, `.links`, `.runs`, `.exchange`, `.upkeep`. `.distill` and `.llm` are for lessons from
runs, `.prompt` and `.adapters` for those who build on the bank, and `.errors` holds every error there is.

Importing it loads no numpy, no FAISS and no model: those come at a bank's first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from reasoningbank.aio import AsyncReasoningBank, AsyncRun
from reasoningbank.bank import BankRoot, ReasoningBank, Run, Tenants
from reasoningbank.config import Settings
from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.episode import Episode, Served
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
    JudgeUnavailableError,
    LimitExceededError,
    MemoryNotFoundError,
    MissingExtraError,
    NewerFormatError,
    NotFoundError,
    ProjectNotFoundError,
    ReadOnlyError,
    ReasoningBankError,
    ScopeError,
    SharedAccessError,
    StorageError,
)
from reasoningbank.filters import FilterOptions
from reasoningbank.memory import Draft, Memory, Source, State
from reasoningbank.results import (
    Blocked,
    Hit,
    KnownOf,
    Page,
    Recall,
    Recommendation,
    Recorded,
    Reported,
    SearchResult,
    Voted,
)
from reasoningbank.services.search.prompt import prompt_block
from reasoningbank.signals import Evidence, EvidencePiece
from reasoningbank.verdict import Verdict

__version__ = "0.2.0"

# Distilling is loaded when it is asked for: most processes only recall, and the import has to stay fast.
_LATER = {
    "Distilled": "reasoningbank.distill.distillation",
    **dict.fromkeys(("Distiller", "LLMDistiller"), "reasoningbank.distill.distiller"),
    "LLMJudge": "reasoningbank.distill.judge",
    "Judgement": "reasoningbank.judgement",
    **dict.fromkeys(("DistillStatus", "Job"), "reasoningbank.runs.jobs"),
    "TemplateDistiller": "reasoningbank.distill.template",
    "OpenAIChat": "reasoningbank.llm.openai",
    **dict.fromkeys(("Step", "Trajectory"), "reasoningbank.runs.trajectory"),
    "Worker": "reasoningbank.services.runs.worker",
}

if TYPE_CHECKING:
    from reasoningbank.distill.distillation import Distilled
    from reasoningbank.distill.distiller import Distiller, LLMDistiller
    from reasoningbank.distill.judge import LLMJudge
    from reasoningbank.distill.template import TemplateDistiller
    from reasoningbank.judgement import Judgement
    from reasoningbank.llm.openai import OpenAIChat
    from reasoningbank.runs.jobs import DistillStatus, Job
    from reasoningbank.runs.trajectory import Step, Trajectory
    from reasoningbank.services.runs.worker import Worker
else:

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LATER[name]), name)


__all__ = [
    "AsyncReasoningBank",
    "AsyncRun",
    "BankRoot",
    "Blocked",
    "BusyError",
    "ChatError",
    "CorruptionError",
    "DeadlineExceededError",
    "DistillStatus",
    "DistillationError",
    "Distilled",
    "Distiller",
    "Draft",
    "Embedder",
    "EmbedderIdentity",
    "EmbedderMismatchError",
    "EmbedderUnavailableError",
    "EmbeddingError",
    "Episode",
    "EpisodeNotFoundError",
    "Evidence",
    "EvidencePiece",
    "FilterOptions",
    "Hit",
    "InvalidInputError",
    "InvalidNameError",
    "Job",
    "JudgeUnavailableError",
    "Judgement",
    "KnownOf",
    "LLMDistiller",
    "LLMJudge",
    "LimitExceededError",
    "Memory",
    "MemoryNotFoundError",
    "MissingExtraError",
    "NewerFormatError",
    "NotFoundError",
    "OpenAIChat",
    "Page",
    "ProjectNotFoundError",
    "ReadOnlyError",
    "ReasoningBank",
    "ReasoningBankError",
    "Recall",
    "Recommendation",
    "Recorded",
    "Reported",
    "Run",
    "ScopeError",
    "SearchResult",
    "Served",
    "Settings",
    "SharedAccessError",
    "Source",
    "State",
    "Step",
    "StorageError",
    "TemplateDistiller",
    "Tenants",
    "Trajectory",
    "Verdict",
    "Voted",
    "Worker",
    "__version__",
    "prompt_block",
]
