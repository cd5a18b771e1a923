"""Memories, runs and the graph, in and out of a bank."""
