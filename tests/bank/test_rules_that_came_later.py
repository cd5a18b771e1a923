"""A secret that only a later rule finds, in every text of a bank: the dashboard and the MCP server do not show it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.dashboard import Access, Site
from reasoningbank.dashboard.addresses import segment
from reasoningbank.dashboard.api import CALLS
from reasoningbank.dashboard.routes import ROUTES
from reasoningbank.mcp_server import Offer, OneProject, ResourceNotFoundError
from reasoningbank.screening.scrub import Rule
from tests.conftest import Clock
from tests.dashboard.conftest import PROJECT, Visitor
from tests.mcp_server.conftest import call

pytestmark = pytest.mark.folder_only
SAID = re.compile(r"XQV-[a-z-]+", re.IGNORECASE)
RULE = Rule("house word", (), r"(?i)XQV-[a-z-]+")
KEPT = {"keep_trajectories": True}
TASK = "quote every path"


def word(where: str) -> str:
    """Return a word that no rule of ours finds, and that says where it was put."""
    return f"XQV-{where}"


def step(where: str) -> dict[str, Any]:
    said = {name: f"{name} {word(f'{where}-{name}')}" for name in ("thought", "action", "observation", "error")}
    return said | {"tool": word(f"{where}-tool")}


def fill(bank: ReasoningBank) -> dict[str, list[str]]:
    """Put the word into every text that a bank keeps; return what the pages' addresses are made of."""
    first = bank.record(
        f"Quote every path {word('title')}",
        f"Or the command breaks {word('content')}",
        outcome="success",
        description=f"Paths with blanks {word('description')}",
        applies_when=f"A shell runs {word('applies')}",
        tags=[word("tag")],
        metadata={"note": word("value"), word("key"): "x", "deep": [{word("deep-key"): word("deep-value")}]},
        source={"how": "imported", "by": word("source-by"), "session": word("source-session")},
        signatures=[f"Error: no such file {word('signature')}"],
    ).memory.id
    others = [
        bank.record(f"Look at the lock {n}", f"Before the work number {n}", outcome="failure").memory.id
        for n in range(3)
    ]
    bank.update(first, content=f"Or it breaks at once {word('content-now')}", reason=word("reason"), by=word("by"))
    bank.links.add(first, others[0], word("link"), evidence=word("link-evidence"), by=word("link-by"))
    bank.upkeep.pin(first, word("pin"))
    recalled = bank.recall(f"{TASK} {word('task')}", ref="one", thread=word("thread"))
    bank.runs.add_steps("one", [step("step")])
    bank.report("failure", ref=recalled.ref, reason=f"the paths were bare {word('report')}", by=word("report-by"))
    bank.vote(first, True, by=word("vote-by"), reason=word("vote-reason"))
    bank.recall_failure(
        f"Error: no such file {word('output')}", tool=word("tool"), command=f"ls {word('command')}", ref="two"
    )
    run = {"task": f"deploy the site {word('job-task')}", "steps": [step("job")], "session": word("job-session")}
    job = bank.queue.put(run | {"metadata": {"note": word("job-value")}}, "success").id
    bank.queue.put_anti_pattern(first, f"it did not help {word('anti')}")
    bank.distill(run | {"task": f"deploy it again {word('run-task')}"}, "success")
    nodes = [
        bank.graph.add_node(
            "UserRequest",
            f"Quote the paths {word(f'node-{at}')}",
            tags=[word("node-tag")],
            conv_id=word("conversation"),
            reasoning_pointer_ids=[first],
            fields={"user_role": word("node-role"), "user_id": word("node-user")},
        ).node.id
        for at in ("a", "b")
    ]
    bank.graph.add_edge(nodes[0], nodes[1], f"because {word('edge')}", weight=0.9, tags=[word("edge-tag")])
    bank.upkeep.archive(others[1], reason=f"it is old {word('archive')}", by=word("archive-by"))
    bank.supersede(others[2], first, reason=f"it says more {word('supersede')}", by=word("supersede-by"))
    of = {"how": "imported", "by": word("blocked")}
    others.append(bank.record("Turn it off", "And on again", outcome="success", source=of).memory.id)
    bank.sources.block(word("blocked"))
    refs = [episode.ref for episode in bank.runs.list().episodes]
    return {"memory": [first, *others], "ref": refs, "job": [job], "bank": [], "name": []}


@pytest.fixture
def ids(tmp_path: Path, clock: Clock) -> dict[str, list[str]]:
    with BankRoot(tmp_path / "root", tenant="acme", embedder="hash", clock=clock, settings=KEPT) as banks:
        return fill(banks.open(PROJECT))


@pytest.fixture
def banks(tmp_path: Path, clock: Clock, ids: dict[str, list[str]]) -> Iterator[BankRoot]:
    with BankRoot(tmp_path / "root", tenant="acme", embedder="hash", clock=clock, scrub_rules=[RULE]) as opened:
        yield opened


def shown_by(visitor: Visitor, ids: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    paths = [route.path for route in ROUTES if route.get is not None and "{bank}" not in route.path]
    for path in paths:
        (part,) = [name for name in ("memory", "ref") if f"{{{name}}}" in path] or [""]
        for one in ids.get(part, [""]):
            at = path.replace("{project}", PROJECT).replace(f"{{{part}}}", segment(one))
            for query in ({}, {"q": TASK}, {"class": "all"}, {"sort": "confidence"}, {"state": "archived"}):
                answer = visitor.client.get(at, params=query)
                assert answer.status_code in (200, 400), (at, answer.text)
                yield at, answer.text


def test_without_the_rule_the_pages_show_it_so_that_they_could_leak_it(
    tmp_path: Path, clock: Clock, ids: dict[str, list[str]]
) -> None:
    with (
        BankRoot(tmp_path / "root", tenant="acme", embedder="hash", clock=clock) as plain,
        closing(Site(plain, Access())) as site,
    ):
        found = {each for _, text in shown_by(Visitor(site), ids) for each in SAID.findall(text)}

    assert len(found) >= 39


def test_no_page_and_no_call_of_the_dashboard_shows_it(banks: BankRoot, ids: dict[str, list[str]]) -> None:
    with closing(Site(banks, Access())) as site:
        shown = [*shown_by(Visitor(site), ids)]

    assert {path for path, _ in shown} >= {f"/api/v1{each.path}".replace("{project}", PROJECT) for each in CALLS[:3]}
    assert sum("[REDACTED]" in text for _, text in shown) > 10
    assert sorted({(found, path) for path, text in shown for found in SAID.findall(text)}) == []


def test_no_tool_resource_or_prompt_of_the_mcp_server_shows_it(banks: BankRoot, ids: dict[str, list[str]]) -> None:
    offer = Offer(OneProject(banks.open(PROJECT)), allow=("list", "update", "retire", "approve"))
    first, last = ids["memory"][0], ids["memory"][1]
    told: list[Any] = [
        offer.instructions,
        offer.tools(),
        offer.prompts(),
        offer.templates(),
        offer.prompt("before-task", {"task": TASK}),
        call(offer, "memory_search", query=TASK),
        call(offer, "memory_list"),
        call(offer, "memory_feedback", memory_id=first, helpful=True),
        call(offer, "memory_outcome", ref=ids["ref"][0], succeeded=True),
        call(offer, "memory_update", memory_id=first, title="Quote all paths", reason="a better tag"),
        call(offer, "memory_retire", memory_id=last, reason="it is old"),
    ]
    listed = offer.resources()["resources"]
    for uri in (*(each["uri"] for each in listed), *(f"memory://{one}" for one in ids["memory"])):
        try:
            told.append(offer.read(uri))
        except ResourceNotFoundError as error:
            told.append(str(error))
    text = json.dumps([told, listed], ensure_ascii=False)

    assert "[REDACTED]" in text
    assert {*SAID.findall(text)} == set()


def test_a_blocked_source_whose_name_is_hidden_by_now_can_be_unblocked_as_it_is_shown(
    banks: BankRoot, ids: dict[str, list[str]]
) -> None:
    sources = banks.open(PROJECT).sources
    (shown,) = sources.list()
    assert shown == "[REDACTED]"

    assert sources.unblock(shown).memories == (ids["memory"][-1],)
    assert sources.list() == []
