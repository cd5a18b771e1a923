"""Which address is answered by which page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reasoningbank.dashboard import api
from reasoningbank.dashboard.pages import (
    calibration,
    editing,
    graph,
    lesson,
    lessons,
    overview,
    review,
    runs,
    search,
    sharing,
    upkeep,
)
from reasoningbank.dashboard.site import Answer, Asked

Act = Callable[[Asked], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """An address and what answers it.

    Attributes:
        get: shows; changes nothing.
        post: changes.
        section: which entry of the navigation it belongs to.
        is_api: it answers programs.
    """

    path: str
    get: Act | None = None
    post: Act | None = None
    section: str = ""
    is_api: bool = False


_PROJECT = "/p/{project}"
_LESSON = _PROJECT + "/lessons/{memory}"

ROUTES: Final = (
    Route("/", overview.all_projects, section="projects"),
    Route(_PROJECT, overview.one_project, section="overview"),
    Route(_PROJECT + "/lessons", lessons.listed, section="lessons"),
    Route(_PROJECT + "/search", search.found, section="search"),
    Route(_LESSON, lesson.shown, section="lessons"),
    Route(_LESSON + "/edit", editing.form, editing.save, section="lessons"),
    Route(_LESSON + "/{act}", post=lesson.act, section="lessons"),
    Route(_PROJECT + "/sources/unblock", post=lesson.unblock, section="upkeep"),
    Route(_PROJECT + "/review", review.queue, section="review"),
    Route(_PROJECT + "/runs", runs.listed, section="runs"),
    Route(_PROJECT + "/runs/{ref}", runs.shown, runs.report, section="runs"),
    Route(_PROJECT + "/calibration", calibration.shown, section="calibration"),
    Route(_PROJECT + "/graph", graph.shown, section="graph"),
    Route(_PROJECT + "/graph/drawing", graph.drawing, is_api=True),
    Route(_PROJECT + "/upkeep", upkeep.shown, section="upkeep"),
    Route(_PROJECT + "/upkeep/{chore}", post=upkeep.start, section="upkeep"),
    Route(_PROJECT + "/jobs/{job}/retry", post=upkeep.retry, section="upkeep"),
    Route("/shared", sharing.listed, sharing.declare, section="shared"),
    Route("/shared/{bank}", sharing.shown, section="shared"),
    Route("/shared/{bank}/{act}", post=sharing.act, section="shared"),
    Route(f"{api.ROOT}/openapi.json", api.document, is_api=True),
    *(Route(api.ROOT + call.path, api.answering(call), is_api=True) for call in api.CALLS),
)
