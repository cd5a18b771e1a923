"""What `bank.exchange` returns, and the lines in which memories and runs leave a bank and come into another."""

from reasoningbank.exchange.results import Imported
from reasoningbank.results import Rejected

__all__ = ["Imported", "Rejected"]
