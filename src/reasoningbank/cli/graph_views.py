"""How the memory graph looks in a terminal. Texts are data: they are never read as markup."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from reasoningbank.cli.views import notes, rejected_lines, removed_secrets, sentence, shown
from reasoningbank.graph import Edge, EdgeStored, GraphImported, GraphRecall, Node, NodeSearch, NodeStored


def _headline(found: Node, before: str = "") -> Text:
    state = "  quarantined" if found.quarantined else ""
    return Text.assemble(before, (found.kind.value, "bold"), f" {shown(found.id)}", (state, "yellow"))


def stored(console: Console, done: NodeStored) -> None:
    """Print what became of a node."""
    console.print(_headline(done.node, "Added: " if done.created else "Replaced: "), soft_wrap=True)
    removed_secrets(console, done.redactions)
    if done.node.findings:
        sentence(console, f"Quarantined, not found: {'; '.join(done.node.findings)}.", "yellow")
    notes(console, done.degraded)


def connected(console: Console, done: EdgeStored) -> None:
    """Print what became of an edge."""
    _edge(console, done.edge, "Connected: " if done.created else "Replaced: ")
    removed_secrets(console, done.redactions)


def _edge(console: Console, found: Edge, before: str = "") -> None:
    text = f"{before}{found.id}  {found.source} --> {found.target}  {found.weight:.2f} {found.band}"
    console.print(Text(shown(text)), soft_wrap=True)
    sentence(console, f"    {found.text}", "dim")


def node(console: Console, found: Node, edges: Sequence[Edge]) -> None:
    """Print one node with all that is known of it."""
    console.print(_headline(found), soft_wrap=True)
    sentence(console, found.text)
    facts = {
        "conversation": found.conv_id,
        "tags": ", ".join(found.tags),
        **{
            name: ", ".join(map(str, value)) if isinstance(value, list) else value
            for name, value in found.fields.items()
        },
        "memories": ", ".join(found.reasoning_pointer_ids),
        "findings": "; ".join(found.findings),
        "added": f"{found.created_at:%Y-%m-%d %H:%M} UTC",
    }
    for name, value in facts.items():
        if value:
            console.print(Text.assemble((f"{name}: ", "dim"), shown(str(value))), soft_wrap=True)
    for edge in edges:
        _edge(console, edge)


def nodes(console: Console, found: Sequence[Node], following: str | None = None) -> None:
    """Print nodes, two lines each."""
    if not found:
        sentence(console, "No nodes.")
    for each in found:
        console.print(_headline(each), soft_wrap=True)
        console.print(Text(shown(f"    {each.text}"), "dim"), no_wrap=True, overflow="ellipsis")
    if following is not None:
        sentence(console, f"More: --after {following}", "dim")


def hits(console: Console, found: NodeSearch) -> None:
    """Print the nodes that were found, best first."""
    if not found.hits:
        sentence(console, "Nothing fits.")
    for hit in found.hits:
        console.print(_headline(hit.node, f"{hit.score:.2f} "), soft_wrap=True)
        sentence(console, f"    {hit.node.text}", "dim")
    notes(console, found.degraded)


def recalled(console: Console, found: GraphRecall) -> None:
    """Print paths, and the memories that their nodes point to."""
    if not found.paths:
        sentence(console, "Nothing fits.")
    for path in found.paths:
        sentence(console, f"{path.activation:.3f}  {path.text}")
    if found.memories:
        sentence(console, f"Memories: {', '.join(found.memories)}", "dim")
    notes(console, found.degraded)


def imported(console: Console, done: GraphImported) -> None:
    """Print what became of the records of a graph."""
    parts = f"{done.nodes:,} nodes, {done.edges:,} edges, {done.updated:,} replaced, {len(done.rejected):,} bad"
    sentence(console, f"Imported: {parts}.", "bold")
    if done.quarantined:
        sentence(console, f"{done.quarantined:,} are quarantined and not found: graph approve ID", "yellow")
    if done.unknown_pointers:
        sentence(console, f"{done.unknown_pointers:,} pointers lead to memories that are not here.", "yellow")
    removed_secrets(console, done.redactions)
    rejected_lines(console, done.rejected, "red")
    notes(console, done.degraded)
