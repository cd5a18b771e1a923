"""What the projects of a tenant have in common reaches each of them through the shared banks they read.

After each fit a project tells its shared banks how well each world explains its runs (`belief.worlds`), and fits again
from what the other members told. It is numbers about all of its runs: no lesson, no task and no count is in them.
"""

from __future__ import annotations

from reasoningbank.belief.worlds import MOST_RUNS, starting, told_by
from reasoningbank.errors import ReasoningBankError
from reasoningbank.services.credit.fitting import MOST_MEMORIES, fit_again
from reasoningbank.services.sharing.levels import Levels
from reasoningbank.services.view import View
from reasoningbank.storage import parameters, sharing


def is_news(view: View) -> bool:
    """Tell whether a project fitted anew since it told its shared banks what it learned, or never did."""
    engine = view.engine
    is_learning = engine.settings.confidence_model == "calibrated"
    return is_learning and parameters.start(view)[1] != engine.models.fitted_to(view)


def exchange(levels: Levels) -> None:
    """Tell the shared banks what the project's runs say, and fit it anew from what the other projects told."""
    own = levels.own
    with own.read() as view:
        stored = view.load(parameters.judged_last(view, MOST_MEMORIES)).values()
        runs = parameters.judged_runs(view, MOST_RUNS)
    mine, told = told_by(runs, {row.n: row.initial_confidence for row in stored}), dict[str, list[float]]()
    for bank, engine in levels.banks.items():
        try:
            if mine:
                with engine.write() as edit:
                    sharing.put_told(edit, own.project_name, mine)
            with engine.read() as view:
                told = sharing.told_by_project(view) | told
        except ReasoningBankError as error:
            levels.left_out(bank, error)
    others = [told[project] for project in sorted(told) if project != own.project_name]
    fit_again(own, starting(others))
