"""Kept postings give what FTS5 gives, in whatever order others write and several search."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from reasoningbank import ReasoningBank
from reasoningbank.services.cache import postings
from reasoningbank.services.cache.postings import PostingCache
from reasoningbank.services.view import View
from tests.services.cache.indexed import found, of_fts5, put, remove, rewrite, search
from tests.services.cache.views import looking, project_cache

WORDS = ("file", "run", "rare", "fail-fast", "#417", "c++", "é", "検索", "nowhere")
TEXTS = st.lists(st.sampled_from(WORDS[:-1]), max_size=6).map(" ".join)
WANTED = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True)


class AnyOrder(RuleBasedStateMachine):
    """Writes of any kind between searches through three caches, some of them in an older transaction."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.writer, self.here = (
            ReasoningBank(self.folder.name, tenant="t", project="p", embedder="hash") for _ in range(2)
        )
        self.large, self.small, self.forgetful = (project_cache() for _ in range(3))
        self.small._postings = PostingCache(capacity=5)
        self.forgetful._postings = PostingCache(followed=3)
        self.held = ExitStack()
        self.older: View | None = None
        self.texts: dict[int, str] = {}
        self.next = 1

    @initialize(texts=st.lists(TEXTS, max_size=8))
    def begin(self, texts: list[str]) -> None:
        self.writer._engine.project(create=True)
        for text in texts:
            self.record(text)

    @rule(text=TEXTS)
    def record(self, text: str) -> None:
        self.texts[self.next] = text
        put(self.writer, self.next, text)
        self.next += 1

    @rule(data=st.data(), text=TEXTS)
    def rewrite(self, data: st.DataObject, text: str) -> None:
        if self.texts:
            rewrite(self.writer, data.draw(st.sampled_from(sorted(self.texts))), text)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.texts:
            n = data.draw(st.sampled_from(sorted(self.texts)))
            del self.texts[n]
            remove(self.writer, n)

    @rule(n=st.integers(1, 9))
    def vote(self, n: int) -> None:
        with self.writer._engine.write() as edit:
            edit.tell("evidence", n)

    @rule()
    def record_many(self) -> None:
        for _ in range(4):
            self.record("file run")

    @rule()
    def prune_the_feed(self) -> None:
        with self.writer._engine.write() as edit:
            edit.execute("DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")

    @rule()
    def begin_a_transaction(self) -> None:
        self.held.close()
        self.older = self.held.enter_context(self.here._engine.read())
        of_fts5(self.older, WORDS)

    @rule(wanted=WANTED)
    def search(self, wanted: list[str]) -> None:
        for cache in (self.large, self.small, self.forgetful):
            search(self.here, cache, *wanted)
            if self.older is not None:
                cache.follow(self.older)
                assert found(cache, self.older, wanted) == of_fts5(self.older, wanted)
                search(self.here, cache, *wanted)

    @rule(wanted=WANTED)
    def search_with_one(self, wanted: list[str]) -> None:
        for cache in (self.large, self.forgetful):
            with looking(self.here, cache) as view:
                assert found(cache, view, wanted) == of_fts5(view, wanted)

    @rule(wanted=WANTED)
    def search_while_another_thread_is_ahead(self, wanted: list[str]) -> None:
        with looking(self.here, self.large) as view:
            self.record("file rare")
            with looking(self.here, self.large):
                pass
            assert found(self.large, view, wanted) == of_fts5(view, wanted)

    def teardown(self) -> None:
        self.held.close()
        self.writer.close()
        self.here.close()
        self.folder.cleanup()


class AnyOrderWhereMostTermsAreCommon(AnyOrder):
    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(postings, "BUDGET", 3)

    def teardown(self) -> None:
        super().teardown()
        self.patched.undo()


TestAnyOrder, TestAnyOrderWhereMostTermsAreCommon = (
    machine.TestCase for machine in (AnyOrder, AnyOrderWhereMostTermsAreCommon)
)
TestAnyOrder.settings = TestAnyOrderWhereMostTermsAreCommon.settings = settings(
    max_examples=40, stateful_step_count=20, deadline=None
)
