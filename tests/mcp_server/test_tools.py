"""The tools as a client sees them: many of these are faults that other servers had."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from reasoningbank import ReasoningBank, State, Verdict
from reasoningbank.mcp_server import Offer, OneProject
from reasoningbank.mcp_server.offer import ResourceNotFoundError
from reasoningbank.prompt.block import estimate_tokens
from tests.mcp_server.conftest import MODES, RECORD, call, connected, refusal


def text_of(result: Any) -> str:
    """Return the text of a tool's result or of a resource."""
    (content,) = result.contents if hasattr(result, "contents") else result.content
    text: str = content.text
    return text


# -- through the SDK's client --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
async def test_the_loop_of_search_and_outcome(offer: Offer, bank: ReasoningBank, mode: str) -> None:
    async with connected(offer, mode) as client:
        recorded = await client.call_tool("memory_record", RECORD)
        found = await client.call_tool("memory_search", {"query": "quote the paths"})
        assert found.structured_content is not None
        ref = found.structured_content["ref"]
        outcome = await client.call_tool("memory_outcome", {"ref": ref, "succeeded": True})
        voted = await client.call_tool("memory_feedback", {"memory_id": bank.list().memories[0].id, "helpful": True})

    assert recorded.structured_content is not None
    memory_id = recorded.structured_content["memory_id"]
    (hit,) = found.structured_content["memories"]
    assert (hit["memory_id"], hit["title"], hit["content"], hit["outcome"]) == (memory_id, *RECORD.values())
    assert (hit["project"], hit["confidence"]) == ("billing", 0.8)
    assert "Put paths in quotes" in text_of(found)
    assert f"ref: {ref}" in text_of(found)
    assert outcome.structured_content == {"ref": ref, "recorded": True, "credited": [memory_id]}
    assert voted.structured_content is not None
    assert voted.structured_content["confidence"] > 0.8
    episode = bank.runs.get(ref)
    assert (episode.verdict, episode.by) == (Verdict.SUCCESS, "mcp")


@pytest.mark.parametrize("mode", MODES)
async def test_resources_are_listed_and_read(offer: Offer, bank: ReasoningBank, mode: str) -> None:
    bank.exchange.import_from([RECORD | {"id": "AIR/001 %"}])
    async with connected(offer, mode) as client:
        status = (await client.list_resources()).resources[0]
        (template,) = (await client.list_resource_templates()).resource_templates
        counts = await client.read_resource("memory://status")
        whole = await client.read_resource("memory://AIR%2F001%20%25")
        with pytest.raises(Exception, match="no memory 'nope'"):
            await client.read_resource("memory://nope")

    assert (str(status.uri), template.uri_template) == ("memory://status", "memory://{memory_id}")
    assert json.loads(text_of(counts))["memories"] == {"active": 1}
    assert json.loads(text_of(whole))["memory_id"] == "AIR/001 %"


def test_a_quarantined_memory_is_no_resource(offer: Offer, bank: ReasoningBank) -> None:
    bank.exchange.import_from([RECORD | {"format": "reasoningbank/1", "id": "q", "state": "quarantined"}])

    with pytest.raises(Exception, match="quarantined"):
        offer.read("memory://q")
    assert bank.get("q").state is State.QUARANTINED


@pytest.mark.parametrize("uri", ["memory://a/b", "file:///etc/passwd", "memory://", "status"])
def test_an_address_of_another_form_is_refused(offer: Offer, uri: str) -> None:
    with pytest.raises(Exception, match=r"not of the form memory://\{memory_id\}|is not an id"):
        offer.read(uri)


async def test_seven_records_at_once_are_all_kept(scope: dict[str, str], bank: ReasoningBank) -> None:
    second = ReasoningBank(scope["REASONINGBANK_ROOT"], tenant="acme", project="billing", embedder="hash")
    one, other = Offer(OneProject(bank)), Offer(OneProject(second))

    async with connected(one) as client:
        await asyncio.gather(*(client.call_tool("memory_record", RECORD | {"title": f"Lesson {n}"}) for n in range(7)))
        async with connected(other) as neighbour:
            await asyncio.gather(
                *(
                    (client, neighbour)[n % 2].call_tool("memory_record", RECORD | {"title": f"Later {n}"})
                    for n in range(7)
                )
            )
    second.close()

    assert bank.count() == 14


# -- the schemas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_only", [False, True])
async def test_every_tool_has_a_strict_schema(bank: ReasoningBank, read_only: bool) -> None:
    async with connected(Offer(OneProject(bank), read_only=read_only)) as client:
        tools = (await client.list_tools()).tools

    for tool in tools:
        wire = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        for schema in (wire["inputSchema"], wire["outputSchema"]):
            assert schema["type"] == "object"
            assert isinstance(schema["properties"], dict)
            assert set(schema["required"]) <= set(schema["properties"])
            assert all(isinstance(field["type"], str) for field in schema["properties"].values())
        assert wire["inputSchema"]["additionalProperties"] is False
        assert wire["title"]
        assert wire["description"]


def test_a_few_tools_that_cost_few_tokens(offer: Offer) -> None:
    tools = offer.tools()

    assert [tool["name"] for tool in tools] == ["memory_search", "memory_record", "memory_feedback", "memory_outcome"]
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert estimate_tokens(json.dumps(shown)) < 1_500


def test_schemas_are_plain_and_speak_of_no_null(offer: Offer) -> None:
    schemas = json.dumps([tool["inputSchema"] for tool in offer.tools()])

    assert "null" not in schemas
    assert "anyOf" not in schemas


def test_annotations_say_what_a_call_does(offer: Offer, bank: ReasoningBank) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in offer.tools()}
    (lookup,) = Offer(OneProject(bank), read_only=True).tools()

    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == set()
    assert {name for name, hint in hints.items() if hint["idempotentHint"]} == {
        "memory_record",
        "memory_feedback",
        "memory_outcome",
    }
    assert not any(hint["destructiveHint"] or hint["openWorldHint"] for hint in hints.values())
    assert lookup["annotations"]["readOnlyHint"] is True


def test_results_fit_their_schemas(offer: Offer) -> None:
    outputs = {tool["name"]: tool["outputSchema"] for tool in offer.tools()}
    recorded = call(offer, "memory_record", **RECORD)
    results = {
        "memory_record": recorded,
        "memory_search": call(offer, "memory_search", query="quote paths"),
        "memory_feedback": call(offer, "memory_feedback", memory_id=recorded["memory_id"], helpful=True),
        "memory_outcome": call(offer, "memory_outcome", memory_id=recorded["memory_id"], succeeded=True),
    }

    kinds = {"string": str, "boolean": bool, "number": float, "array": list, "object": dict}
    for name, result in results.items():
        properties = outputs[name]["properties"]
        assert set(outputs[name]["required"]) <= set(result)
        for key in properties.keys() & result.keys():
            assert isinstance(result[key], kinds[properties[key]["type"]])


# -- arguments as models send them ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tags", "read"),
    [('["go","auth"]', ["go", "auth"]), ("go, auth", ["go", "auth"]), ("go", ["go"]), (["go"], ["go"]), (None, [])],
)
def test_lists_that_come_as_text_are_lists(offer: Offer, bank: ReasoningBank, tags: object, read: list[str]) -> None:
    recorded = call(offer, "memory_record", **RECORD, tags=tags)

    assert list(bank.get(recorded["memory_id"]).tags) == read


@pytest.mark.parametrize(
    ("given", "recorded"), [("false", -1), ("no", -1), ("0", -1), (0, -1), ("true", 1), ("Yes", 1), (1, 1), (True, 1)]
)
def test_booleans_are_read_by_a_table(offer: Offer, bank: ReasoningBank, given: object, recorded: int) -> None:
    memory_id = call(offer, "memory_record", **RECORD)["memory_id"]

    confidence = call(offer, "memory_feedback", memory_id=memory_id, helpful=given)["confidence"]

    assert (confidence > 0.8) == (recorded > 0)
    assert call(offer, "memory_outcome", memory_id=memory_id, succeeded=given, ref="s")["recorded"] is True


def test_numbers_that_come_as_text_are_numbers(offer: Offer) -> None:
    call(offer, "memory_record", **RECORD)

    assert len(call(offer, "memory_search", query="quote", limit="5", min_confidence="0.5")["memories"]) == 1
    assert len(call(offer, "memory_search", query="quote", limit="null")["memories"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "shown"),
    [
        ("memory_feedback", {"memory_id": "m", "helpful": "perhaps"}, "'perhaps'"),
        ("memory_search", {"query": "x", "limit": "many"}, "'many'"),
        ("memory_search", {"query": "x", "limit": 999}, "999"),
        ("memory_search", {"query": "x", "tags": {"a": 1}}, "{'a': 1}"),
        ("memory_record", RECORD | {"metadata": '{"a":1}'}, "metadata"),
    ],
)
def test_what_is_unclear_is_one_clear_error(
    offer: Offer, bank: ReasoningBank, tool: str, arguments: dict[str, Any], shown: str
) -> None:
    assert shown in refusal(offer, tool, **arguments)
    assert bank.count() == 0


@pytest.mark.parametrize("content", ['{"retries": 3}', "[1,2]", "true", "123", "null"])
def test_text_that_happens_to_be_json_is_stored_as_it_is(offer: Offer, bank: ReasoningBank, content: str) -> None:
    recorded = call(offer, "memory_record", title="cfg", content=content, outcome="success")

    assert bank.get(recorded["memory_id"]).content == content


@pytest.mark.parametrize("arguments", [{}, {"ref": None, "memory_id": None}, {"ref": ""}])
def test_that_a_run_or_a_lesson_is_missing_is_shown_by_an_example(offer: Offer, arguments: dict[str, Any]) -> None:
    said = refusal(offer, "memory_outcome", succeeded=True, **arguments)

    assert '{"ref": "<ref of memory_search>", "succeeded": true}' in said


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_record", {"title": "t", "outcome": "success"}),
        ("memory_record", RECORD | {"content": "   "}),
        ("memory_record", RECORD | {"content": 123}),
        ("memory_record", RECORD | {"title": "\u200b"}),
        ("memory_record", RECORD | {"outcome": "maybe"}),
        ("memory_record", RECORD | {"outcome": None}),
        ("memory_feedback", {"memory_id": " ", "helpful": True}),
        ("memory_feedback", {"memory_id": "", "helpful": True}),
        ("memory_search", {"query": "  "}),
        ("memory_delete", {"memory_id": ""}),
    ],
)
def test_a_blank_or_missing_text_writes_nothing(
    offer: Offer, bank: ReasoningBank, tool: str, arguments: dict[str, Any]
) -> None:
    refusal(offer, tool, **arguments)

    assert bank.count(state=None) == 0


def test_an_error_names_what_is_accepted_what_came_and_what_is_nearest(offer: Offer) -> None:
    said = refusal(offer, "memory_outcome", memory_id="m-7", success=True)
    for part in ("memory_outcome", "did you mean 'succeeded'?", "ref, memory_id", "memory_id='m-7'", "success=True"):
        assert part in said

    assert "query" in refusal(offer, "memory_search", q="x")
    unknown = refusal(offer, "memory_serch", query="x")
    assert "did you mean 'memory_search'?" in unknown
    assert "memory_record" in unknown


def test_every_tool_answers_with_each_optional_argument(offer: Offer) -> None:
    memory_id = call(offer, "memory_record", **RECORD, description="d", applies_when="a", tags=["t"])["memory_id"]
    for arguments in ({"limit": 3}, {"min_confidence": 0.1}, {"outcome": "failure"}, {"tags": ["t"]}):
        assert call(offer, "memory_search", query="quote paths", **arguments)["memories"]
    ref = call(offer, "memory_search", query="quote paths")["ref"]

    assert call(offer, "memory_feedback", memory_id=memory_id, helpful=True, reason="why")["recorded"]
    assert call(offer, "memory_outcome", ref=ref, succeeded=True, reason="why")["recorded"]
    assert call(offer, "memory_outcome", memory_id=memory_id, succeeded=True, ref="s", reason="why")["recorded"]
    assert not call(offer, "memory_outcome", memory_id=memory_id, succeeded=True, ref="s")["recorded"]


@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_too_long_is_cut_with_a_note_and_its_id(bank: ReasoningBank, read_only: bool) -> None:
    offer = Offer(OneProject(bank), read_only=read_only)
    long = bank.record("Quote paths at length", "Put paths in quotes. " * 900, outcome="success").memory.id
    short = bank.record("Quote paths", "Put paths in quotes", outcome="success").memory.id

    result = offer.call("memory_search", {"query": "quote paths", "limit": 20})

    assert [memory["memory_id"] for memory in result["structuredContent"]["memories"]] == [short]
    assert result["structuredContent"]["too_long"] == [long]
    assert result["content"][0]["text"].endswith(f"Found, but too long to show here as a whole: {long}.")
    assert len(json.dumps(result)) < 10_000
    assert json.loads(offer.read(f"memory://{long}")[0]["text"])["content"].startswith("Put paths")


def test_lessons_are_put_right_only_where_that_is_allowed(bank: ReasoningBank) -> None:
    memory_id = bank.record("Clean up", "Run rm -rf /build", outcome="success").memory.id
    closed, allowed = Offer(OneProject(bank)), Offer(OneProject(bank), allow=("update", "retire"))

    assert "there is no tool 'memory_retire'" in refusal(closed, "memory_retire", memory_id=memory_id, reason="bad")
    titles = {tool["name"]: tool["title"] for tool in allowed.tools()}
    assert (titles["memory_update"], titles["memory_retire"]) == ("Put a lesson right", "Take a lesson out of service")
    assert call(allowed, "memory_update", memory_id=memory_id, content="Run make clean", reason="safer")["changed"]
    assert bank.revisions(memory_id)[0].by == "mcp"
    assert call(allowed, "memory_retire", memory_id=memory_id, reason="bad")["state"] == "archived"
    with pytest.raises(ResourceNotFoundError, match="archived"):
        allowed.read(f"memory://{memory_id}")


def test_the_filters_of_a_server_hold_whatever_a_client_asks_for(bank: ReasoningBank) -> None:
    for team in ("a", "b"):
        bank.record(f"Ask team {team}", f"Ask team {team} first", outcome="success", metadata={"team": team})
    bound = Offer(OneProject(bank), filters={"where": {"team": "a"}})

    def titles(**asked: Any) -> list[str]:
        return [found["title"] for found in call(bound, "memory_search", query="ask first", **asked)["memories"]]

    assert titles() == titles(where={"team": {"in": ["a", "b"]}}) == titles(since="1d") == ["Ask team a"]
    assert titles(where={"team": "b"}) == titles(until="1d") == []
    assert "did you mean 'gte'" in refusal(bound, "memory_search", query="ask", where={"n": {"gtee": 3}})


def test_a_hold_out_draws_once_for_all_calls_of_a_session(bank: ReasoningBank) -> None:
    lesson = call(Offer(OneProject(bank)), "memory_record", **RECORD)["memory_id"]
    bank.update(lesson, signatures=["error: a path with blanks"])
    handle = ReasoningBank(
        bank.root, tenant=bank.tenant, project=bank.project, embedder="hash", settings={"holdout": 0.5}
    )
    arms = set()
    with handle:
        for number in range(12):
            offer = Offer(OneProject(handle), session=f"session {number}", allow=["list"])
            answers = [call(offer, "memory_search", query=f"quote paths {task}") for task in ("one", "two", "three")]
            given = {bool(answer["memories"]) for answer in answers}
            error = call(offer, "memory_search", query="quote", error="error: a path with blanks")
            (arm,) = given

            assert bool(call(offer, "memory_list")["memories"]) is arm
            assert bool(error["memories"]) <= arm
            for ref in {answer["ref"] for answer in answers if answer.get("ref")}:
                call(offer, "memory_outcome", ref=ref, succeeded=True)
            arms.add(arm)
        (status,) = Offer(OneProject(handle)).read("memory://status")

    assert arms == {True, False}
    assert json.loads(status["text"])["lift"] == told(bank)
    assert "too early to tell" in told(bank)


def told(bank: ReasoningBank) -> str:
    assert bank.upkeep.status().lift == bank.lift(90).words
    return bank.lift(90).words
