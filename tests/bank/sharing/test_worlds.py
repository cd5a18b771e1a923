"""What the projects of a tenant have in common: each starts from what the others' runs taught."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.belief.calibrated import STARTING
from reasoningbank.belief.worlds import WORLDS
from reasoningbank.storage import parameters, sharing
from tests.bank.sharing.conftest import OpenWith
from tests.conftest import OpenBank

SUBJECTS = ("ledger lock", "path quoting", "retry backoff", "index column", "cache header", "token refresh")


def live(bank: ReasoningBank, rounds: int = 12) -> None:
    """Lessons that help always or never, which runs of each show; enough for a fit."""
    for subject in SUBJECTS:
        bank.record(f"About the {subject}", f"Mind the {subject} before anything else is done.", outcome="success")
    for number in range(rounds * len(SUBJECTS)):
        place = number % len(SUBJECTS)
        recall = bank.recall(f"something with the {SUBJECTS[place]}", ref=f"run {number}")
        bank.report(place % 2 == 0, ref=recall.ref)


@pytest.fixture
def told(root: BankRoot, open_with: OpenWith) -> Iterator[dict[str, list[float]]]:
    """What the shared bank was told by `billing`."""
    live(open_with("billing"))
    with root.shared.open("org") as org, org._engine.read() as view:
        yield sharing.told_by_project(view)


def start_of(bank: ReasoningBank) -> tuple[float, int]:
    with bank._engine.read() as view:
        start, _ = parameters.start(view)
    return start.parameters.strength, start.projects


def test_a_project_that_joins_late_starts_from_what_the_others_found(
    told: dict[str, list[float]], open_with: OpenWith
) -> None:
    believed = {}
    for name in ("late", "stranger"):
        bank = open_with(name)
        door = bank.record("About the door", "Mind the door before anything else is done.", outcome="success").memory.id
        for number in range(3):
            bank.recall("something with the door", ref=f"{number}")
            bank.report("success", ref=f"{number}")
        believed[name] = bank.get(door).confidence

    strength, projects = start_of(open_with("late"))
    assert [*told] == ["billing"]
    assert len(told["billing"]) == len(WORLDS)
    assert (strength < STARTING.strength, projects) == (True, 1)
    # Where lessons differ more, what a few runs say moves a belief further; who is no member learns nothing.
    assert believed["late"] > believed["stranger"] + 0.02


def test_a_project_does_not_hear_itself(told: dict[str, list[float]], open_with: OpenWith) -> None:
    assert told
    assert start_of(open_with("billing")) == (STARTING.strength, 0)


def test_who_is_shut_out_is_not_heard_and_hears_nothing(
    told: dict[str, list[float]], root: BankRoot, open_with: OpenWith
) -> None:
    assert told
    root.shared.remove("org", project="billing")
    late, stranger = open_with("late"), open_with("stranger")
    for bank in (late, stranger):
        bank.recall("something with the ledger lock")

    assert start_of(late) == start_of(stranger) == (STARTING.strength, 0)


def test_a_project_without_shared_banks_is_told_nothing(told: dict[str, list[float]], open_bank: OpenBank) -> None:
    alone = open_bank(project="late")
    live(alone, rounds=2)

    assert told
    assert start_of(alone) == (STARTING.strength, 0)


def test_the_shared_bank_itself_learns_from_what_all_told(told: dict[str, list[float]], root: BankRoot) -> None:
    with root.shared.open("org") as org, org._engine.read() as view:
        start = org._engine.models.start(view)

    assert (start.projects, start.parameters.strength < STARTING.strength) == (len(told), True)
