"""The bank handle, in parts: reading, writing, learning, upkeep."""

from reasoningbank.bank.bank import ReasoningBank
from reasoningbank.bank.handle import utc_now
from reasoningbank.bank.root import BankRoot
from reasoningbank.bank.run import Run

__all__ = ["BankRoot", "ReasoningBank", "Run", "utc_now"]
