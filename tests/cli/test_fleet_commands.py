"""Commands that work for many projects at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli

RUN = {"task": "Load sales.csv", "steps": ["parsed it with csv.reader"], "verdict": "success", "session": "1"}


@pytest.fixture
def banks(scope: dict[str, str]) -> Iterator[list[ReasoningBank]]:
    """Two projects of acme and one of globex, each with a job."""
    named = [("acme", "billing"), ("acme", "sales"), ("globex", "billing")]
    root = scope["REASONINGBANK_ROOT"]
    opened = [ReasoningBank(root, tenant=tenant, project=project, embedder="hash") for tenant, project in named]
    for bank in opened:
        bank.queue.put(RUN)
    yield opened
    for bank in opened:
        bank.close()


@pytest.mark.parametrize(("option", "done"), [("--all", [1, 1, 0]), ("--every-tenant", [1, 1, 1])])
def test_the_queues_of_all_projects_are_worked(
    cli: Cli, banks: list[ReasoningBank], option: str, done: list[int]
) -> None:
    assert cli("work", option, "--once", "--json").json["jobs"] == sum(done)
    assert [len(bank.queue.list(status="done")) for bank in banks] == done


@pytest.mark.parametrize(("option", "projects"), [("--all", 2), ("--every-tenant", 3)])
def test_each_project_is_kept_once_a_day(cli: Cli, banks: list[ReasoningBank], option: str, projects: int) -> None:
    ran = cli("maintain", option)

    assert (ran.out.count("Rolled up 0 segments"), ran.code) == (projects, 0)
    assert "acme, sales:" in ran.out
    assert cli("maintain", option, "--json").json == {"rounds": []}
    assert "No round of upkeep was due." in cli("maintain", option).out


def test_a_project_that_cannot_be_kept_is_a_problem_and_exit_code_1(cli: Cli, banks: list[ReasoningBank]) -> None:
    with banks[1]._engine.write() as edit:
        edit.execute("DROP TABLE trajectories")

    ran = cli("maintain", "--all")

    assert (ran.code, ran.out.count("Problem: "), ran.out.count("Rolled up")) == (1, 1, 1)


@pytest.mark.parametrize(
    "words", [["work", "--upkeep"], ["work", "--upkeep", "--all", "--once"], ["maintain", "--all", "--dry-run"]]
)
def test_what_does_not_go_together_is_refused(cli: Cli, banks: list[ReasoningBank], words: list[str]) -> None:
    assert cli(*words).code == 2
    assert [len(bank.queue.list(status="queued")) for bank in banks] == [1, 1, 1]
