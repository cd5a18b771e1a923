"""The table of forms that runs come in. A new one is one module with `fits` and `read`, and one row here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from reasoningbank.runs.readers import (
    agents_sdk,
    aider,
    appworld,
    atif,
    autogen,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini_cli,
    google_adk,
    langfuse,
    langsmith,
    letta,
    llm_calls,
    mini_swe_agent,
    opencode,
    openhands,
    otel,
    plain,
    pydantic_ai,
    sharegpt,
    swe_agent,
    tau_bench,
)
from reasoningbank.runs.readers.found import Found
from reasoningbank.runs.readers.messages import are_messages, read_messages


@dataclass(frozen=True, slots=True)
class Form:
    """A form that runs come in.

    Attributes:
        name: as `--format` takes it.
        title: what it is, for people.
        fits: tells whether a record (what JSON or a framework gave, or a file's text) is of this form, by its marks;
            cheap, never raises.
        read: gives the runs in a record that fits.
        is_lines: the lines of one file make one record together, as a list: they are events, not runs.
        has_dialects: the reader names the form itself.
    """

    name: str
    title: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], Iterator[Found]]
    is_lines: bool = False
    has_dialects: bool = False


def _chat(messages: Any) -> Iterator[Found]:
    yield read_messages(messages, place="")


CHAT = Form("chat", "chat messages", are_messages, _chat, is_lines=True, has_dialects=True)
PLAIN = Form("plain", "a run with a task, and steps or messages", plain.fits, plain.read, has_dialects=True)
STEPS = Form("steps", "a list of steps", plain.fits_list, plain.read_list)

# In the order in which they are tried: the more marks a form needs, the earlier it stands.
FORMS: tuple[Form, ...] = (
    Form("claude-code", "a Claude Code session", claude_code.fits, claude_code.read, is_lines=True),
    Form("codex", "a Codex session (rollout)", codex.fits, codex.read, is_lines=True),
    Form("copilot", "a GitHub Copilot session", copilot.fits, copilot.read, is_lines=True),
    Form("cursor", "a Cursor transcript, or a chat of its store", cursor.fits, cursor.read, is_lines=True),
    Form("gemini-cli", "a Gemini CLI session", gemini_cli.fits, gemini_cli.read, is_lines=True),
    Form("aider", "an Aider chat history", aider.fits, aider.read),
    Form("appworld", "an AppWorld environment log", appworld.fits, appworld.read),
    Form("opencode", "an OpenCode session", opencode.fits, opencode.read, is_lines=True),
    Form("openhands", "an OpenHands event list", openhands.fits, openhands.read, is_lines=True),
    Form("mini-swe-agent", "a mini-swe-agent trajectory", mini_swe_agent.fits, mini_swe_agent.read),
    Form("swe-agent", "an SWE-agent trajectory", swe_agent.fits, swe_agent.read),
    Form("tau-bench", "a tau-bench simulation", tau_bench.fits, tau_bench.read),
    Form("atif", "a Harbor trajectory (ATIF)", atif.fits, atif.read),
    Form("letta", "a Letta agent file", letta.fits, letta.read),
    Form("langsmith", "a LangSmith run tree", langsmith.fits, langsmith.read, is_lines=True),
    Form("langfuse", "a Langfuse trace", langfuse.fits, langfuse.read, is_lines=True),
    Form("agents-sdk", "a trace of the OpenAI Agents SDK", agents_sdk.fits, agents_sdk.read, is_lines=True),
    Form("otel", "OpenTelemetry spans (GenAI, OpenInference)", otel.fits, otel.read, is_lines=True),
    Form("pydantic-ai", "a pydantic-ai message history", pydantic_ai.fits, pydantic_ai.read, is_lines=True),
    Form("autogen", "an AutoGen conversation", autogen.fits, autogen.read, is_lines=True),
    Form("google-adk", "a Google ADK session", google_adk.fits, google_adk.read, is_lines=True),
    Form("llm-calls", "a log of calls to a model (AppWorld, proxies)", llm_calls.fits, llm_calls.read, is_lines=True),
    Form("sharegpt", "a ShareGPT conversation", sharegpt.fits, sharegpt.read, is_lines=True),
    CHAT,
    PLAIN,
    STEPS,
)
