"""One name for one thing: what the keys of every JSON that commands and tools print stand for."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from reasoningbank.cli.examples import EXAMPLES
from reasoningbank.mcp_server.schemas import OUTPUTS
from tests.cli.conftest import Cli
from tests.cli.test_help import EVERY, SERVERS, furnished

__all__ = ["furnished"]

# What a name stands for is of one kind wherever it is printed. A name goes here: look first whether the thing has
# one already.
KINDS: Final = {
    "flag": """
        auto
        waits
        changed
        dry_run exists held_out held_out_all met provisional read_only rebuilt recorded too_late
        tools_understood unpinned weak written
    """,
    "number": """
        told
        have lag
        about active archived attempts confidence count dense depth deviation disk_bytes dropped
        embedded empty existing expected_success expected_without expired expired_memories exported failure
        feedback files_known forgotten_changes forgotten_trajectories format free_bytes high initial_confidence
        judged kept_runs keyword late_recalls lessons_a_recall lessons_voted_on log_segments low needed
        nodes_not_embedded not_embedded open open_episodes orphan_lines position positions_set_back recalls
        recalls_too_late recalls_with_lessons recorded_imported recorded_manual revision rolled_segments
        runs_distilled runs_left_out runs_reported sample score signals similarity step strength
        successes_that_gave_a_lesson tokens unfolded_bytes unknown unknown_pointers unreadable_lines untrusted
        updated usage_count value vectors verbatim weight
    """,
    "text": """
        address peer
        key
        may origin
        bank
        level memory_id next possible_duplicate_of
        after applies_when backup by checked client closed_at confidence_model content created_at day
        description due_at embedder ended evidence file folder form goal how id kind last_used lift match
        message name opened_at outcome previous problem project query reason ref result root session since
        started_at state status stored_embedder tag target task tenant text title to type until updated_at
        verdict warning what words
    """,
    "list": """
        former peers
        members suggestions
        specific
        also memory_ids signs too_long
        bad_lines bins came_from  conflicts credited criteria days degraded differing errors findings
        harmful hits joined left merged_from notes parts paths pins planned problems read
        reasoning_pointer_ids repairs required restored rolled_up rounds shortened signatures skipped sources
        stray_segments suggested tags taken_back tenants torn trend used_in weights
    """,
    "object": """
        refused spent
        caps
        corrections counts edge episode error fields forms hit_rates link maintained metadata old reasons redactions
        rows settings standings statuses votes why yields
    """,
}

# Where a command counts or names what another shows, both have its name.
SEVERAL: Final[dict[str, tuple[str, str]]] = {
    "changes": ("list number", "what upkeep did or proposes; how many came from a peer"),
    "new": ("flag object", "whether it was made now; the memory in the place of another"),
    "scope": ("object text", "where tenant and project were found; what a key is for"),
    "due": ("flag number", "whether merging is; how many suggestions are"),
    "shared": ("list object", "the shared banks; how those fare"),
    "proposed": ("list object", "changes that wait for somebody to agree; the lesson that does"),
    "duplicates": ("list number", "ids of those that said so already, or how many"),
    "removed": ("flag number object", "whether a member was; how many links were; how many of each kind"),
    "blocked": ("flag list", "of a source; the names of those that are"),
    "pinned": ("flag list", "of what was handed out; the tags under which one memory is"),
    "created": ("flag number", "whether one was; of an import how many"),
    "quarantined": ("flag number", "whether one is; of an import how many"),
    "trusted": ("flag number", "whether one is; of an import how many"),
    "repeated": ("flag number", "whether a failure was; how many runs were"),
    "deleted": ("flag object text", "whether one was; of several by their ids; of a shared bank its name"),
    "kept": ("number", "how many steps are"),
    "kept_aside": ("text", "where what was there before is"),
    "decided": ("object", "how often each word was said in a review"),
    "done": ("flag", "whether it was carried out"),
    "edges": ("list number", "the edges, or how many"),
    "episodes": ("list number", "the episodes, or how many"),
    "lessons": ("list number", "ids of those that a run gave, or how many"),
    "links": ("list number", "the links, or how many"),
    "projects": ("list number", "the projects, or how many"),
    "revisions": ("list number", "the revisions, or how many"),
    "jobs": ("list number object", "the jobs, or how many; by status"),
    "memories": ("list number object", "the memories or the ids of those that a command changed; how many; by state"),
    "nodes": ("list number object", "the nodes, or how many; by state"),
    "left_out": ("list number object", "what was not understood, or how many; by kind"),
    "steps": ("list number", "the steps, or how many"),
    "possible_duplicates": ("list object", "of an import by line; of a run by id"),
    "rejected": ("list object", "lines and why; of a run how many for each reason"),
    "withheld": ("list object", "ids of those that a run was not given; how many for each reason"),
    "held": ("list object text", "why one is; of an import by line; of a run by id"),
    "activation": ("number object", "of a node; by node"),
    "runs": ("list number object", "the runs, or how many; how well those went that had lessons"),
    "success": ("number object", "how many runs ended so; how many of all did, with lessons and without"),
    "memory": ("object text", "the memory; in a run its id"),
    "node": ("object text", "the node; on a path its id"),
    "source": ("object text", "whom a memory is from; the name alone; where a link or edge begins"),
}
# What these hold goes by ids, states, words or settings, not by names of ours.
BY_DATA: Final = """
    caps refused spent
    activation corrections counts decided deleted fields forms held jobs left_out memories metadata nodes
    possible_duplicates reasons redactions rejected removed rows settings standings statuses withheld
"""
_JSON: Final = {"boolean": "flag", "integer": "number", "number": "number", "string": "text", "array": "list"}


def allowed(name: str) -> frozenset[str]:
    """Return the kinds that what a name stands for may be of."""
    if name in SEVERAL:
        return frozenset(SEVERAL[name][0].split())
    return frozenset(kind for kind, names in KINDS.items() if name in names.split())


def kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "flag"
    return {int: "number", float: "number", str: "text", list: "list", dict: "object"}.get(type(value), "")


def named(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every name in a JSON value with the kind of what it stands for; null is of any kind."""
    for item in value if isinstance(value, list) else ():
        yield from named(item)
    for name, held in value.items() if isinstance(value, dict) else ():
        if held is not None:
            yield name, kind_of(held)
        if not (isinstance(held, dict) and name in BY_DATA.split()):
            yield from named(held)


def test_no_name_stands_in_two_places_of_the_table() -> None:
    every = [name for names in KINDS.values() for name in names.split()] + list(SEVERAL)

    assert sorted(every) == sorted(set(every))
    assert set(BY_DATA.split()) <= set(every)


# A list of forms by name, and what ends only with its client or needs a server.
WITHOUT: Final = ("forms", "server init", "server migrate", "server index", "server status", "mcp agents-md", *SERVERS)


@pytest.mark.parametrize("name", [name for name in EVERY if name not in WITHOUT])
def test_every_command_names_things_as_all_do(
    cli: Cli, furnished: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(furnished[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EDITOR", "true")
    line = EXAMPLES[name][0].removeprefix("EDITOR=nano ")
    for shown, own in furnished[1].items():
        line = line.replace(shown, own)
    line, _, _ = line.partition(" > ")
    line, dashes, rest = line.partition(" -- ")

    said = cli(*shlex.split(line)[1:], "--json", *([dashes.strip(), *shlex.split(rest)] if dashes else []))

    wrong = sorted({(each, kind) for each, kind in named(json.loads(said.out)) if kind not in allowed(each)})
    assert wrong == []


def in_schema(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, field in schema.get("properties", {}).items():
        yield name, _JSON.get(field["type"], "object")
        yield from in_schema(field.get("items", field))


@pytest.mark.parametrize("tool", list(OUTPUTS))
def test_every_tool_names_things_as_commands_do(tool: str) -> None:
    assert not {(name, kind) for name, kind in in_schema(OUTPUTS[tool]) if kind not in allowed(name)}
