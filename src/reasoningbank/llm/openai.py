"""Chat with any OpenAI-compatible endpoint, through the `openai` package (extra `[openai]`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reasoningbank.errors import ChatError, MissingExtraError
from reasoningbank.llm.base import ChatReply, ChatRequest, FinishReason, Usage, read_finish
from reasoningbank.screening.door import said_by

if TYPE_CHECKING:
    import openai

TIMEOUT_SECONDS = 60.0
RETRIES = 2
# What a server says when it knows no `response_format`: the question is then asked without it.
NO_SCHEMA = ("response_format", "json_schema", "structured output", "guided", "grammar")


class OpenAIChat:
    """An OpenAI-compatible endpoint.

    Args:
        model: the model's name at the endpoint.
        base_url: of a local or other server; None is OpenAI's own.
        api_key: None takes what the `openai` package finds. A local server mostly needs none: with a `base_url` and
            no key anywhere, a placeholder is sent.
        timeout: seconds a request may take, connecting included.
        retries: how often a 408, 409, 429 or 5xx answer or a broken connection is tried again; `Retry-After` is
            respected.
        schema: False never asks for answers by JSON schema, for servers that do worse with it.
        client: an `openai.OpenAI` of your own; the arguments above are then not used.

    Raises:
        MissingExtraError: the `openai` package is not installed.
        ChatError: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        schema: bool = True,
        client: openai.OpenAI | None = None,
    ) -> None:
        self.model = model
        self.schema = schema
        self._complaints: tuple[str, ...] = ()
        self._client = client or _open_client(base_url, api_key, timeout, retries)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once, with bounded retries inside.

        What a server says it does not know is left out and asked again, and left out from then on.
        """
        import openai

        given = arguments(self.model, request, schema=self.schema)
        complaints = self._complaints
        for complaint in complaints:
            given = adapted(given, complaint) or given
        try:
            while True:
                try:
                    completion = self._client.chat.completions.create(**given)
                except (openai.BadRequestError, openai.UnprocessableEntityError, openai.InternalServerError) as error:
                    # llama.cpp's Python server answers 500 where it means 422.
                    given = adapted(given, str(error))
                    if not given:
                        raise
                    complaints = (*complaints, str(error))
                else:
                    self._complaints = complaints
                    return read_completion(completion)
        except openai.OpenAIError as error:
            raise ChatError(f"{self.model} failed: {said_by(error)}") from error


def _open_client(base_url: str | None, api_key: str | None, timeout: float, retries: int) -> openai.OpenAI:
    try:
        import openai
    except ImportError:
        raise MissingExtraError("OpenAIChat", "openai") from None
    try:
        return openai.OpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=retries)
    except openai.OpenAIError:
        if base_url is None:
            raise ChatError(
                "there is no key for OpenAI: give api_key, or set OPENAI_API_KEY, or give the base_url of a server"
            ) from None
        return openai.OpenAI(api_key="none", base_url=base_url, timeout=timeout, max_retries=retries)


def adapted(given: dict[str, Any], complaint: str) -> dict[str, Any]:
    """Return the call without what the server complains of, or {} where that is not the trouble.

    Each call makes the arguments fewer or newer, so asking again ends.
    """
    complaint = complaint.lower()
    fewer = dict(given)
    if "response_format" in given and any(word in complaint for word in NO_SCHEMA):
        asked = fewer.pop("response_format")
        if asked["type"] == "json_schema":
            # As servers took it before there was `json_schema`, and llama.cpp's do; if they complain again, nothing.
            fewer["response_format"] = {"type": "json_object", "schema": asked["json_schema"]["schema"]}
    elif "max_tokens" in given and "max_completion_tokens" in complaint:
        fewer["max_completion_tokens"] = fewer.pop("max_tokens")
    elif "temperature" in given and "temperature" in complaint:
        del fewer["temperature"]
    else:
        return {}
    return fewer


def arguments(model: str, request: ChatRequest, *, schema: bool = True) -> dict[str, Any]:
    """Return the arguments of a chat completion call for `request`, for the sync and the async client alike."""
    given: dict[str, Any] = {
        "model": model,
        "messages": [message.as_dict() for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    if schema and request.schema is not None:
        given["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.schema_name, "schema": dict(request.schema), "strict": True},
        }
    return given


def read_completion(completion: Any) -> ChatReply:
    """Read a chat completion, also one with nothing in it.

    A tool call where text was asked for counts as the text it should have been: its arguments. Content that comes as
    a list of blocks is joined.

    Raises:
        ChatError: it has no choices.
    """
    choices = getattr(completion, "choices", None)
    if not choices:
        raise ChatError(f"{getattr(completion, 'model', None) or 'the model'} answered with no choices at all")
    message = choices[0].message
    text = _content(getattr(message, "content", None))
    calls = getattr(message, "tool_calls", None) or []
    if not text and calls:
        text = calls[0].function.arguments or ""
    refusal = getattr(message, "refusal", None) or ""
    finish = read_finish(choices[0].finish_reason)
    usage = getattr(completion, "usage", None)
    return ChatReply(
        text=text,
        finish=FinishReason.REFUSAL if refusal and not text else finish,
        usage=Usage(getattr(usage, "prompt_tokens", None) or 0, getattr(usage, "completion_tokens", None) or 0),
        refusal=refusal,
        model=getattr(completion, "model", None) or "",
    )


def _content(content: Any) -> str:
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else getattr(part, "text", None) for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False)  # a server that already parsed the JSON it was asked for
