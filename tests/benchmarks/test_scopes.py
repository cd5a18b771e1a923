"""The benchmark of shared lessons runs, on few projects, and ends with the object it promises."""

from __future__ import annotations

import json
import random
import sys

import pytest

from benchmarks import scopes


def test_it_ends_with_the_object_it_promises(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"PROJECTS": 4, "SUBJECTS": 5, "PROMOTED_EVERY": 5, "LAST": 8}.items():
        monkeypatch.setattr(scopes, name, value)
    given = ["scopes", "--json", "--seeds", "1", "--tasks", "10", "--size", "60", "--queries", "5"]
    monkeypatch.setattr(sys, "argv", given)

    scopes.main()

    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found.keys() >= {"late_joiner_ratio", "helpful", "ece", "wrong_promotions", "search_ratio"}
    assert found["helpful"].keys() == {"with", "without"}
    assert found["search_ratio"] > 0.0


def test_the_truth_is_as_stated() -> None:
    world = scopes.World.made(random.Random(1))
    variants = [{world.variant(subject, p) for p in range(scopes.PROJECTS)} for subject in range(scopes.SUBJECTS)]

    assert [world.kinds.count(kind) for kind in ("shared", "partial", "specific")] == [18, 6, 6]
    for kind, found in zip(world.kinds, variants, strict=True):
        assert {"shared": len(found) == 1, "partial": len(found) <= 2, "specific": len(found) == scopes.PROJECTS}[kind]


def test_how_long_a_project_takes_is_told_by_its_own_end() -> None:
    assert scopes.until_90([0.3] * 20 + [0.8] * 60) > 20
    assert scopes.until_90([0.8] * 80) == 5
