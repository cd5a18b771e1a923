"""Commands graph ...: nodes and edges of the memory graph, search, paths, in and out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from reasoningbank.cli.arguments import STANDARD_STREAM, IntoFile, UsageError, Words, pairs, text_of
from reasoningbank.cli.help import Group
from reasoningbank.cli.session import Answer, Session, command
from reasoningbank.cli.terminal import headline, line, more, notes, sentence, shown, time
from reasoningbank.cli.views import rejected_lines, removed_secrets
from reasoningbank.graph import Edge, EdgeStored, GraphImported, GraphRecall, Node, NodeKind, NodeSearch, NodeStored

app = typer.Typer(
    name="graph",
    help="The memory graph: what was asked, answered, done and found, and how it is connected.",
    cls=Group,
)

NodeId = Annotated[str, typer.Argument(metavar="ID", help="The node's id.")]
OfKind = Annotated[NodeKind | None, typer.Option("--kind", help="Only nodes of this kind.", case_sensitive=False)]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]
OwnId = Annotated[
    str | None, typer.Option("--id", help="Its id; a new one when not given. One that is there is replaced.")
]
Format = Literal["json", "graphml"]


@command(app, "add", begins=True)
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
        reasoning_pointer_ids=[*map(session.id_of, memory or ())],
        fields=pairs(field),
    )
    return Answer(done, _stored)


@command(app, "connect")
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
    source, target = session.id_of(source, "node"), session.id_of(target, "node")
    done = session.bank.graph.add_edge(source, target, text_of(text), weight=weight, tags=tag or (), edge_id=edge_id)
    return Answer(done, _connected)


@command(app, "show")
def show(session: Session, node_id: NodeId) -> Answer:
    """Show a node with its edges and the memories it points to."""
    node_id = session.id_of(node_id, "node")
    node, edges = session.bank.graph.get_node(node_id), session.bank.graph.edges_of(node_id)
    return Answer({"node": node, "edges": edges}, lambda console, _: _shown(console, node, edges))


@command(app, "list")
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
        nodes = session.bank.graph.nodes_of(session.id_of(memory))
        return Answer({"nodes": nodes}, lambda console, _: print_nodes(console, nodes))
    page = session.bank.graph.list_nodes(kind=kind, conv_id=conv_id, tags=tag, after=after, limit=limit)
    return Answer(page, lambda console, _: print_nodes(console, page.nodes, page.next))


@command(app, "search")
def search(
    session: Session,
    query: Words,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at the most.")] = 10,
    kind: OfKind = None,
    tag: Tags = None,
) -> Answer:
    """Find the nodes that fit. Changes nothing."""
    return Answer(session.bank.graph.search(text_of(query), limit, kind=kind, tags=tag), _hits)


@command(app, "recall")
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
    return Answer(found, _recalled)


@command(app, "approve")
def approve(session: Session, node_id: NodeId) -> Answer:
    """Let a quarantined node be found from now on."""
    node = session.bank.graph.approve_node(session.id_of(node_id, "node"))
    return Answer(node, f"Approved: {node.id}")


@command(app, "delete")
def delete(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="ID", help="The node's id; with --edge an edge's.")],
    *,
    edge: Annotated[bool, typer.Option("--edge", help="Delete an edge.")] = False,
) -> Answer:
    """Delete a node with its edges, or an edge. Exit code 1 when there was none."""
    name = session.id_of(name, "edge" if edge else "node")
    done = session.bank.graph.delete_edge(name) if edge else session.bank.graph.delete_node(name)
    said = f"Deleted: {name}" if done else f"Not there: {name}"
    return Answer({"deleted": done}, said, exit_code=0 if done else 1)


@command(app, "import", begins=True)
def import_graph(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or GraphML; - reads standard input.")],
) -> Answer:
    """Store the nodes and edges of a file. Good records are kept when others are bad (exit code 1)."""
    done = session.bank.graph.import_from(sys.stdin if file == STANDARD_STREAM else file)
    return Answer(done, _imported, exit_code=1 if done.rejected else 0)


@command(app, "export")
def export(
    session: Session,
    file: IntoFile = STANDARD_STREAM,
    *,
    form: Annotated[Format, typer.Option("--format", help="json, or graphml (extra graph).")] = "json",
) -> Answer:
    """Write the whole graph."""
    if file == STANDARD_STREAM:
        if session.as_json:
            raise UsageError("the graph on standard output is the graph and nothing else: name a FILE")
        written = session.bank.graph.export_to(session.stdout, format=form)
        return Answer({"exported": written})
    written = session.bank.graph.export_to(file, format=form)
    return Answer({"exported": written, "file": file.absolute()}, f"Wrote {written:,} nodes to {file}.")


# -- how it looks in a terminal: texts are data, and never read as markup ---------------------------------------------


def _headline(found: Node, before: str = "") -> Text:
    state = "  quarantined" if found.quarantined else ""
    return Text.assemble(before, (found.kind.value, "bold"), f" {shown(found.id)}", (state, "yellow"))


def _stored(console: Console, done: NodeStored) -> None:
    line(console, _headline(done.node, "Added: " if done.created else "Replaced: "))
    removed_secrets(console, done.redactions)
    if done.node.findings:
        sentence(console, f"Quarantined, not found: {'; '.join(done.node.findings)}.", "yellow")
    notes(console, done.degraded)


def _connected(console: Console, done: EdgeStored) -> None:
    _edge(console, done.edge, "Connected: " if done.created else "Replaced: ")
    removed_secrets(console, done.redactions)


def _edge(console: Console, found: Edge, before: str = "") -> None:
    text = f"{before}{found.id}  {found.source} --> {found.target}  {found.weight:.2f} {found.band}"
    line(console, Text(shown(text)))
    sentence(console, f"    {found.text}", "dim")


def _shown(console: Console, found: Node, edges: Sequence[Edge]) -> None:
    line(console, _headline(found))
    sentence(console, found.text)
    facts = {
        "conversation": found.conv_id,
        "tags": ", ".join(found.tags),
        **{name: ", ".join(map(str, v)) if isinstance(v, list) else v for name, v in found.fields.items()},
        "memories": ", ".join(found.reasoning_pointer_ids),
        "findings": "; ".join(found.findings),
        "added": time(found.created_at),
    }
    for name, value in facts.items():
        if value:
            line(console, Text.assemble((f"{name}: ", "dim"), shown(str(value))))
    for edge in edges:
        _edge(console, edge)


def print_nodes(console: Console, found: Sequence[Node], following: str | None = None) -> None:
    """Print nodes, two lines each."""
    if not found:
        sentence(console, "No nodes.")
    for each in found:
        line(console, _headline(each))
        headline(console, Text(shown(f"    {each.text}"), "dim"))
    more(console, following)


def _hits(console: Console, found: NodeSearch) -> None:
    if not found.hits:
        sentence(console, "Nothing fits.")
    for hit in found.hits:
        line(console, _headline(hit.node, f"{hit.score:.2f} "))
        sentence(console, f"    {hit.node.text}", "dim")
    notes(console, found.degraded)


def _recalled(console: Console, found: GraphRecall) -> None:
    if not found.paths:
        sentence(console, "Nothing fits.")
    for path in found.paths:
        sentence(console, f"{path.activation:.3f}  {path.text}")
    if found.memories:
        sentence(console, f"Memories: {', '.join(found.memories)}", "dim")
    notes(console, found.degraded)


def _imported(console: Console, done: GraphImported) -> None:
    parts = f"{done.nodes:,} nodes, {done.edges:,} edges, {done.updated:,} replaced, {len(done.rejected):,} bad"
    sentence(console, f"Imported: {parts}.", "bold")
    if done.quarantined:
        sentence(console, f"{done.quarantined:,} are quarantined and not found: graph approve ID", "yellow")
    if done.unknown_pointers:
        sentence(console, f"{done.unknown_pointers:,} pointers lead to memories that are not here.", "yellow")
    removed_secrets(console, done.redactions)
    rejected_lines(console, done.rejected, "red")
    notes(console, done.degraded)
