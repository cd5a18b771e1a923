"""The bank: what is called every day stands in `bank.py`, its parts beside it."""

from reasoningbank.bank.bank import ReasoningBank
from reasoningbank.bank.exchange import Exchange
from reasoningbank.bank.graph import Graph
from reasoningbank.bank.handle import utc_now
from reasoningbank.bank.links import Links
from reasoningbank.bank.queue import Queue
from reasoningbank.bank.replication import Replication
from reasoningbank.bank.root import BankRoot, Tenants
from reasoningbank.bank.runs import Run, Runs
from reasoningbank.bank.sharing import Sharing
from reasoningbank.bank.sources import Sources
from reasoningbank.bank.upkeep import Upkeep

__all__ = [
    "BankRoot",
    "Exchange",
    "Graph",
    "Links",
    "Queue",
    "ReasoningBank",
    "Replication",
    "Run",
    "Runs",
    "Sharing",
    "Sources",
    "Tenants",
    "Upkeep",
    "utc_now",
]
