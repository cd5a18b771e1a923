"""What every door and integration shares: tools for models, who reports a run's end, requests in any shape.

Nothing here knows a framework.
"""

from reasoningbank.adapters.outcomes import FailureFilter, Judge, RootRun, RunOutcomes, RunTree, is_neutral
from reasoningbank.adapters.request import request_text
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
from reasoningbank.judgement import PASS_MARK, Judgement, as_judgement

__all__ = [
    "MEMORY_FEEDBACK",
    "MEMORY_LOOKUP",
    "MEMORY_OUTCOME",
    "MEMORY_RECORD",
    "MEMORY_SEARCH",
    "PASS_MARK",
    "FailureFilter",
    "Judge",
    "Judgement",
    "MemoryTool",
    "RootRun",
    "RunOutcomes",
    "RunTree",
    "ToolAnswer",
    "ToolSpec",
    "as_judgement",
    "hit_data",
    "is_neutral",
    "memory_data",
    "memory_tools",
    "request_text",
]
