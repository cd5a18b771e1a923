"""What has expired is kept, counted and listed, and served by nobody."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from reasoningbank import InvalidInputError, Memory, ReasoningBank, State
from reasoningbank.adapters import memory_tools
from reasoningbank.mcp_server import Offer, OneProject, ResourceNotFoundError
from reasoningbank.results import EXPIRED
from tests.conftest import Clock, OpenBank


@pytest.fixture
def lasting(bank: ReasoningBank) -> Memory:
    return bank.record("Quote paths", "Put paths in quotes.", outcome="success").memory


@pytest.fixture
def passing(bank: ReasoningBank, lasting: Memory) -> Memory:
    """A lesson for a week; `lasting` requires it."""
    memory = bank.record(
        "Quote paths for now", "The parser is broken: quote twice.", outcome="success", ttl="7d"
    ).memory
    bank.links.add(lasting.id, memory.id, "requires")
    return memory


def served(bank: ReasoningBank, call: str) -> set[str]:
    """Return the titles that a door serves."""
    doors: dict[str, Callable[[], str]] = {
        "search": lambda: str(bank.search("quote paths").memories),
        "recall": lambda: str(bank.recall("quote paths").text),
        "recall with links": lambda: str(bank.recall("put paths in quotes", 1, expand_links=True).text),
        "recommend": lambda: str([bank.recommend("quote twice").strategy, bank.recommend("quote twice").runner_up]),
        "tool": lambda: memory_tools(bank)[0]({"query": "quote paths"}).text,
        "lookup": lambda: memory_tools(bank, read_only=True)[0]({"query": "quote paths"}).text,
        "export": lambda: _exported(bank),
        "list": lambda: str(bank.list().memories),
    }
    text = doors[call]()
    return {title for title in ("Quote paths for now", "Put paths in quotes") if title in text}


def _exported(bank: ReasoningBank) -> str:
    bank.exchange.export_to(target := io.StringIO())
    return target.getvalue()


DOORS = ("search", "recall", "recall with links", "recommend", "tool", "lookup", "export", "list")


@pytest.mark.parametrize("door", DOORS)
def test_no_door_serves_what_has_expired(bank: ReasoningBank, passing: Memory, clock: Clock, door: str) -> None:
    clock.move(days=7, microseconds=-1)
    assert "Quote paths for now" in served(bank, door)
    clock.move(microseconds=1)
    assert served(bank, door) == {"Put paths in quotes"}


def test_what_has_expired_is_counted(bank: ReasoningBank, passing: Memory, clock: Clock) -> None:
    clock.move(days=8)

    assert bank.search("quote paths").withheld[EXPIRED] == 1
    assert bank.recall("quote paths").withheld[EXPIRED] == 1
    assert bank.recall("put paths in quotes", 1, expand_links=True).withheld[EXPIRED] >= 1
    assert bank.upkeep.status().expired == bank.count(expired=True) == 1
    assert (bank.count(), bank.count(expired=None)) == (1, 2)
    assert bank.get(passing.id).expires_at == passing.created_at + timedelta(days=7)


def test_a_repeated_recall_leaves_out_what_has_expired_since(
    bank: ReasoningBank, passing: Memory, clock: Clock
) -> None:
    before = bank.recall("quote paths", ref="r1")
    clock.move(days=8)
    after = bank.recall("quote paths", ref="r1")

    assert passing.id in {memory.id for memory in before.memories}
    assert passing.id not in {memory.id for memory in after.memories}
    assert after.withheld == {EXPIRED: 1}


def test_a_node_of_the_graph_leads_to_no_memory_that_has_expired(
    bank: ReasoningBank, passing: Memory, clock: Clock
) -> None:
    bank.graph.add_node("AgentAnswer", "Quoted the path twice", reasoning_pointer_ids=[passing.id])
    assert bank.graph.recall_paths("quoted the path twice").memories == (passing.id,)
    clock.move(days=8)
    assert bank.graph.recall_paths("quoted the path twice").memories == ()


def test_the_server_shows_no_memory_that_has_expired(bank: ReasoningBank, passing: Memory, clock: Clock) -> None:
    offer = Offer(OneProject(bank))
    assert passing.title in offer.read(f"memory://{passing.id}")[0]["text"]
    clock.move(days=8)
    with pytest.raises(ResourceNotFoundError, match="expired"):
        offer.read(f"memory://{passing.id}")


def test_a_failure_is_answered_by_nothing_that_has_expired(bank: ReasoningBank, clock: Clock) -> None:
    output = "ModuleNotFoundError: No module named 'yaml'"
    bank.record("Install yaml", "Install pyyaml.", outcome="success", signatures=[output], ttl="7d")
    assert bank.recall_failure(output, exit_code=1).hits
    clock.move(days=8)
    assert not bank.recall_failure(output, exit_code=1).hits


def test_links_are_suggested_between_what_lasts_only(bank: ReasoningBank) -> None:
    bank.record("Quote paths", "Put every path in double quotes.", outcome="success", ttl="7d")
    bank.record("Quote a path", "Put every path in double quotes.", outcome="success")

    assert bank.links.suggest() == []
    assert bank.upkeep.consolidate().changes == ()


def test_maintenance_archives_what_has_expired(bank: ReasoningBank, passing: Memory, clock: Clock) -> None:
    clock.move(days=8)
    assert bank.upkeep.maintain(dry_run=True).expired_memories == 1
    assert bank.get(passing.id).state is State.ACTIVE
    assert bank.upkeep.maintain().expired_memories == 1
    assert bank.get(passing.id).state is State.ARCHIVED
    assert bank.upkeep.maintain().expired_memories == 0


def test_an_update_says_until_when(bank: ReasoningBank, passing: Memory, clock: Clock) -> None:
    clock.move(days=8)
    revision = bank.update(passing.id, ttl="1d").revision
    assert served(bank, "search") >= {"Quote paths for now"}
    clock.move(days=2)
    assert "Quote paths for now" not in served(bank, "search")
    bank.update(passing.id, expires_at=None)
    assert "Quote paths for now" in served(bank, "search")
    assert bank.get(passing.id).revision == revision == passing.revision


def test_what_is_learned_again_is_served_again(bank: ReasoningBank, passing: Memory, clock: Clock) -> None:
    clock.move(days=8)
    again = bank.record(passing.title, passing.content, outcome="success", ttl="1d")

    assert (again.created, again.memory.id) == (False, passing.id)
    assert again.memory.expires_at == clock.now + timedelta(days=1)
    assert "Quote paths for now" in served(bank, "search")


def test_what_is_learned_again_comes_back_from_the_archive(bank: ReasoningBank, passing: Memory, clock: Clock) -> None:
    clock.move(days=8)
    bank.upkeep.maintain()
    again = bank.record(passing.title, passing.content, outcome="success")

    assert (again.created, again.memory.id, again.memory.expires_at) == (False, passing.id, None)
    assert "Quote paths for now" in served(bank, "search")


def test_what_expires_in_time_to_come_is_left_as_it_is_by_a_record_of_the_same(
    bank: ReasoningBank, passing: Memory
) -> None:
    assert bank.record(passing.title, passing.content, outcome="success").memory.expires_at == passing.expires_at


def test_a_near_duplicate_that_has_expired_keeps_no_lesson_out(bank: ReasoningBank, clock: Clock) -> None:
    old = bank.record("Quote paths", "Put every path in double quotes.", outcome="success", ttl="1d").memory
    clock.move(days=2)
    new = bank.record("Quote a path", "Put every path in double quotes.", outcome="success")

    assert new.created
    assert new.possible_duplicate_of != old.id


def test_times_come_back_from_an_export(bank: ReasoningBank, open_bank: OpenBank, clock: Clock) -> None:
    memory = bank.record(
        "Quote paths", "Quote.", outcome="success", occurred_at="2026-01-15", expires_at="2026-03-20"
    ).memory
    clock.move(days=30)
    bank.exchange.export_to(target := io.StringIO(), expired=None)
    copy = open_bank(project="copy")
    copy.exchange.import_from(target.getvalue().splitlines(), trusted=True)

    there = copy.get(memory.id)
    assert (there.occurred_at, there.expires_at) == (memory.occurred_at, memory.expires_at)
    assert copy.search("quote paths").withheld[EXPIRED] == 1


def test_a_line_of_an_import_may_say_when_and_until_when(bank: ReasoningBank, clock: Clock) -> None:
    lines = [
        {"content": "Quote paths.", "occurred_at": "2026-01-15T10:00:00Z", "ttl": "7d"},
        {"content": "Quote names.", "expires_at": "2026-01-15"},
        {"content": "Quote all.", "expires_at": "soon"},
    ]
    done = bank.exchange.import_from([json.dumps(line) for line in lines])

    assert done.created == 2
    assert "expires_at 'soon' is no time" in done.rejected[0].reason
    assert bank.list(since="2026-01-15", until="2026-01-15").memories[0].expires_at == clock.now + timedelta(days=7)
    assert [memory.content for memory in bank.list(expired=True).memories] == ["Quote names."]


def test_many_may_be_recorded_with_a_span(bank: ReasoningBank, clock: Clock) -> None:
    (done,) = bank.record_many([{"title": "Quote", "content": "Quote.", "outcome": "success", "ttl": 3600}])

    assert done.memory.expires_at == clock.now + timedelta(hours=1)


@pytest.mark.parametrize(
    "wrong", [{"expires_at": "soon"}, {"ttl": "soon"}, {"ttl": 0}, {"ttl": "1d", "expires_at": "2027-01-01"}]
)
def test_a_wrong_time_stores_nothing(bank: ReasoningBank, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        bank.record("Quote", "Quote.", outcome="success", **wrong)  # type: ignore[arg-type]
    assert not bank.exists


def test_a_memory_used_under_a_clock_ahead_is_fresh(open_bank: OpenBank, clock: Clock) -> None:
    bank = open_bank(settings={"half_life_days": 1})
    bank.record("Quote paths", "Put paths in quotes.", outcome="success")
    clock.move(days=1_500)
    bank.recall("quote paths")
    clock.move(days=-1_500)

    assert bank.search("quote paths").hits
