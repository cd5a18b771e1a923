"""Commands graph ...: nodes and edges of the memory graph, search, paths, in and out."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reasoningbank.cli import graph_views, views
from reasoningbank.cli.arguments import Words, pairs, text_of
from reasoningbank.cli.scope import UsageError
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.graph import NodeKind

PANEL = "Memories"
STANDARD_STREAM = Path("-")

NodeId = Annotated[str, typer.Argument(metavar="ID", help="The node's id.")]
OfKind = Annotated[NodeKind | None, typer.Option("--kind", help="Only nodes of this kind.", case_sensitive=False)]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]
OwnId = Annotated[
    str | None, typer.Option("--id", help="Its id; a new one when not given. One that is there is replaced.")
]


class Format(StrEnum):
    """What an export of the graph looks like."""

    JSON = "json"
    GRAPHML = "graphml"


def add(
    session: Session,
    kind: Annotated[NodeKind, typer.Argument(help="What it stands for.", case_sensitive=False, show_default=False)],
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What it says; - reads standard input.")],
    *,
    node_id: OwnId = None,
    conv_id: Annotated[str | None, typer.Option("--conversation", help="The conversation it is from.")] = None,
    tag: Tags = None,
    memory: Annotated[
        list[str] | None, typer.Option("--memory", help="Id of a memory that it bears out; may be repeated.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="NAME=VALUE", help="A special field of its kind; may be repeated."),
    ] = None,
) -> Answer:
    """Add a node, or replace the one with this id."""
    done = session.bank.graph.add_node(
        kind,
        text_of(text),
        node_id=node_id,
        conv_id=conv_id,
        tags=tag or (),
        reasoning_pointer_ids=memory or (),
        fields=pairs(field),
    )
    return Answer(done, lambda console: graph_views.stored(console, done))


def connect(
    session: Session,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The node that the sentence starts from.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The node that it leads to.")],
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="How and why they are connected.")],
    *,
    weight: Annotated[
        float,
        typer.Option(
            "--weight", "-w", min=0, max=1, help="From 0.85 direct, 0.55 a bridge, 0.25 topical, below faint."
        ),
    ],
    tag: Tags = None,
    edge_id: OwnId = None,
) -> Answer:
    """Connect two nodes by a sentence."""
    done = session.bank.graph.add_edge(source, target, text_of(text), weight=weight, tags=tag or (), edge_id=edge_id)
    return Answer(done, lambda console: graph_views.connected(console, done))


def show(session: Session, node_id: NodeId) -> Answer:
    """Show a node with its edges and the memories it points to."""
    node, edges = session.bank.graph.get_node(node_id), session.bank.graph.edges_of(node_id)
    return Answer({"node": node, "edges": edges}, lambda console: graph_views.node(console, node, edges))


def list_nodes(
    session: Session,
    *,
    kind: OfKind = None,
    conv_id: Annotated[str | None, typer.Option("--conversation", help="Only nodes of this conversation.")] = None,
    tag: Tags = None,
    memory: Annotated[str | None, typer.Option("--memory", help="Only nodes that point to this memory.")] = None,
    after: Annotated[str | None, typer.Option("--after", help="Go on after the page before: its `next`.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at the most.")] = 100,
) -> Answer:
    """List nodes, in the order they were added."""
    if memory is not None:
        nodes = session.bank.graph.nodes_of(memory)
        return Answer({"nodes": nodes}, lambda console: graph_views.nodes(console, nodes))
    page = session.bank.graph.list_nodes(kind=kind, conv_id=conv_id, tags=tag, after=after, limit=limit)
    return Answer(page, lambda console: graph_views.nodes(console, page.nodes, page.next))


def search(
    session: Session,
    query: Words,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at the most.")] = 10,
    kind: OfKind = None,
    tag: Tags = None,
) -> Answer:
    """Find the nodes that fit. Changes nothing."""
    found = session.bank.graph.search(text_of(query), limit, kind=kind, tags=tag)
    return Answer(found, lambda console: graph_views.hits(console, found))


def recall(
    session: Session,
    query: Words,
    *,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many nodes to start from.")] = 3,
    kind: OfKind = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Prefer edges with this tag; may be repeated.")] = None,
    depth: Annotated[int, typer.Option("--depth", min=0, max=5, help="Edges a path may have.")] = 5,
    branches: Annotated[int, typer.Option("--branches", min=1, max=3, help="Edges followed from each node.")] = 3,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many paths at the most.")] = 10,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=0, help="Budget of the prompt block.")] = 500,
) -> Answer:
    """Walk from the nodes that fit to what is connected with them, and tell the paths."""
    found = session.bank.graph.recall_paths(
        text_of(query),
        seeds=seeds,
        kind=kind,
        tags=tag or (),
        depth=depth,
        branches=branches,
        limit=limit,
        max_tokens=max_tokens,
    )
    return Answer(found, lambda console: graph_views.recalled(console, found))


def approve(session: Session, node_id: NodeId) -> Answer:
    """Let a quarantined node be found from now on."""
    node = session.bank.graph.approve_node(node_id)
    return Answer(node, lambda console: views.sentence(console, f"Approved: {node.id}"))


def delete(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="ID", help="The node's id; with --edge an edge's.")],
    *,
    edge: Annotated[bool, typer.Option("--edge", help="Delete an edge.")] = False,
) -> Answer:
    """Delete a node with its edges, or an edge. Exit code 1 when there was none."""
    done = session.bank.graph.delete_edge(name) if edge else session.bank.graph.delete_node(name)
    said = f"Deleted: {name}" if done else f"Not there: {name}"
    return Answer({"deleted": done}, lambda console: views.sentence(console, said), exit_code=0 if done else 1)


def import_graph(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or GraphML; - reads standard input.")],
) -> Answer:
    """Store the nodes and edges of a file. Good records are kept when others are bad (exit code 1)."""
    bank = session.bank
    done = bank.graph.import_from(sys.stdin) if file == STANDARD_STREAM else bank.graph.import_from(file)
    return Answer(done, lambda console: graph_views.imported(console, done), exit_code=1 if done.rejected else 0)


def export(
    session: Session,
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="Where to; standard output when not given.")
    ] = STANDARD_STREAM,
    *,
    form: Annotated[Format, typer.Option("--format", help="json, or graphml (extra graph).")] = Format.JSON,
) -> Answer:
    """Write the whole graph."""
    if file == STANDARD_STREAM:
        if session.as_json:
            raise UsageError("the graph on standard output is the graph and nothing else: name a FILE")
        written = session.bank.graph.export_to(session.stdout, format=form.value)
        return Answer({"exported": written}, lambda _console: None)
    written = session.bank.graph.export_to(file, format=form.value)
    value = {"exported": written, "file": file.absolute()}
    return Answer(value, lambda console: views.sentence(console, f"Wrote {written:,} nodes to {file}."))


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(
        help="The memory graph: what was asked, answered, done and found, and how it is connected.",
        no_args_is_help=True,
    )
    for name, function in (
        ("add", add),
        ("connect", connect),
        ("show", show),
        ("list", list_nodes),
        ("search", search),
        ("recall", recall),
        ("approve", approve),
        ("delete", delete),
        ("import", import_graph),
        ("export", export),
    ):
        command(group, name)(function)
    app.add_typer(group, name="graph", rich_help_panel=PANEL)
