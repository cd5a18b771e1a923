"""What `bank.exchange` returns, and the lines in which memories and runs leave a bank and come into another."""

from reasoningbank.results import Imported, Rejected

__all__ = ["Imported", "Rejected"]
