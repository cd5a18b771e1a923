"""From finished runs to lessons: distillers and judges, and what comes of them. Loaded when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING

_LATER = {
    **dict.fromkeys(("Agent", "Attempt", "BestOf", "LLMSelector", "Rollout", "Selector"), "best_of"),
    **dict.fromkeys(("Distillation", "Distilled", "Rejection"), "distillation"),
    **dict.fromkeys(("Distiller", "LLMDistiller"), "distiller"),
    **dict.fromkeys(("Judgement", "LLMJudge", "RunJudge"), "judge"),
    "TemplateDistiller": "template",
    "read_runs": "run_files",
}

if TYPE_CHECKING:
    from reasoningbank.distill.best_of import Agent, Attempt, BestOf, LLMSelector, Rollout, Selector
    from reasoningbank.distill.distillation import Distillation, Distilled, Rejection
    from reasoningbank.distill.distiller import Distiller, LLMDistiller
    from reasoningbank.distill.judge import LLMJudge, RunJudge
    from reasoningbank.distill.run_files import read_runs
    from reasoningbank.distill.template import TemplateDistiller
    from reasoningbank.judgement import Judgement
else:

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


__all__ = [
    "Agent",
    "Attempt",
    "BestOf",
    "Distillation",
    "Distilled",
    "Distiller",
    "Judgement",
    "LLMDistiller",
    "LLMJudge",
    "LLMSelector",
    "Rejection",
    "Rollout",
    "RunJudge",
    "Selector",
    "TemplateDistiller",
    "read_runs",
]
