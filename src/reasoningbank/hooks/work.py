"""What the bank does at an event of a coding agent: recall, recall at a failure, evidence, and the turn at its end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reasoningbank import ReasoningBank, Verdict, prompt_block
from reasoningbank.hooks.entry import KEPT_OF_ACT, Event, Spool
from reasoningbank.outputs import failure_of
from reasoningbank.screening.scrub import scrub

# How a bank is opened beside its scope.
EMBEDDER: dict[str, Any] = {}

TOKENS = 400
LEAST_PROMPT = 12  # characters: "yes" and "go on" are no tasks

# The last of these that was run in a turn says how the turn ended.
CHECKS = re.compile(
    r"(?:^|[;&|]\s*|\s)(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|mypy|tsc|"
    r"(?:npm|pnpm|yarn|bun)(?: run)? (?:test|build|lint|check)\S*|"
    r"(?:cargo|go|dotnet|swift|mix|gradle|mvn) (?:test|build|check|verify|vet)|"
    r"\./gradlew \w+|make(?: (?:test|check|all|build))?|ruff check|eslint|bazel (?:test|build)|"
    r"python3? -m (?:pytest|unittest))(?:\s|$)"
)


def work(event: Event, spool: Spool, options: Mapping[str, str]) -> str:
    """Do what an event asks for, and return what the model is to be told; "" for nothing."""
    tenant, project = options["--tenant"], options["--project"]
    shared = [name for name in options.get("--shared", "").split(",") if name]
    with ReasoningBank(options.get("--root"), tenant=tenant, project=project, shared=shared, **EMBEDDER) as bank:
        if event.moment == "start":
            return _start(bank, event)
        if event.moment == "prompt":
            _end_turn(bank, spool)
            return _prompt(bank, event, spool)
        if event.moment == "end":
            _end_turn(bank, spool)
            spool.clear()
            return ""
        return _act(bank, event, spool)


def _start(bank: ReasoningBank, event: Event) -> str:
    name = Path(event.cwd).name
    if not name or event.source in ("resume", "compact"):
        return ""
    found = bank.search(f"work on {name}", 3, strict=True)
    if found.weak or not found.hits:
        return ""
    return prompt_block(found.memories, max_tokens=TOKENS).text


def _prompt(bank: ReasoningBank, event: Event, spool: Spool) -> str:
    prompt = event.text.strip()
    if len(prompt) < LEAST_PROMPT or prompt.startswith("/"):
        return ""
    ref = f"{event.client}:{event.session}:{_turn(spool)}"[:200]
    recall = bank.recall(prompt[:8_000], ref=ref, thread=event.session[:200], max_tokens=TOKENS)
    spool.add(prompt=scrub(prompt[:8_000]).text, ref=ref)
    return "" if recall.weak else recall.text


def _turn(spool: Spool) -> int:
    counter = Path(f"{spool.stem}.turns")
    number = 1 + (int(counter.read_text()) if counter.exists() else 0)
    counter.write_text(str(number))
    return number


def _act(bank: ReasoningBank, event: Event, spool: Spool) -> str:
    spool.add_act(event, scrub(event.command).text, scrub(event.text[-KEPT_OF_ACT:]).text)
    lines = spool.lines()
    ref = next((line["ref"] for line in reversed(lines) if line.get("ref")), None)
    failed = bool(event.exit_code) or (event.exit_code is None and failure_of(event.text) is not None)
    if not failed:
        if ref:
            bank.report_act(ref, tool=event.tool, command=event.command or None)
        return ""
    found = bank.recall_failure(
        event.text,
        tool=event.tool,
        command=event.command or None,
        exit_code=event.exit_code,
        ref=ref,
    )
    if found.hits:
        spool.add(ref=found.ref, pending=True)
    return found.text


def _end_turn(bank: ReasoningBank, spool: Spool) -> None:
    """Report how the turn ended, and put it into the queue, where a worker makes lessons of it."""
    lines = spool.lines()
    acts = [line for line in lines if "output" in line]
    ref = next((line["ref"] for line in lines if line.get("ref")), None)
    task = next((line["prompt"] for line in lines if line.get("prompt")), "")
    verdict, why = outcome(acts)
    if ref and verdict is not Verdict.UNKNOWN:
        bank.report(verdict, ref=ref, reason=why, by="hooks")
    if task and acts and verdict is not Verdict.UNKNOWN:
        steps = [_step(act) for act in acts]
        run = {"task": task, "steps": steps, "verdict": verdict.value, "reason": why, "session": ref}
        bank.queue.put(run, key=ref)
    spool.clear()


def _step(act: dict[str, Any]) -> dict[str, str]:
    action = act["command"] or act["tool"]
    told = "error" if act["exit_code"] else "observation"
    return {"action": action, told: act["output"]}


def outcome(acts: Sequence[dict[str, Any]]) -> tuple[Verdict, str]:
    """Return how a turn ended, by the last test, build or check that was run in it, and which; else unknown."""
    for act in reversed(acts):
        if not CHECKS.search(act["command"]):
            continue
        told = failure_of(act["output"], status=act["exit_code"])
        ended = Verdict.FAILURE if told is not None else Verdict.SUCCESS
        return ended, f"{act['command'][:200]}: {'failed' if told else 'passed'}"
    return Verdict.UNKNOWN, ""
