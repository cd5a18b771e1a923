"""The memory graph: nodes, edges, paths over them, and what its calls return.

Imported from: `nodes` (Node, Edge, Band), `paths`, `results`.
"""
