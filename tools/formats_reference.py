"""The pages of what stands on the disk, what goes over the wire, and the MCP tools, from the code that writes it."""

from __future__ import annotations

import io
import itertools
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from reasoningbank import ReasoningBank, TemplateDistiller
from reasoningbank.exchange import own
from reasoningbank.exchange.runs import ExportedRun
from reasoningbank.graph import nodes
from reasoningbank.mcp_server.browsing import WHOLE
from reasoningbank.mcp_server.offer import Offer
from reasoningbank.mcp_server.projects import OneProject
from reasoningbank.signals import SIGNAL_VERSION, Signal, SignalKind, to_line
from reasoningbank.storage.migrations import scripts
from reasoningbank.storage.moving import tables
from reasoningbank.vectors import snapshot
from tools.describe import markdown

AT: Final = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
MADE_OF = re.compile(r"^(?:CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?|ALTER TABLE )(\w+)", re.MULTILINE)

ON_DISK = """\
A project is one folder, `<root>/<tenant>/<project>/`. The names of the folders are a readable part and a hash of
the exact name, so that no two names meet in one folder on any system; the exact names stand in the database and are
checked.

| file | holds | may be removed |
|---|---|---|
| `bank.sqlite3` | the records; SQLite in WAL mode | no |
| `bank.sqlite3-wal`, `-shm` | what is not in the file yet, while the bank is open or after a kill | **no** |
| `signals/NNNNNN-YYYY-MM-DD.jsonl` | the signal log, a file a UTC day | no; the bank does it after `keep_days` |
| `signals/*.torn`, `*.damaged` | what was cut off a torn line; a damaged file, kept aside | once you looked at it |
| `vectors.index`, `node_vectors.index` | the codes of the vector index, from 4,096 vectors on | yes |

**Versions.** The format is one number, in SQLite's `user_version`: that of the newest migration below. Opening a
bank brings an older one up to date, all in one transaction: a process that is killed meanwhile leaves it
as it was. A newer one is refused (`NewerFormatError`) and nothing is touched. There is no way back to an older
version but a backup. `reasoningbank status` shows the number (`format`). What is derived (the text index, tallies
of the days that are kept, the index files) is derived again by `rebuild`. `application_id` is raised by every commit:
so a log that was left beside another state of the file is told from the file's own.

Other tools may read the database while it is in use. Nothing else should write to it."""

SIGNALS = """\
One JSON object a line, in UTF-8, ended by a line feed; appended, never edited. Order is the number of the file,
then the place in it; the clock decides nothing. A line of another version is kept and counted as unreadable, and so
is one that is no such object: it costs no other line."""

WIRE = """\
What programs exchange with a bank. Names that are there stay; new ones may come beside them, so read what you know
and pass over the rest. Times are ISO 8601 in UTC, ids are text."""

COMMAND_LINE = """\
With `--json` every command prints exactly one object on standard output. Where a command is one call of Python, the
object has the fields of what [that call returns](python/results.md), under the same names (`search` has `hits`,
`withheld`, `weak`, `degraded`, …; `recall` also `ref`; `report` has `episode`, `credited`, …). Lists stand under a
name: `memories`, `episodes`, `jobs`, `sources`, `projects`, …; what comes in pages has `next`, to be given as
`--after`. An error is

```json
{"error": {"type": "InvalidInputError", "message": "query '' holds nothing to search for: describe the task in words"}}
```

with exit code 1, or 2 for wrong usage. `type` is the name of [the error](errors.md)."""


def format_pages(made: str) -> dict[str, Callable[[], str]]:
    """Return the pages, each under its file; `made` is the line that says how a page is made."""
    return {
        "on-disk.md": partial(_page, made, on_disk),
        "wire-formats.md": partial(_page, made, wire_formats),
        "mcp.md": partial(_page, made, mcp_tools),
    }


def _page(made: str, parts: Callable[[], Iterator[str]]) -> str:
    return "\n\n".join([made, *parts()]) + "\n"


def _code(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```"])


def _table(*heads: str, rows: Sequence[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ("---",) * len(heads), *rows])


# -- on the disk ------------------------------------------------------------------------------------------------------


def on_disk() -> Iterator[str]:
    yield from ("# On disk", ON_DISK)
    yield "## Versions of the database"
    yield _table("format", "brought", "in the tables", rows=[_migration(number, sql) for number, sql in scripts()])
    yield from ("## The signal log", SIGNALS)
    yield _code("json", to_line(_signal()).decode().strip())
    yield f"`v` is the version, {SIGNAL_VERSION}. The other fields:"
    yield _attributes(Signal.__doc__ or "")
    yield "## Tables"
    yield (
        "Of the newest format. `n` is a memory's or a node's number, which other tables name it by and which is never "
        "used again; `judge` is who reported or voted."
    )
    yield _table("table", "columns", rows=[(f"`{name}`", ", ".join(columns)) for name, columns in tables().items()])
    yield "On PostgreSQL the same columns stand behind the project's number, and the log's lines in a table, `signals`."
    yield from ("## The index files", _code("text", (snapshot.__doc__ or "").strip()))


def _migration(number: int, sql: str) -> tuple[str, ...]:
    """Return what a migration brought: its first comment, and the tables that it made or changed."""
    above = itertools.takewhile(lambda line: line.startswith("--"), sql.splitlines())
    comment = " ".join(line.removeprefix("--").strip() for line in above)
    made = dict.fromkeys(MADE_OF.findall(sql))
    if number == 1:
        comment = "The first format"
    return str(number), comment.partition(". ")[0].rstrip("."), ", ".join(made)


def _signal() -> Signal:
    return Signal(
        id="c0ffee00-4ae9-4990-acfe-58511ce7052e",
        at=AT,
        memory="bf23c982-d0ef-4d06-98e5-c8fbb683d685",
        revision=3,
        kind=SignalKind.OUTCOME,
        polarity=1,
        ref="64270563-8cc1-4a82-b77b-8b010b1d4f59",
        by="ci",
        reason="all tests pass",
    )


def _attributes(docstring: str) -> str:
    """Return the list of attributes that a docstring holds."""
    return markdown(docstring).partition("**Attributes:**")[2].strip()


# -- over the wire ----------------------------------------------------------------------------------------------------


def wire_formats() -> Iterator[str]:
    yield from ("# Wire formats", WIRE)
    yield "## Export lines"
    yield (
        f"One JSON object a line. `format` is `{own.FORMAT}`; a later version than the installed one reads is refused, "
        "and one without it is read [as of another tool](../guides/import-and-export.md#what-a-line-says). A memory:"
    )
    yield _code("json", *exported())
    yield (
        "The first line also holds what belongs to the bank (`parameters`, `taught`, `forgotten`). `archived`, "
        "`links`, `pins`, `history` and `merged_into` are there where there is something to say. `evidence` is "
        "summed, a row for each kind, day, source and judge. A run, behind the memories and only where it was asked "
        "for, stands under `run`:"
    )
    fields = ", ".join(f"`{name}`" for name in ExportedRun.model_fields)
    yield f"Its fields are {fields}; what is empty is left out. Of these"
    yield _attributes(ExportedRun.__doc__ or "")
    yield "## The graph"
    yield (
        f"`graph export` writes one JSON object: `format` (`{nodes.FORMAT}`), `nodes` and `edges`. GraphML is written "
        "and not read."
    )
    yield from ("## The command line", COMMAND_LINE)
    yield "## MCP"
    yield "[Tools, resources and prompts](mcp.md), each with the schema of what it takes and answers."
    yield "## HTTP"
    yield (
        "The dashboard's `/api/v1`, which only reads, is described by `/api/v1/openapi.json` "
        '([guide](../guides/dashboard.md)). The MCP server over HTTP answers `GET /health` with `{"status": "ok", …}`.'
    )


def exported() -> list[str]:
    """Return the line of a memory, as an export writes it, on several lines."""
    with (
        tempfile.TemporaryDirectory() as root,
        ReasoningBank(root, tenant="acme", project="web", embedder="hash", clock=lambda: AT) as bank,
    ):
        line = {"id": "bf23c982", "title": "Quote paths", "text": "Put paths in quotes: names hold blanks."}
        bank.exchange.import_from([line | {"outcome": "failure", "tags": ["shell"]}], by="lessons.jsonl")
        written = io.StringIO()
        bank.exchange.export_to(written)
    return json.dumps(json.loads(written.getvalue()), indent=1).splitlines()


# -- MCP --------------------------------------------------------------------------------------------------------------


def mcp_tools() -> Iterator[str]:
    """Yield what the server offers when everything is allowed."""
    with (
        tempfile.TemporaryDirectory() as root,
        ReasoningBank(root, tenant="acme", project="web", embedder="hash") as bank,
    ):
        allowed = ("list", "update", "retire", "approve")
        offer = Offer(OneProject(bank), distiller=TemplateDistiller(), allow=allowed)
        tools, prompts = offer.tools(), offer.prompts()
    yield "# MCP: tools, resources, prompts"
    yield (
        "As a client is told of them when everything is allowed; which are offered when is [in the guide]"
        "(../guides/mcp.md#what-it-offers). A server of several projects adds `project_id` to every call. An answer "
        "holds a text for the model, and beside it `structuredContent` with the fields under *answers*; those with a "
        "question mark are not always there. What was wrong with a call is a text with `isError`."
    )
    for tool in tools:
        yield from _tool(tool)
    yield "## Resources"
    told = [(f"`memory://{name}`", text) for name, text in WHOLE.items()]
    yield _table("address", "holds", rows=[("`memory://{memory_id}`", "One memory, whole, as JSON."), *told])
    yield "## Prompts"
    for prompt in prompts:
        yield f"**`{prompt['name']}`.** {prompt['description']}"
        yield "\n".join(
            f"- {_named(one['name'], one['required'])}: {one['description']}" for one in prompt["arguments"]
        )


def _tool(tool: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{tool['name']}`"
    yield tool["description"]
    given, needed = tool["inputSchema"]["properties"], tool["inputSchema"]["required"]
    rows = [(_named(name, name in needed), _kind(of), of.get("description", "")) for name, of in given.items()]
    yield _table("argument", "type", "", rows=rows)
    answer, always = tool["outputSchema"]["properties"], tool["outputSchema"]["required"]
    yield "Answers: " + ", ".join(f"{_named(name, name in always)} ({_kind(of)})" for name, of in answer.items()) + "."


def _named(name: str, always: bool) -> str:
    return f"`{name}`" if always else f"`{name}`?"


def _kind(schema: Mapping[str, Any]) -> str:
    """Return a schema's type in words."""
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    if "properties" in schema:
        fields = [_named(name, name in schema.get("required", ())) for name in schema["properties"]]
        return f"object of {', '.join(fields)}"
    return str(schema.get("type", "any"))
