"""What every door and integration shares: tools for models, who reports a run's end, requests in any shape.

Nothing here knows a framework.
"""

from reasoningbank.adapters.arms import is_held_out
from reasoningbank.adapters.around import Place, is_held_out_around, outermost, place_in, watching
from reasoningbank.adapters.banks import BankResolver, Banks, RunScope, bank_of
from reasoningbank.adapters.callbacks import RunWatch
from reasoningbank.adapters.coercion import to_object
from reasoningbank.adapters.correcting import MEMORY_RETIRE, MEMORY_UPDATE, check_allowed
from reasoningbank.adapters.failing import ToolFailures
from reasoningbank.adapters.judging import MEMORY_FEEDBACK, MEMORY_OUTCOME
from reasoningbank.adapters.outcomes import FailureFilter, Judge, RootRun, RunOutcomes, RunTree, is_neutral
from reasoningbank.adapters.recalling import Recalling
from reasoningbank.adapters.request import last_turn, request_text
from reasoningbank.adapters.reviewing import MEMORY_APPROVE, MEMORY_LIST, row_data
from reasoningbank.adapters.shown import letters_in
from reasoningbank.adapters.threads import above, as_reference, thread_of
from reasoningbank.adapters.tool import MemoryTool, ToolAnswer, ToolSpec
from reasoningbank.adapters.tools import (
    MEMORY_LOOKUP,
    MEMORY_RECORD,
    MEMORY_SEARCH,
    SearchArguments,
    hit_data,
    memory_data,
    memory_tools,
)
from reasoningbank.adapters.watched import Handed, WatchedRun, key_of, left
from reasoningbank.arguments import check_result
from reasoningbank.arguments import holdout as check_holdout
from reasoningbank.judgement import PASS_MARK, Judgement, as_judgement

__all__ = [
    "MEMORY_APPROVE",
    "MEMORY_FEEDBACK",
    "MEMORY_LIST",
    "MEMORY_LOOKUP",
    "MEMORY_OUTCOME",
    "MEMORY_RECORD",
    "MEMORY_RETIRE",
    "MEMORY_SEARCH",
    "MEMORY_UPDATE",
    "PASS_MARK",
    "BankResolver",
    "Banks",
    "FailureFilter",
    "Handed",
    "Judge",
    "Judgement",
    "MemoryTool",
    "Place",
    "Recalling",
    "RootRun",
    "RunOutcomes",
    "RunScope",
    "RunTree",
    "RunWatch",
    "SearchArguments",
    "ToolAnswer",
    "ToolFailures",
    "ToolSpec",
    "WatchedRun",
    "above",
    "as_judgement",
    "as_reference",
    "bank_of",
    "check_allowed",
    "check_holdout",
    "check_result",
    "hit_data",
    "is_held_out",
    "is_held_out_around",
    "is_neutral",
    "key_of",
    "last_turn",
    "left",
    "letters_in",
    "memory_data",
    "memory_tools",
    "outermost",
    "place_in",
    "request_text",
    "row_data",
    "thread_of",
    "to_object",
    "watching",
]
