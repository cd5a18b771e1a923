"""What the comparison of engines measures, on the smallest of sizes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import engines, engines_cold, engines_projects
from benchmarks.speed_lessons import texts
from tests.servers import Postgres


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.empty()


def test_the_nearest_vectors_of_a_small_project_are_all_found(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines_cold, "QUERIES", 3)

    found = engines_cold.measured(server, 1_500)

    assert found["recall@10_small"] == 1.0
    assert set(found["cold"]) == {"1000", "1500"}
    assert all(ratio > 0 for ratio in found["cold"].values())


def test_many_projects_are_searched_as_one_is(server: Postgres) -> None:
    found = engines_projects.p95(server, texts(10, 50), engines.opened, engines.timed, projects=3, of_each=10)

    assert found["projects_p95"] > 0
    with engines.opened(server.application, "many 2") as bank:
        assert bank.count() == 10
