"""bank.graph: what was asked, answered, done and found, and how it is connected."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from reasoningbank import arguments
from reasoningbank.bank.handle import Later, Namespace
from reasoningbank.errors import InvalidInputError
from reasoningbank.graph.nodes import Edge, Node, NodeKind, as_kind
from reasoningbank.graph.results import NodePage

if TYPE_CHECKING:
    from reasoningbank.graph.results import EdgeStored, GraphImported, GraphRecall, NodeSearch, NodeStored
    from reasoningbank.services.exchange import export, graph_transfer
    from reasoningbank.services.graph import graph, graph_search
else:
    graph, graph_search = Later.each("reasoningbank.services.graph", "graph", "graph_search")
    export, graph_transfer = Later.each("reasoningbank.services.exchange", "export", "graph_transfer")


class Graph(Namespace):
    """Nodes, edges, search, paths, and the graph in and out.

    But for deleting, an id that is not in this project raises NodeNotFoundError, that of a memory MemoryNotFoundError.
    """

    def add_node(
        self,
        kind: NodeKind | str,
        text: str,
        *,
        node_id: str | None = None,
        conv_id: str | None = None,
        tags: Sequence[str] = (),
        reasoning_pointer_ids: Sequence[str] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> NodeStored:
        """Store a node; one whose id is there is stored anew, and keeps its edges.

        Secrets are removed. One that looks like planted instructions is kept, but neither found nor walked over until
        `approve_node`.

        Args:
            kind: UserRequest, UserPreference, AgentAnswer, AgentAction, Event or DataSource.
            text: what it says, up to 20,000 characters.
            node_id: a new one when None.
            conv_id: the conversation it is from.
            reasoning_pointer_ids: ids of memories that it bears out.
            fields: of UserRequest user_role and user_id; of UserPreference preference_type; of AgentAnswer
                analysis_types and metrics (lists); of AgentAction status and parameter_field; of Event source_type,
                start_date and end_date (ISO 8601); of DataSource source_type, doc_pointer and relevant_parts.

        Raises:
            MemoryNotFoundError: a pointer to a memory that is not in this project.
            InvalidInputError: a kind, field or value that is not allowed.
        """
        draft = {
            "kind": as_kind(kind),
            "text": text,
            "conv_id": conv_id,
            "tags": tags,
            "reasoning_pointer_ids": tuple(reasoning_pointer_ids),
            "fields": dict(fields or {}),
        }
        return graph.add_node(self._engine, _own_id("node id", node_id), draft)

    def add_edge(
        self,
        source_id: str,
        target_id: str,
        text: str,
        *,
        weight: float,
        tags: Sequence[str] = (),
        edge_id: str | None = None,
    ) -> EdgeStored:
        """Connect two nodes by a sentence: how and why they belong together. One whose id is there is stored anew.

        Args:
            text: up to 1,000 characters.
            weight: in [0, 1]: from 0.85 direct (cause, core logic), from 0.55 a bridge, from 0.25 topical, below faint.
            edge_id: a new one when None.

        Raises:
            NodeNotFoundError: one of them is not in this project.
            InvalidInputError: both are the same, or a value that is not allowed.
        """
        draft = {"source": source_id, "target": target_id, "text": text, "weight": weight, "tags": tags}
        return graph.add_edge(self._engine, _own_id("edge id", edge_id), draft)

    def get_node(self, node_id: str) -> Node:
        """Return a node, quarantined or not."""
        return graph.get_node(self._engine, arguments.identifier("node id", node_id))

    def edges_of(self, node_id: str) -> list[Edge]:
        """Return the edges of a node, in either direction, in the order they were added."""
        return graph.edges_of(self._engine, arguments.identifier("node id", node_id))

    def edges_among(self, node_ids: Sequence[str]) -> list[Edge]:
        """Return the edges that join these nodes with one another, in the order they were added.

        Args:
            node_ids: up to 1,000; ids of no node are left out.
        """
        ids = [arguments.identifier("node id", node_id) for node_id in node_ids]
        arguments.whole("the number of nodes", len(ids), 0, arguments.LONGEST_PAGE)
        return graph.edges_among(self._engine, ids)

    def list_nodes(
        self,
        *,
        kind: NodeKind | str | None = None,
        conv_id: str | None = None,
        tags: Sequence[str] | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> NodePage:
        """Return a page of nodes, quarantined ones too, in the order they were added.

        Args:
            tags: only nodes that have all of these.
            after: `next` of the page before.
            limit: 1 to 1,000.
        """
        filters = arguments.node_filters(kind=kind, conv_id=conv_id, tags=tags, served=False)
        begin = arguments.position("nodes", after)
        nodes, following = graph.page(self._engine, filters, begin, arguments.page_limit(limit))
        return NodePage(nodes, arguments.cursor("nodes", following))

    def nodes_of(self, memory_id: str) -> list[Node]:
        """Return the nodes that point to a memory: what it was learned from."""
        return graph.nodes_of(self._engine, arguments.memory_id(memory_id))

    def approve_node(self, node_id: str) -> Node:
        """Let a quarantined node be found from now on.

        Raises:
            InvalidInputError: it is not quarantined.
        """
        return graph.approve(self._engine, arguments.identifier("node id", node_id))

    def delete_node(self, node_id: str) -> bool:
        """Delete a node with its edges and pointers; False when there was none."""
        return graph.delete_node(self._engine, arguments.identifier("node id", node_id))

    def delete_edge(self, edge_id: str) -> bool:
        """Delete an edge; False when there was none."""
        return graph.delete_edge(self._engine, arguments.identifier("edge id", edge_id))

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        kind: NodeKind | str | None = None,
        conv_id: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> NodeSearch:
        """Find the nodes that fit a query by meaning and by words, best first, as `search` does with memories.

        Raises:
            InvalidInputError: an empty query, or an argument that is not allowed.
            EmbedderMismatchError: the bank holds vectors of another embedder.
        """
        filters = arguments.node_filters(kind=kind, conv_id=conv_id, tags=tags)
        return graph_search.search(self._engine, arguments.query(query), arguments.whole("limit", limit, 1), filters)

    def recall_paths(
        self,
        query: str,
        *,
        seeds: int = 3,
        tags: Sequence[str] = (),
        kind: NodeKind | str | None = None,
        depth: int = 5,
        branches: int = 3,
        limit: int = 10,
        max_tokens: int = 500,
    ) -> GraphRecall:
        """Walk from the nodes that fit a query to what is connected with them, and tell the paths.

        The best nodes are the seeds; the first has an activation of 1. Along an edge passes activation · weight /
        √(edges of the node) · tag similarity, by the three strongest edges of each node, as long as it is above 0.005.
        Where paths meet, the highest activation wins. Nothing is changed or counted, and no episode is opened.

        Args:
            seeds: how many nodes to start from.
            tags: of edges: those that share them are preferred, those that do not pass on 0.15 of what they would.
            kind: of the seeds.
            depth: how many edges a path may have, 0 to 5.
            branches: by how many edges a node passes activation on, 1 to 3.
            limit: how many paths at the most.
            max_tokens: budget of the prompt block `text`; whole paths only.

        Raises:
            InvalidInputError, EmbedderMismatchError: as in `search`.
        """
        return graph_search.recall(
            self._engine,
            arguments.query(query),
            seeds=arguments.whole("seeds", seeds, 1),
            filters=arguments.node_filters(kind=kind),
            tags=arguments.tag_list(tags),
            depth=arguments.whole("depth", depth, 0, 5),
            branches=arguments.whole("branches", branches, 1, 3),
            limit=arguments.page_limit(limit),
            max_tokens=arguments.whole("max_tokens", max_tokens, 0),
        )

    def export_to(
        self, target: str | os.PathLike[str] | IO[str], *, format: Literal["json", "graphml"] = "json"
    ) -> int:
        """Write the whole graph as it is at one moment, quarantined nodes marked; return how many nodes.

        Args:
            target: a path, whose file appears whole or not at all, or an open text file.
            format: "json", or "graphml" (extra `graph`).

        Raises:
            InvalidInputError: an unknown format.
            MissingExtraError: GraphML without networkx.
            StorageError: the target cannot be written.
        """
        if format not in ("json", "graphml"):
            raise InvalidInputError(f"format {format!r} is not one of json, graphml")
        text, written = graph_transfer.export(self._engine, format)
        if isinstance(target, (str, os.PathLike)):
            export.write_whole(Path(target).expanduser(), lambda file: file.write(text))
        else:
            target.write(text)
        return written

    def import_from(self, source: str | os.PathLike[str] | IO[str] | Mapping[str, Any]) -> GraphImported:
        """Store the nodes and edges of a graph: JSON or GraphML, as `export_to` and Memoria write them.

        Good records are kept when others are bad. What is there under the same id is stored anew. Pointers to memories
        that are not in this project are left out and counted; import the memories first.

        Args:
            source: a path, an open text file, or the graph as a dictionary of nodes and edges.

        Raises:
            InvalidInputError: it cannot be read, or is no graph.
            MissingExtraError: GraphML without networkx.
        """
        if isinstance(source, Mapping):
            return graph_transfer.import_graph(self._engine, source)
        if isinstance(source, (str, os.PathLike)):
            text = graph_transfer.read_file(Path(source).expanduser())
        else:
            text = source.read()
        return graph_transfer.import_graph(self._engine, graph_transfer.parse(text))


def _own_id(name: str, given: str | None) -> str | None:
    return None if given is None else arguments.identifier(name, given)
