"""Tools that are used in plain text: commands in fences, tags or `Action:` lines, and the messages that answer them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reasoningbank.runs.readers.ledger import Ledger
from reasoningbank.runs.readers.outcome import Outcome
from reasoningbank.runs.readers.turns import Call, Result, Turn
from reasoningbank.runs.readers.values import get, is_record, unpacked
from reasoningbank.runs.transcript import as_text

# A fence with the name of a shell or a language that agents act in; Markdown has the others too.
FENCE = re.compile(
    r"(?m)^[ \t]*```[ \t]*([\w+-]*(?:bash|sh|shell|zsh|console|python3?|powershell|cmd|sql|tool_code)\w{0,20})[ \t]*\n"
)
# The last kind is that of editors' agents: a name of two words, alone on its line, with its arguments as elements.
TAGGED = re.compile(
    r"<tool_call>|<function=([\w.:-]{1,80})>|<function_calls>|<(execute_\w{1,40}|run_\w{1,40})>|"
    r"(?m:^[ \t]*)<([a-z]{2,20}(?:_[a-z]{2,20}){1,4})>(?=\s*<[a-z_]{2,30}>)"
)
LAST_WORDS = ("attempt_completion", "result")  # the elements that an agent's last words stand in
ACTION = re.compile(
    r"(?m)^[ \t]*(?:\*\*)?Action(?:[ \t]+\d{1,4})?(?:\*\*)?[ \t]*:[ \t]*(?:\*\*)?[ \t]*(\S[^\n]{0,2000})$"
)
ACTION_INPUT = re.compile(r"(?m)^[ \t]*(?:\*\*)?Action[ \t]Input(?:\*\*)?[ \t]*:[ \t]*")
ELEMENT = re.compile(r"<([a-z_]{2,30})>")
# How harnesses begin a message that holds what a command printed.
ANSWER = re.compile(
    r"""(?ix) ^\s*(?:
        <(?:returncode|output|observation|stdout|stderr|tool_response|tool_result|function_results?|result|error|
            exception|warning|interpreter_output)> |
        (?:\*\*)?(?:observation|execution\ (?:result|output)|output|stdout|stderr|result|tool\ (?:output|response|
            result)|command\ output|exit\ code|response|error)\b (?:\ of\ \[[^\]\n]{1,80}\])? [^\n:]{0,40}: |
        \[[\w.-]{1,60}(?:\ for\ [^\]\n]{1,300})?\]\ result: |
        \[(?:observation|output|tool|result|error)\b [^\]\n]{0,80}\] |
        ```(?:output|text)?\n )"""
)
RETURN_CODE = re.compile(r"(?i)<(?:returncode|exit_code)>\s*(-?\d{1,9})\s*</|\bexit code:?\s*(-?\d{1,9})\b")
OUTPUT = re.compile(r"(?i)<(output|observation|stdout|tool_response|function_results?)>\n?")


def read_spoken(turns: Sequence[Turn], ledger: Ledger, *, always: bool = False) -> None:
    """Turn commands that stand in an assistant's text into calls, and the messages that answer them into results.

    A command counts where the next message begins as outputs do; without any such answer a fence may be an example, so
    it stays text, and it is noted that tools may have been used.

    Args:
        always: every command counts, whatever follows: the form is one whose agents act in this way.
    """
    for turn in turns:
        turn.results[:] = [_with_code(result) for result in turn.results]
        if turn.role == "assistant":
            turn.text = _without_frame(turn.text)
    pairs = [(turn, after) for turn, after in zip(turns, [*turns[1:], None], strict=False) if turn.role == "assistant"]
    found = [(turn, after, spoken) for turn, after in pairs if not turn.calls and (spoken := command_in(turn.text))]
    answered = [one for one in found if one[1] is not None and _answers(one[1])]
    if not always and not answered:
        if found:
            ledger.note("command in the text, with no output that was recognised", found[0][0].place, maybe_tool=True)
        return
    for turn, after, (tool, action, rest) in found if always else answered:
        turn.text = rest
        turn.calls.append(Call("", tool, action))
        if after is not None and after.role in ("user", "system") and not after.results:
            text, outcome = output_of(after.text)
            after.role, after.text = "tool", ""
            after.results.append(Result("", "", text, outcome))


def _with_code(result: Result) -> Result:
    if not result.text.startswith("<returncode>"):
        return result
    text, outcome = output_of(result.text)
    return replace(result, text=text, outcome=result.outcome.or_else(outcome))


def _answers(turn: Turn) -> bool:
    return turn.role in ("user", "system") and not turn.results and bool(ANSWER.match(turn.text))


def command_in(text: str) -> tuple[str, str, str] | None:
    """Return tool, act and the rest of a text that uses a tool in a fence, a tag or an action line; else None."""
    fence = FENCE.search(text)
    if fence is not None:
        end = text.find("\n```", fence.end() - 1)
        command = text[fence.end() : end if end >= 0 else len(text)].strip()
        rest = text[: fence.start()] + (text[end + 4 :] if end >= 0 else "")
        return (_shell(fence[1]), command, rest.strip()) if command else None
    tag = TAGGED.search(text)
    if tag is not None:
        return _tagged(text, tag)
    action = ACTION.search(text)
    if action is None:
        return None
    given = ACTION_INPUT.search(text, action.end())
    words = action[1].strip().strip("`")
    if given is not None:
        arguments = text[given.end() :].split("\nObservation", 1)[0].strip()
        return words, f"{words}({arguments})", text[: action.start()].strip()
    return re.split(r"[\[( ]", words, maxsplit=1)[0] or "action", words, text[: action.start()].strip()


def _shell(language: str) -> str:
    for name, tool in (("python", "python"), ("sql", "sql"), ("tool_code", "python")):
        if name in language.lower():
            return tool
    return "bash"


def _tagged(text: str, tag: re.Match[str]) -> tuple[str, str, str]:
    opened = re.sub(r"[<>]", "", tag[0]).split("=")[0].strip()
    end = text.find(f"</{opened}>", tag.end())
    body = text[tag.end() : end if end >= 0 else len(text)].strip()
    rest = (text[: tag.start()] + (text[end + len(opened) + 3 :] if end >= 0 else "")).strip()
    call = unpacked(body)
    if is_record(call) and not isinstance(call, str):
        tool = str(get(call, "name", "tool") or "tool")
        return tool, f"{tool}({as_text(get(call, 'arguments', 'args', 'parameters'))})", rest
    tool = tag[1] or tag[2] or tag[3] or "tool"
    elements = _elements(body) if tag[2] or tag[3] else {}
    if elements:
        return tool, f"{tool}({as_text(elements)})", rest
    return tool, f"{tool}({' '.join(re.sub(r'<[^<>]{0,200}>', ' ', body).split())})", rest


def _elements(body: str) -> dict[str, str]:
    """Return the elements that follow each other in a text, by their names; one that is not closed is none."""
    found: dict[str, str] = {}
    unclosed: set[str] = set()  # nor is any later one of the name: a text full of openings is still read in one pass
    opened = ELEMENT.search(body)
    while opened is not None:
        name, end = opened[1], -1
        if name not in unclosed:
            end = body.find(f"</{name}>", opened.end())
        if end >= 0:
            found.setdefault(name, body[opened.end() : end].strip())
        else:
            unclosed.add(name)
        opened = ELEMENT.search(body, max(end, opened.end()))
    return found


def _without_frame(text: str) -> str:
    """Return a text without the elements around an agent's last words."""
    head, frame, rest = text.partition(f"<{LAST_WORDS[0]}>")
    if not frame:
        return text
    inside = rest.partition(f"</{LAST_WORDS[0]}>")[0]
    return f"{head}\n{_elements(inside).get(LAST_WORDS[1], inside)}".strip()


def output_of(text: str) -> tuple[str, Outcome]:
    """Return what a command printed, out of the message that reports it, and its exit status if that is said."""
    head = text[:2_000]
    code = RETURN_CODE.search(head) or RETURN_CODE.search(text[-300:])
    exit_code = int(code[1] or code[2]) if code else None
    opening = OUTPUT.search(head)
    if opening is not None:
        closing = text.rfind(f"</{opening[1]}>")
        text = text[opening.end() : closing if closing > 0 else len(text)]
    else:
        text = re.sub(r"^\s*(?:\*\*)?(?:OBSERVATION|Observation|Output)(?:\*\*)?:(?:\*\*)?[ \t]*\n?", "", text, count=1)
    return _unfenced(text.strip("\n")), Outcome(exit_code=exit_code)


def _unfenced(text: str) -> str:
    """Return the inside of a fence, if a text is one."""
    fenced = re.match(r"\A\s*```\w*\n", text)
    return text[fenced.end() :].rstrip().removesuffix("```").rstrip() if fenced else text
