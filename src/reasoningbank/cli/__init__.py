"""The command line."""

from reasoningbank.cli.entry import main

__all__ = ["main"]
