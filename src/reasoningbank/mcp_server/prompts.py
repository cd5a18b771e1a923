"""Two prompts that a person can choose in a client: before a task, with the lessons that fit, and after it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.mcp_server.projects import nearest

BEFORE, AFTER = "before-task", "after-task"

_DESCRIPTIONS = {
    BEFORE: "Look up what earlier runs learned about a task, before it is begun.",
    AFTER: "Report how the task ended, and keep what a later run should know.",
}
_ARGUMENTS = {
    BEFORE: [("task", "What is to be done, in one sentence.", True)],
    AFTER: [
        ("ref", "The ref that was given before the task; the model finds it in the conversation when it is left out.",
         False),
        ("ended", "How it ended, in your words; the model judges by what it saw when it is left out.", False),
    ],
}  # fmt: skip
_PROJECT = ("project_id", "Whose lessons.", True)


def listed(offered: Collection[str], *, several: bool) -> list[dict[str, Any]]:
    """Return the prompts that fit the tools that are offered, as `prompts/list` gives them."""
    return [
        {
            "name": name,
            "description": _DESCRIPTIONS[name],
            "arguments": [
                {"name": argument, "description": text, "required": required}
                for argument, text, required in [*_ARGUMENTS[name], *([_PROJECT] if several else [])]
            ],
        }
        for name in (BEFORE, AFTER)
        if name == BEFORE or "memory_outcome" in offered
    ]


def read_prompt(name: str, given: Mapping[str, str], *, several: bool) -> dict[str, str]:
    """Return the arguments of a prompt; InvalidInputError where it or one of them is unknown, or one is missing."""
    if name not in _ARGUMENTS:
        raise InvalidInputError(f"there is no prompt {name!r}{nearest(name, _ARGUMENTS)}; there are {BEFORE}, {AFTER}")
    known = {argument: required for argument, _, required in [*_ARGUMENTS[name], *([_PROJECT] if several else [])]}
    for argument in given:
        if argument not in known:
            hint = nearest(argument, known)
            raise InvalidInputError(f"{name} has no argument {argument!r}{hint}; it takes {', '.join(known)}")
    told = {argument: value for argument, value in given.items() if value.strip()}
    for argument in (argument for argument, required in known.items() if required and argument not in told):
        raise InvalidInputError(f"{name} needs {argument}")
    return told


def before(task: str, found: str, offered: Collection[str]) -> str:
    """Return what is said before a task: the task, what was found, and what to do when it has ended."""
    then = "\n\nWhen the task has ended, report it with memory_outcome and the ref above."
    return f"{task}\n\n{found}{then if 'memory_outcome' in offered else ''}"


def after(given: Mapping[str, str], offered: Collection[str]) -> str:
    """Return what is said after a task, of the tools that are offered and no other."""
    ref = f"the ref {given['ref']}" if "ref" in given else "the ref that memory_search gave for it"
    ended = f" It ended so: {given['ended']}" if "ended" in given else ""
    steps = [
        f"Call memory_outcome once, with {ref} and whether it succeeded: by what was checked, not by what was hoped."
    ]
    if "memory_feedback" in offered:
        steps.append("Where one lesson clearly helped or misled by itself, say so with memory_feedback.")
    if "memory_distill" in offered:
        steps.append("Hand the steps that mattered, each with what came of it, to memory_distill.")
    elif "memory_record" in offered:
        steps.append(
            "If a later run would do better knowing something that this one found out, store it with memory_record: "
            "one lesson each, with when it applies. If there is nothing of the kind, store nothing."
        )
    project = f" The project is {given['project_id']}." if "project_id" in given else ""
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"The task has ended.{ended}{project}\n\n{numbered}"


def filled(name: str, text: str) -> dict[str, Any]:
    """Return a prompt, as `prompts/get` gives it."""
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": _DESCRIPTIONS[name], "messages": [message]}
