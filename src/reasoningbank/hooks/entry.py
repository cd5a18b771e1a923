"""What a client starts at each event: `python entry.py CLIENT EVENT --state FOLDER --tenant T --project P [--root R] [--shared A,B]`.

It is run by its path and imports nothing but the standard library until the bank is needed, so that most events cost
little more than a start of Python. It never blocks the client: it ends by itself after DEADLINE seconds, always with
exit code 0, and says nothing where anything goes wrong. What went wrong last stands in the state folder, for `doctor`.

The session's acts are kept in the state folder (readable by this user only) until the turn they belong to is over, and
without secrets: where the bank is needed anyway its scrubber takes them out, else whole lines that could hold one are left
out, since the scrubber takes longer to load than a hook may take.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEADLINE = 4.0
AT_THE_END = 1.2  # a client that ends waits for all hooks together hardly longer than a second
KEPT = 20_000  # characters of an output
KEPT_OF_ACT = 4_000  # of those that wait for the end of the turn
LONGEST = 4_000_000  # of a payload

# What each client calls the moments that matter here.
MOMENTS = {
    "claude-code": {
        "SessionStart": "start", "UserPromptSubmit": "prompt", "PostToolUse": "act",
        "PostToolUseFailure": "failed", "SessionEnd": "end",
    },
    "codex": {"SessionStart": "start", "UserPromptSubmit": "prompt", "PostToolUse": "act", "Stop": "end"},
    "cursor": {
        "sessionStart": "start", "beforeSubmitPrompt": "prompt", "postToolUse": "act",
        "postToolUseFailure": "failed", "sessionEnd": "end",
    },
    "copilot": {
        "sessionStart": "start", "userPromptSubmitted": "prompt", "postToolUse": "act",
        "postToolUseFailure": "failed", "sessionEnd": "end",
    },
    "gemini": {"SessionStart": "start", "BeforeAgent": "prompt", "AfterTool": "act", "SessionEnd": "end"},
}  # fmt: skip

_EXIT = re.compile(
    r"(?:^Exit code:? |\bexit code:? |completed with exit code |\"exit_?code\": ?)(-?\d+)", re.IGNORECASE
)
# An output without any of these is not looked at: most acts go well.
_TROUBLE = re.compile(
    r"error|exception|fail|fatal|cannot|can't|unable|denied|not found|no such|panic|traceback|refused|invalid|"
    r"undefined|unknown|conflict|rejected|ошибка|错误|エラー|fehler|erreur",
    re.IGNORECASE,
)


# A line without any of these holds no secret: words that name one, and long words with digits in them.
_SECRETIVE = re.compile(
    r"pass|pwd|psw|\bpw\b|secret|token|key|auth|cred|cookie|bearer|log(?:ged)? ?in|sign|seed|mnemonic|otp|private|senha|"
    r"kennwort|contrase|парол|密|パスワード|비밀번호|://[^\s/@]{1,200}@|\s-[pu]\S|\$\w{1,6}\$|"
    r"(?=[\w+=~-]{0,19}\d)[\w+=~-]{20}|[\w+/=]{48}",
    re.IGNORECASE,
)
LEFT_OUT = "[left out]"


# A class with types would cost a quarter of the start.
Event = namedtuple(
    "Event", "client name moment session cwd source text tool command exit_code", defaults=("", "", "", "", "", None)
)
Event.__doc__ = """What a client tells.

Attributes:
    moment: start, prompt, act, failed or end.
    text: the prompt; of an act its output.
    exit_code: None where the client does not say; 1 where it only says that it failed.
"""


def read_event(client: str, name: str, payload: dict[str, Any]) -> Event | None:
    """Return what a payload tells; None where it tells nothing that matters here."""
    moment = MOMENTS.get(client, {}).get(name)
    if moment is None or payload.get("is_interrupt") is True or payload.get("failure_type") == "aborted":
        return None
    session = _first(payload, "session_id", "sessionId", "conversation_id") or "session"
    base = Event(client, name, moment, str(session), _text(payload.get("cwd")), _text(payload.get("source")))
    if moment == "prompt":
        return _with(base, text=_text(payload.get("prompt")))
    return _act(base, payload) if moment in ("act", "failed") else base


def _act(base: Event, payload: dict[str, Any]) -> Event | None:
    given = _parsed(_first(payload, "tool_input", "toolArgs"))
    command = given.get("command", given.get("cmd", "")) if isinstance(given, dict) else given
    command = " ".join(map(str, command)) if isinstance(command, list) else _text(command)
    told = _parsed(_first(payload, "error", "error_message", "tool_response", "tool_output", "toolResult"))
    if isinstance(told, dict) and told.get("interrupted") is True:
        return None
    output, code = _output(told), _code(told)
    stated = _EXIT.search(output[:200]) or _EXIT.search(output[-300:])
    if code is None and stated:
        code = int(stated[1])
    if base.moment == "failed" and not code:
        code = 1
    tool = _text(_first(payload, "tool_name", "toolName"))
    return _with(base, text=_ends(output), tool=tool, command=command, exit_code=code)


def _ends(output: str) -> str:
    return output if len(output) <= KEPT else f"{output[: KEPT // 4]}\n{output[-3 * KEPT // 4 :]}"


def _with(event: Event, **changes: Any) -> Event:
    return event._replace(**changes)


def _first(payload: dict[str, Any], *names: str) -> Any:
    return next((payload[name] for name in names if payload.get(name) not in (None, "")), None)


def _parsed(value: Any) -> Any:
    """Return a value that some clients send as the text of a JSON object."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _output(told: Any) -> str:
    if isinstance(told, dict):
        parts = (
            told.get(name)
            for name in ("stdout", "stderr", "output", "llmContent", "textResultForLlm", "error", "content")
        )
        return "\n".join(_output(part) for part in parts if part)
    if isinstance(told, list):
        return "\n".join(_text(part.get("text")) if isinstance(part, dict) else _text(part) for part in told)
    return _text(told)


def _code(told: Any) -> int | None:
    if not isinstance(told, dict):
        return None
    inner = told.get("metadata")
    code = _first({**inner, **told} if isinstance(inner, dict) else told, "exit_code", "exitCode", "returncode")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def answer(event: Event, text: str) -> str:
    """Return what is printed so that the client gives a text to its model; "" where it cannot at this event."""
    if event.client == "cursor":
        return "" if event.moment == "prompt" else json.dumps({"additional_context": text})
    if event.client == "copilot":
        return json.dumps({"additionalContext": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}})


# -- the session, as far as it is not yet told to the bank -----------------------------------------------------------


class Spool:
    """The acts of a session since its last prompt, a line each."""

    def __init__(self, state: str, event: Event) -> None:
        self.folder = os.path.join(state, event.client)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.stem = os.path.join(self.folder, re.sub(r"[^\w-]", "_", event.session)[:100])
        self.path = f"{self.stem}.jsonl"

    def add(self, **line: Any) -> None:
        """Append a line."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def add_act(self, event: Event, command: str, output: str) -> None:
        """Append what was done, without secrets, and what came of it."""
        self.add(tool=event.tool, command=command, output=output, exit_code=event.exit_code)

    def lines(self) -> list[dict[str, Any]]:
        """Return all lines that are whole."""
        if not os.path.exists(self.path):
            return []
        found = []
        with open(self.path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue
        return found

    def clear(self) -> None:
        """Forget all lines."""
        if os.path.exists(self.path):
            os.unlink(self.path)

    def seen(self, event: Event) -> None:
        """Note that the client does fire this event."""
        with open(os.path.join(self.folder, f"{event.name}.seen"), "a", encoding="utf-8"):
            pass


def careful(text: str) -> str:
    """Return a text without its lines that could hold a secret; of several beside each other one mark is left."""
    kept: list[str] = []
    for line in text.splitlines():
        if not _SECRETIVE.search(line):
            kept.append(line)
        elif kept[-1:] != [LEFT_OUT]:
            kept.append(LEFT_OUT)
    return "\n".join(kept)


def needs_bank(event: Event, spool: Spool) -> bool:
    """Tell whether an event has anything to ask or to tell; most acts have not."""
    if event.moment == "act":
        if event.exit_code == 0 or (event.exit_code is None and not _TROUBLE.search(event.text)):
            return any(line.get("pending") for line in spool.lines())
        return event.exit_code is not None or bool(event.command)
    return event.moment != "end" or bool(spool.lines())


def main(arguments: list[str]) -> None:
    """Read one event, answer it, and end; silently whatever happens."""
    client, name, *rest = arguments
    options = dict(zip(rest[::2], rest[1::2], strict=False))
    state = options["--state"]
    watchdog = threading.Timer(AT_THE_END if name.lower() == "sessionend" else DEADLINE, os._exit, [0])
    watchdog.daemon = True
    watchdog.start()
    try:
        payload = json.loads(sys.stdin.buffer.read(LONGEST).decode("utf-8", "replace"))
        event = read_event(client, name, payload) if isinstance(payload, dict) else None
        if event is None:
            return
        spool = Spool(state, event)
        spool.seen(event)
        is_act = event.moment in ("act", "failed")
        if needs_bank(event, spool) or (is_act and _SECRETIVE.search(event.command)):
            # The modules beside this file are no top-level ones.
            here = os.path.dirname(os.path.abspath(__file__))
            sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != here]
            from reasoningbank.hooks.work import work

            text = work(event, spool, options)
            if text and (said := answer(event, text)):
                sys.stdout.write(said)
                sys.stdout.flush()
        elif is_act:
            spool.add_act(event, event.command, careful(event.text[-KEPT_OF_ACT:]))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the client goes on
        _note(state, f"{client} {name}: {_said(error)}")
    finally:
        watchdog.cancel()


def _said(error: BaseException) -> str:
    try:
        from reasoningbank.screening.door import said_by
    except ImportError:
        return type(error).__name__  # what it says may hold a secret, and nothing here could tell
    return said_by(error)


def _note(state: str, problem: str) -> None:
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(os.path.join(state, "last-problem.txt"), "w", encoding="utf-8") as file:
            file.write(problem[:2_000])
    except OSError:
        return


if __name__ == "__main__":
    main(sys.argv[1:])
    # Threads of an embedder would hold the client up.
    os._exit(0)
