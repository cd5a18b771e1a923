"""Nothing that is retired, superseded, merged or expired is served through any door, whatever was called before."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from reasoningbank import DistillStatus, InvalidInputError, LLMDistiller, ReasoningBank, State
from reasoningbank.adapters import memory_tools
from reasoningbank.adapters.recalling import Recalling
from reasoningbank.mcp_server import Offer, OneProject, ResourceNotFoundError
from tests.bank.test_sameness import AnyCalls
from tests.conftest import Clock, OpenBank

ASKED = "run make clean"


def exported(bank: ReasoningBank) -> set[str]:
    bank.exchange.export_to(target := io.StringIO())
    return {json.loads(line)["id"] for line in target.getvalue().splitlines()}


def recommended(bank: ReasoningBank) -> set[str]:
    said = bank.recommend(ASKED)
    return {hit.memory.id for hit in (said.strategy, said.runner_up) if hit is not None}


def resources(bank: ReasoningBank) -> set[str]:
    offer, read = Offer(OneProject(bank)), set()
    for memory in bank.list(state=None, expired=None).memories:
        try:
            read.add(json.loads(offer.read(f"memory://{memory.id}")[0]["text"])["memory_id"])
        except ResourceNotFoundError:
            continue
    return read


def told(tool: Any, **arguments: Any) -> set[str]:
    return {memory["memory_id"] for memory in tool(arguments).data["memories"]}


DOORS: dict[str, Any] = {
    "list": lambda bank: {memory.id for memory in bank.list().memories},
    "search": lambda bank: {memory.id for memory in bank.search(ASKED, 20, min_confidence=0.0).memories},
    "links": lambda bank: {memory.id for memory in bank.recall(ASKED, 1, expand_links=True).memories},
    "suggested links": lambda bank: {end for link in bank.links.suggest() for end in (link.source, link.target)},
    "recommend": recommended,
    "failure": lambda bank: {memory.id for memory in bank.recall_failure("make: *** [clean] Error 2").memories},
    "graph": lambda bank: set(bank.graph.recall_paths(ASKED).memories),
    "tool": lambda bank: told(memory_tools(bank)[0], query=ASKED, limit=20),
    "look-up": lambda bank: told(memory_tools(bank, read_only=True)[0], query=ASKED, limit=20),
    "call": lambda bank: {
        memory["memory_id"]
        for memory in Offer(OneProject(bank)).call("memory_search", {"query": ASKED})["structuredContent"]["memories"]
    },
    "adapters": lambda bank: {
        memory.id for memory in Recalling(bank, 20).recall(bank, ASKED, ref=None, thread=None).memories
    },
    "resource": resources,
    "export": exported,
}
# Doors that let everything through that is in service.
WIDE = ("list", "resource", "export")


def line(**given: Any) -> dict[str, Any]:
    return {"format": "reasoningbank/1", **given}


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, {"new"}),
        ({"state": None}, {"new", "old", "retired", "bad"}),
        ({"state": "archived"}, {"old", "retired"}),
        ({"state": State.QUARANTINED}, {"bad"}),
        ({"expired": None}, {"new", "over"}),
        ({"state": None, "expired": None}, {"new", "old", "retired", "bad", "over"}),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_what_is_out_of_service_is_exported_when_it_is_asked_for(
    open_bank: OpenBank, clock: Clock, tmp_path: Path, form: Any, asked: dict[str, Any], ids: set[str]
) -> None:
    bank = open_bank()
    bank.exchange.import_from(
        [
            *(line(id=name, title=name, content=f"Mind the {name} gap") for name in ("old", "new", "retired")),
            line(id="bad", content="Mind the bad gap", state="quarantined"),
            line(id="over", content="Mind what is over", ttl="1d"),
        ],
        trusted=True,
    )
    bank.supersede("old", "new", reason="better")
    bank.upkeep.archive("retired", by="agent")
    clock.move(days=2)

    assert bank.exchange.export_to(tmp_path / "out", format=form, **asked) == len(ids)
    copy = open_bank(project="copy")
    copy.exchange.import_from(tmp_path / "out", trusted=True)
    assert {memory.id for memory in copy.list(state=None, expired=None).memories} == ids


def test_a_job_names_the_lessons_that_are_still_there_and_is_done_once(bank: ReasoningBank) -> None:
    bank.queue.put({"task": "Ship it", "steps": ["ls", "ls -a"]}, "success")
    answer = json.dumps({"memories": [{"title": f"Look {n}", "content": f"Look {n} first"} for n in ("here", "there")]})
    job = bank.queue.worker(LLMDistiller(lambda _: answer)).run_once()
    assert job is not None
    gone, kept = job.memories

    bank.delete(gone)

    assert bank.queue.get(job.id).memories == bank.queue.list()[0].memories == (kept,)
    with pytest.raises(InvalidInputError, match=f"job {job.id} is done"):
        bank.queue.retry(job.id)
    assert bank.queue.get(job.id).status is DistillStatus.DONE


class AnyDoor(AnyCalls):
    """Whatever is called in whatever order: every door serves what is in service, and nothing else."""

    picks = st.integers(0, 99)

    @rule(pick=picks, hours=st.integers(1, 3))
    def expire(self, pick: int, hours: int) -> None:
        self.attempt(pick, lambda memory_id: self.bank.update(memory_id, ttl=f"{hours}h"))

    @rule(hours=st.integers(1, 3))
    def wait(self, hours: int) -> None:
        self.clock.move(hours=hours)

    @rule(pick=picks, other=picks, kind=st.sampled_from(["requires", "enhances", "conflicts"]))
    def link(self, pick: int, other: int, kind: str) -> None:
        source, target = self.pick(pick), self.pick(other)
        if source is not None and source != target:
            try:
                self.bank.links.add(source, str(target), kind)
            except InvalidInputError:
                return

    @rule(pick=picks)
    def point(self, pick: int) -> None:
        if (memory_id := self.pick(pick)) is not None:
            self.bank.graph.add_node("Event", f"Run make clean in {memory_id}", reasoning_pointer_ids=[memory_id])

    @rule()
    def look_through_every_door(self) -> None:
        now = self.clock()
        memories = self.bank.list(state=None, expired=None).memories
        in_service = {m.id for m in memories if m.state is State.ACTIVE and not m.has_expired(now)}
        for name, door in DOORS.items():
            served = door(self.bank)
            assert served <= in_service, name
            assert name not in WIDE or served == in_service, name

    def teardown(self) -> None:
        try:
            self.look_through_every_door()
        finally:
            super().teardown()


TestAnyDoor = AnyDoor.TestCase
TestAnyDoor.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)
