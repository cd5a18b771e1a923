"""The bank beside a small model of plain dictionaries, driven through its operations in any order."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reasoningbank import MemoryNotFoundError, ReasoningBank
from tests.torture.life import POLARITY, WORDS, Known, open_bank

MEMORY = Path("/dev/shm")  # nobody waits for a disk
PICK = st.integers(0, 1_000_000)
TAGS = st.lists(st.sampled_from(WORDS), max_size=3, unique=True)
VERDICTS = st.sampled_from(sorted(POLARITY))
# Longer than a segment is kept, and shorter than that.
DAYS = st.sampled_from([0, 0, 1, 20])


class BankInAnyOrder(RuleBasedStateMachine):
    """Does what the rules say to a bank and to dictionaries, and compares them after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.known = Known()
        self.bank: ReasoningBank = open_bank(self.root, self.known)
        self.memories: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        self.votes: dict[tuple[str, str], int] = {}
        self.outcomes: dict[tuple[str, str], int] = {}
        self.uses: set[tuple[str, str]] = set()
        self.served: dict[str, set[str]] = {}
        self.verdicts: dict[str, str | None] = {}
        # What was said under these references may be folded away for good.
        self.old: set[str] = set()
        self.count = 0

    def teardown(self) -> None:
        for memory, (title, _, _) in list(self.memories.items())[:3]:
            # One with all of its words and more may stand before it, where that is believed more.
            found = self.bank.search(title, 20, min_confidence=0.0).memories
            place = [each.id for each in found].index(memory)
            assert all(each.confidence > found[place].confidence for each in found[:place])
        if self.memories:
            self.bank.upkeep.rebuild()
        self.everything_agrees()
        self.bank.close()
        shutil.rmtree(self.root)

    def number(self) -> int:
        self.count += 1
        return self.count

    def pick(self, pick: int) -> str:
        return sorted(self.memories)[pick % len(self.memories)]

    def forget_evidence(self, memory: str) -> None:
        """What is changed or gone starts anew, also for episodes that served it."""
        self.votes = {key: sign for key, sign in self.votes.items() if key[0] != memory}
        self.outcomes = {key: sign for key, sign in self.outcomes.items() if key[0] != memory}
        self.uses = {key for key in self.uses if key[0] != memory}
        for served in self.served.values():
            served.discard(memory)

    @initialize(lives=st.lists(VERDICTS, min_size=2, max_size=4))
    def begin(self, lives: list[str]) -> None:
        """Begin with a few memories that were used, so that all that follows has something to work on."""
        for n, verdict in enumerate(lives):
            self.record(WORDS[2 * n : 2 * n + 2], [])
            self.recall(n)
            self.report(n, verdict)

    # -- what is done ------------------------------------------------------------------------------------------

    @rule(words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=5), tags=TAGS)
    def record(self, words: list[str], tags: list[str]) -> None:
        n = self.number()
        title, content = f"{' '.join(words)} {n}", f"what {n} says of {' '.join(words)}"
        recorded = self.bank.record(title, content, outcome="success", tags=tags)
        assert recorded.created
        self.memories[recorded.memory.id] = (title, content, tuple(tags))

    @precondition(lambda self: self.memories)
    @rule(pick=PICK)
    def record_again(self, pick: int) -> None:
        memory = self.pick(pick)
        title, content, _ = self.memories[memory]
        again = self.bank.record(f" {title}\n", content.replace(" ", "  "), outcome="success")
        assert (again.created, again.memory.id) == (False, memory)

    @precondition(lambda self: self.memories)
    @rule(pick=PICK, tags=TAGS, rewrite=st.booleans())
    def update(self, pick: int, tags: list[str], rewrite: bool) -> None:
        memory = self.pick(pick)
        title, content, _ = self.memories[memory]
        fields: dict[str, Any] = {"tags": tags}
        if rewrite:
            content = fields["content"] = f"{content.partition(';')[0]}; said anew {self.number()}"
            self.forget_evidence(memory)
        self.bank.update(memory, **fields)
        self.memories[memory] = (title, content, tuple(tags))

    @precondition(lambda self: self.memories)
    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        memory = self.pick(pick)
        assert self.bank.delete(memory)
        assert not self.bank.delete(memory)
        del self.memories[memory]
        self.forget_evidence(memory)

    @precondition(lambda self: self.memories)
    @rule(pick=PICK)
    def recall(self, pick: int) -> None:
        ref = f"run {self.number()}"
        title, _, _ = self.memories[self.pick(pick)]
        handed_out = {memory.id for memory in self.bank.recall(title, ref=ref, min_confidence=0.0).memories}
        assert {m.id for m in self.bank.recall(title, ref=ref, min_confidence=0.0).memories} == handed_out
        self.served[ref], self.verdicts[ref] = handed_out, None
        self.uses |= {(memory, ref) for memory in handed_out}

    @precondition(lambda self: self.verdicts)
    @rule(pick=PICK, verdict=VERDICTS)
    def report(self, pick: int, verdict: str) -> None:
        ref = sorted(self.verdicts)[pick % len(self.verdicts)]
        reported = self.bank.report(verdict, ref=ref)
        assert not reported.too_late or ref in self.old
        if reported.too_late:
            return
        self.verdicts[ref] = verdict
        for memory in self.served[ref]:
            self.outcomes.pop((memory, ref), None)
            if POLARITY[verdict]:
                self.outcomes[memory, ref] = POLARITY[verdict]

    @precondition(lambda self: self.memories)
    @rule(pick=PICK, helpful=st.booleans(), about_a_run=st.booleans())
    def feedback(self, pick: int, helpful: bool, about_a_run: bool) -> None:
        memory = self.pick(pick)
        runs = sorted(self.verdicts)
        ref = runs[pick % len(runs)] if about_a_run and runs else f"vote {self.number() % 5}"
        sign = 1 if helpful else -1
        said = self.bank.vote(memory, helpful, ref=ref)
        if said.recorded:
            assert self.votes.get((memory, ref)) != sign
            self.votes[memory, ref] = sign
        else:
            assert self.votes.get((memory, ref)) == sign or ref in self.old

    @rule(days=DAYS)
    def roll_up(self, days: int) -> None:
        self.known.now += timedelta(days=days)
        before = {memory.id: memory.confidence for memory in self.bank.list(limit=1000).memories}
        self.bank.upkeep.maintain()
        self.bank.upkeep.maintain()
        assert {memory.id: memory.confidence for memory in self.bank.list(limit=1000).memories} == before
        self.old |= {ref for _, ref in self.votes} | set(self.verdicts) | {f"vote {n}" for n in range(5)}

    @rule()
    def reopen(self) -> None:
        self.bank.close()
        self.bank = open_bank(self.root, self.known)

    # -- what must hold ----------------------------------------------------------------------------------------

    @invariant()
    def everything_agrees(self) -> None:
        listed = {m.id: (m.title, m.content, m.tags) for m in self.bank.list(limit=1000).memories}
        assert listed == self.memories
        uses = {m.id: m.usage_count for m in self.bank.list(limit=1000).memories}
        assert uses == {memory: sum(used == memory for used, _ in self.uses) for memory in self.memories}
        assert {ref: self.verdict(ref) for ref in self.verdicts} == self.verdicts
        assert self.counted("explicit") == self.expected(self.votes)
        assert self.counted("outcome").keys() == self.expected(self.outcomes).keys()
        assert self.bank.upkeep.doctor(dry_run=True) == []
        with pytest.raises(MemoryNotFoundError):
            self.bank.get("nobody's")

    def verdict(self, ref: str) -> str | None:
        verdict = self.bank.runs.get(ref).verdict
        return None if verdict is None else verdict.value

    @staticmethod
    def expected(said: dict[tuple[str, str], int]) -> dict[tuple[str, int], int]:
        """Return how many references spoke for each memory, and how many against it."""
        sums: dict[tuple[str, int], int] = {}
        for (memory, _), sign in said.items():
            sums[memory, sign] = sums.get((memory, sign), 0) + 1
        return sums

    def counted(self, kind: str) -> dict[tuple[str, int], float]:
        """Return the weight that the bank counted for each memory, and against it."""
        with self.bank._engine.read() as view:
            rows = view.execute(
                "SELECT m.id, sum(t.positive), sum(t.negative) FROM tallies AS t JOIN memories AS m ON m.n = t.memory "
                "WHERE t.kind = ? GROUP BY m.id",
                (kind,),
            ).fetchall()
        sums = {(memory, sign): weight for memory, *both in rows for sign, weight in zip((1, -1), both, strict=True)}
        return {key: weight / 1_000_000 for key, weight in sums.items() if weight}


TestBankInAnyOrder = BankInAnyOrder.TestCase
# Long lives on a busy machine: the limit is for what hangs.
TestBankInAnyOrder.pytestmark = pytest.mark.timeout(600)  # type: ignore[attr-defined]
TestBankInAnyOrder.settings = settings(max_examples=10, stateful_step_count=40)


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
def test_a_bank_keeps_to_its_model_through_long_lives_in_any_order() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        BankInAnyOrder, settings=settings(max_examples=200, stateful_step_count=80, deadline=None)
    )
