"""Simulations of tau-bench (`traj`, `reward`) and tau2-bench (`simulations` with `messages` and `reward_info`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import are_messages, read_messages
from reasoningbank.runs.readers.values import get, is_list
from reasoningbank.runs.transcript import as_text

# What the simulated customer says to end the conversation.
STOPS = frozenset({"###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"})
REWARDS = ("reward", "reward_info")


def fits(record: Any) -> bool:
    """Tell whether it is one simulation with its reward, or a file of tau2-bench."""
    if not isinstance(record, Mapping):
        return False
    if is_list(record.get("simulations")):
        return all(isinstance(each, Mapping) and "messages" in each for each in record["simulations"][:3])
    return bool(_messages(record)) and any(reward in record for reward in REWARDS) and "task_id" in record


def _messages(record: Mapping[str, Any]) -> str:
    """Return where the messages are; one with a reward that broke off before the first has an empty list of them."""
    rewarded = any(reward in record for reward in REWARDS)
    held = ((name, record.get(name)) for name in ("traj", "messages"))
    return next((name for name, listed in held if are_messages(listed) or (rewarded and listed == [])), "")


def read(record: Mapping[str, Any]) -> Iterator[Found]:
    """Read each simulation as one run.

    What the customer says first is the task: the instruction to the simulated customer is not what the agent was told.
    """
    simulations = record["simulations"] if is_list(record.get("simulations")) else [record]
    for each in simulations:
        if not (isinstance(each, Mapping) and _messages(each)):
            continue
        name = _messages(each)
        found = read_messages(_heard(each[name]), place=name)
        if not each[name]:
            found.ledger.note(f"simulation without messages: {as_text(get(each.get('info'), 'error')):.100}", name)
        found.says = [each, each.get("info")]
        found.fields = {
            "session": get(each, "id", "task_id"),
            "started_at": each.get("start_time") if str(each.get("start_time", ""))[-1:] == "Z" else None,
            "metadata": {name: each[name] for name in ("task_id", "trial") if isinstance(each.get(name), (int, str))},
        }
        yield found


def _heard(messages: Any) -> list[Any]:
    """Return the messages from the first of the customer on: the agent greets before it, which is no act."""
    messages = [message for message in messages if str(get(message, "content")).strip() not in STOPS]
    first = next((n for n, message in enumerate(messages) if get(message, "role") == "user"), 0)
    return [*(m for m in messages[:first] if get(m, "role") == "system"), *messages[first:]]
