"""What a process keeps of a project is true in whatever order others write, and several look."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, suppress
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from reasoningbank import InvalidInputError, ReasoningBank, State
from reasoningbank.embed.hashing import HashEmbedder
from reasoningbank.filters import Filters
from reasoningbank.results import Hit
from reasoningbank.services.cache import project
from reasoningbank.services.cache.project import ProjectCache
from reasoningbank.services.search.retrieve import Wanted, find
from reasoningbank.services.view import View
from tests.conftest import Clock
from tests.services.cache.truth import Moody, Truth, candidates, known, matches, near, passing
from tests.services.cache.views import looking, project_cache

WORDS = ("quote", "paths", "shell", "migrations", "retry", "#417")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


def search(view: View, embedder: HashEmbedder) -> list[Hit]:
    """Return what a search finds, whatever its confidence."""
    query = view.engine.queries.query(embedder, "quote paths in a shell")
    wanted = Wanted(k=9, floor=0.0, strict=False, filters=Filters(), policy="four_factor")
    return [replace(hit, deviation=round(hit.deviation, 9)) for hit in find(view, query, wanted)[0].hits]


class AnyOrder(RuleBasedStateMachine):
    """One process writes; in two others, a large and a small cache follow, one of them in an older transaction too."""

    model = "calibrated"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.embedder, self.clock = Moody(16), Clock()
        self.writer, self.here, self.there = (self.opened() for _ in range(3))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(project, "CANDIDATES", 4)
            patched.setattr(project, "LEADERS", 3)
            self.small = project_cache()
        self.readers = [(self.here, self.here._engine.cache), (self.there, self.small)]
        self.held = ExitStack()
        self.older: View | None = None
        self.then = self.embedder
        self.seen: list[Truth] = []
        self.next = 0

    def opened(self) -> ReasoningBank:
        return ReasoningBank(
            self.folder.name, tenant="t", project="p", embedder=self.embedder, clock=self.clock,
            settings={"confidence_model": self.model},
        )  # fmt: skip

    @initialize(texts=st.lists(TEXTS, max_size=4))
    def begin(self, texts: list[str]) -> None:
        self.writer._engine.project(create=True)
        for text in texts:
            self.record(text, ["a"], True)

    def wrote(self) -> None:
        with self.writer._engine.read() as view:
            self.seen.append(Truth.of(view))

    def one(self, data: st.DataObject) -> str:
        return data.draw(
            st.sampled_from([memory.id for memory in self.writer.list(state=None, expired=None, limit=9).memories])
        )

    def any_are_there(self) -> bool:
        return bool(self.seen and self.seen[-1].candidates)

    # -- writes

    @rule(text=TEXTS, tags=st.sampled_from([[], ["a"], ["a", "b"]]), trusted=st.booleans())
    def record(self, text: str, tags: list[str], trusted: bool) -> None:
        self.next += 1
        source = {"by": "forum", "trusted": trusted}
        self.writer.record(f"{text} {self.next}", text, outcome="success", tags=tags, source=source)
        self.wrote()

    @rule(text=TEXTS)
    def record_what_cannot_be_embedded(self, text: str) -> None:
        self.embedder.fails = True
        self.record(text, ["a"], True)
        self.embedder.fails = False

    @rule()
    def record_many(self) -> None:
        many = [{"title": f"many {self.next} {n}", "content": "shell", "outcome": "failure"} for n in range(70)]
        self.next += 1
        self.writer.record_many(many)
        self.wrote()

    @precondition(any_are_there)
    @rule(data=st.data(), text=TEXTS)
    def say_something_else(self, data: st.DataObject, text: str) -> None:
        self.writer.update(self.one(data), content=text, applies_when=text[:9])
        self.wrote()

    @precondition(any_are_there)
    @rule(data=st.data(), team=st.integers(1, 2))
    def change_what_filters_look_at(self, data: st.DataObject, team: int) -> None:
        at = f"2026-0{team}-09"
        self.writer.update(
            self.one(data), metadata={"team": team}, tags=["a"] * (team - 1), occurred_at=at, expires_at=at
        )
        self.wrote()

    @precondition(any_are_there)
    @rule(data=st.data())
    def archive_or_restore(self, data: st.DataObject) -> None:
        memory = self.writer.get(self.one(data))
        (self.writer.upkeep.restore if memory.state is State.ARCHIVED else self.writer.upkeep.archive)(memory.id)
        self.wrote()

    @precondition(any_are_there)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.writer.delete(self.one(data))
        self.wrote()

    @precondition(any_are_there)
    @rule(data=st.data(), helpful=st.booleans())
    def vote(self, data: st.DataObject, helpful: bool) -> None:
        self.clock.move(hours=1)
        self.writer.vote(self.one(data), helpful)
        self.wrote()

    @rule(text=TEXTS, verdict=st.sampled_from(["success", "failure", "unknown"]))
    def run(self, text: str, verdict: str) -> None:
        self.clock.move(hours=1)
        self.writer.report(verdict, ref=self.writer.recall(text).ref)
        self.wrote()

    @rule(act=st.sampled_from(["block", "unblock"]))
    def block_a_source(self, act: str) -> None:
        # Nothing may have come from it yet, or it is not blocked: that is said, and nothing changes.
        with suppress(InvalidInputError):
            getattr(self.writer.sources, act)("forum")
        self.wrote()

    @rule()
    def merge(self) -> None:
        self.writer.upkeep.consolidate(dry_run=False)
        self.wrote()

    @rule(dim=st.sampled_from([8, 16]))
    def embed_anew(self, dim: int) -> None:
        self.embedder = Moody(dim)
        self.writer.upkeep.reembed(self.embedder)
        self.wrote()

    @rule(act=st.sampled_from(["rebuild", "maintain"]))
    def tidy(self, act: str) -> None:
        getattr(self.writer.upkeep, act)()
        self.wrote()

    @rule()
    def prune_the_feed(self) -> None:
        with self.writer._engine.write() as edit:
            edit.execute("DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")
        self.wrote()

    # -- looks

    @rule()
    def look(self) -> None:
        for bank, cache in self.readers:
            with looking(bank, cache) as view:
                self.check(cache, view)

    @rule(few=st.integers(1, 3))
    def look_at_a_few(self, few: int) -> None:
        for bank, cache in self.readers:
            with looking(bank, cache) as view:
                true, numbers = Truth.of(view), list(range(1, 1 + few))
                assert known(cache, view, numbers) == {n: true.known[n] for n in numbers if n in true.known}

    def check(self, cache: ProjectCache, view: View) -> None:
        true, numbers = Truth.of(view), list(range(1, 12))
        assert candidates(cache, view, numbers) == {n: true.candidates[n] for n in numbers if n in true.candidates}
        assert known(cache, view, numbers) == {n: true.known[n] for n in numbers if n in true.known}
        assert passing(cache, view) == true.passing
        assert matches(cache, view) == true.matches
        assert near(cache, view) == sorted(true.vectors.values())
        if cache is view.engine.cache:
            with self.opened() as fresh, fresh._engine.read() as anew:
                assert search(view, self.embedder) == search(anew, self.embedder)

    @rule()
    def begin_a_transaction(self) -> None:
        self.held.close()
        self.older = self.held.enter_context(self.here._engine.read())
        self.seen, self.then = [Truth.of(self.older)], self.embedder

    @precondition(lambda self: self.older is not None)
    @rule(beside=st.booleans())
    def look_in_the_older_transaction(self, beside: bool) -> None:
        cache = self.here._engine.cache
        if beside:
            with looking(self.here, cache) as newer:
                self.check_older(cache)
                self.check(cache, newer)
        self.check_older(cache)

    def check_older(self, cache: ProjectCache) -> None:
        """Each answer must be one that was true when the older transaction began, or since."""
        view, numbers, began, newest = self.older, list(range(1, 12)), self.seen[0], self.seen[-1]
        assert view is not None
        cache.follow(view)
        for found, ever in (
            (candidates(cache, view, numbers), [true.candidates for true in self.seen]),
            (known(cache, view, numbers), [true.known for true in self.seen]),
        ):
            for n in numbers:
                assert found.get(n) in [true.get(n) for true in ever]
        assert passing(cache, view) == began.passing
        assert matches(cache, view) == began.matches
        stayed = [owner for number, owner in began.vectors.items() if number in newest.vectors]
        assert set(stayed) <= set(near(cache, view))
        for hit in search(view, self.then):
            assert any(hit.memory.id == shown.id for true in self.seen for _, (_, _, shown, _) in true.known.values())

    def teardown(self) -> None:
        self.held.close()
        for bank in (self.writer, self.here, self.there):
            bank.close()
        self.folder.cleanup()


class AnyOrderUnderAModelThatVotesTeach(AnyOrder):
    model = "spec"


MACHINES = (AnyOrder, AnyOrderUnderAModelThatVotesTeach)
few = settings(max_examples=12, stateful_step_count=20, deadline=None)
TestAnyOrder, TestAnyOrderUnderAModelThatVotesTeach = (machine.TestCase for machine in MACHINES)
TestAnyOrder.settings = TestAnyOrderUnderAModelThatVotesTeach.settings = few


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_kept_is_true_through_long_lives_in_any_order(machine: type[AnyOrder]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=100, stateful_step_count=40, deadline=None))
