"""The same data for programs, under /api/v1: read only, as JSON, described by an OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from reasoningbank import Episode, Evidence, Memory, Page, SearchResult, __version__
from reasoningbank.dashboard.pages.lessons import FILTERS, SORTS, order, wanted
from reasoningbank.dashboard.site import Asked, Json
from reasoningbank.graph import NodePage
from reasoningbank.links import Link
from reasoningbank.runs import EpisodePage, Job, MemoryRuns, Trajectory
from reasoningbank.upkeep import Metrics, Revision, Status

ROOT: Final = "/api/v1"
LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class Overview:
    """How a project does and what is in it."""

    standings: dict[str, int]
    status: Status
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Lesson:
    """All that is known of a lesson."""

    memory: Memory
    evidence: Evidence
    revisions: list[Revision]
    runs: MemoryRuns
    links: list[Link]


@dataclass(frozen=True, slots=True)
class Told:
    """A run, what happened in it, and what was learned from it."""

    episode: Episode
    trajectory: Trajectory
    lessons: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the API.

    Attributes:
        path: below /api/v1.
        what: what it returns, in a sentence.
        answer: returns it.
        kind: its type.
        query: the fields that its query takes, each with its type.
    """

    path: str
    what: str
    answer: Callable[[Asked], Any]
    kind: Any
    query: Mapping[str, str]


def _whole(asked: Asked, name: str, otherwise: int) -> int:
    return int(asked.number(name, otherwise) or 0)


def _lessons(asked: Asked) -> Page:
    sort, after = asked.query.get("sort", ""), asked.query.get("after") or None
    return asked.bank.list(**wanted(asked), **order(sort), after=after, limit=_whole(asked, "limit", LIMIT))


def _lesson(asked: Asked) -> Lesson:
    bank, memory_id = asked.bank, asked.parts["memory"]
    evidence, revisions = bank.evidence(memory_id), bank.revisions(memory_id)
    return Lesson(bank.get(memory_id), evidence, revisions, bank.runs.of(memory_id), bank.links.of(memory_id))


def _overview(asked: Asked) -> Overview:
    upkeep = asked.bank.upkeep
    metrics = upkeep.metrics(_whole(asked, "days", 30), _whole(asked, "parts", 0))
    return Overview(upkeep.standings(), upkeep.status(), metrics)


def _runs(asked: Asked) -> EpisodePage:
    query = asked.query
    is_open = {"true": True, "false": False}.get(query.get("is_open", ""))
    return asked.bank.runs.list(
        verdict=query.get("verdict") or None,
        is_open=is_open,
        thread=query.get("thread") or None,
        after=query.get("after") or None,
        limit=_whole(asked, "limit", LIMIT),
    )


def _run(asked: Asked) -> Told:
    runs, ref = asked.bank.runs, asked.parts["ref"]
    return Told(runs.get(ref), runs.trajectory(ref), runs.lessons(ref))


_PAGED: Final = {"after": "string", "limit": "integer"}
_PROJECT: Final = "/projects/{project}"
CALLS: Final = (
    Call("/projects", "The names of the tenant's projects.", lambda a: a.site.banks.projects(), list[str], {}),
    Call(
        f"{_PROJECT}/overview",
        "How a project does, and what is in it.",
        _overview,
        Overview,
        {"days": "integer", "parts": "integer"},
    ),
    Call(
        f"{_PROJECT}/lessons",
        f"A page of lessons. `sort` is one of {', '.join(filter(None, SORTS))}; the newest first without.",
        _lessons,
        Page,
        {**dict.fromkeys((*FILTERS, "sort"), "string"), "least": "number", "most": "number", **_PAGED},
    ),
    Call(f"{_PROJECT}/lessons/{{memory}}", "All that is known of a lesson.", _lesson, Lesson, {}),
    Call(
        f"{_PROJECT}/search",
        "What a search for `q` finds. Nothing is counted.",
        lambda a: a.bank.search(a.query.get("q", ""), _whole(a, "limit", 10)),
        SearchResult,
        {"q": "string", "limit": "integer"},
    ),
    Call(
        f"{_PROJECT}/runs",
        "A page of runs, the newest first.",
        _runs,
        EpisodePage,
        {"verdict": "string", "is_open": "boolean", "thread": "string", **_PAGED},
    ),
    Call(f"{_PROJECT}/runs/{{ref}}", "All that is known of a run.", _run, Told, {}),
    Call(
        f"{_PROJECT}/nodes",
        "A page of the memory graph's nodes.",
        lambda a: a.bank.graph.list_nodes(
            kind=a.query.get("kind") or None, after=a.query.get("after") or None, limit=_whole(a, "limit", LIMIT)
        ),
        NodePage,
        {"kind": "string", **_PAGED},
    ),
    Call(
        f"{_PROJECT}/jobs",
        "Runs to be distilled, the newest first.",
        lambda a: a.bank.queue.list(limit=_whole(a, "limit", LIMIT)),
        list[Job],
        {"limit": "integer"},
    ),
)


def answering(call: Call) -> Callable[[Asked], Json]:
    """Return what answers a call."""
    return lambda asked: Json(_adapter(call.path).dump_python(call.answer(asked), mode="json"))


@cache
def _adapter(path: str) -> TypeAdapter[Any]:
    return TypeAdapter(next(call.kind for call in CALLS if call.path == path))


def document(_: Asked) -> Json:
    """Return the OpenAPI document."""
    return Json(_document())


@cache
def _document() -> dict[str, Any]:
    schemas: dict[str, Any] = {"Problem": {"type": "object", "properties": {"error": {"type": "string"}}}}
    paths = {}
    for call in CALLS:
        template = "#/components/schemas/{model}"
        schema = _adapter(call.path).json_schema(mode="serialization", ref_template=template)
        schemas |= schema.pop("$defs", {})
        paths[f"{ROOT}{call.path}"] = {"get": _operation(call, schema)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "ReasoningBank", "version": __version__, "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


_ABOUT: Final = (
    "What a dashboard shows, for programs. Names and ids in a path are escaped as the dashboard does: `~` and two "
    "hexadecimal digits for each byte of UTF-8 that is no letter, digit, - or _."
)


def _operation(call: Call, schema: dict[str, Any]) -> dict[str, Any]:
    named = [part[1:-1] for part in call.path.split("/") if part.startswith("{")]
    inside = [{"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in named]
    asked = [{"name": name, "in": "query", "schema": {"type": kind}} for name, kind in call.query.items()]
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        "operationId": "_".join(part.strip("{}") for part in call.path.split("/")[1:]),
        "summary": call.what,
        "parameters": inside + asked,
        "responses": {
            "200": {"description": call.what, "content": {"application/json": {"schema": schema}}},
            "400": {"description": "A field that cannot be used.", "content": problem},
            "404": {"description": "There is no such thing.", "content": problem},
        },
    }
