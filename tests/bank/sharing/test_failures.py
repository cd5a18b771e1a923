"""Shared banks at the moment of failure: what answers an error there, and what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from reasoningbank import BankRoot
from tests.bank.sharing.conftest import OpenWith, shared_lesson

ERROR = "ModuleNotFoundError: No module named 'yaml'"
OUTPUT = f'Traceback (most recent call last):\n  File "job.py", line 1, in <module>\n    import yaml\n{ERROR}\n'
ANSWER: dict[str, Any] = {
    "title": "Install PyYAML for yaml",
    "content": f"On `{ERROR}` install pyyaml.",
    "outcome": "failure",
}


def repairs(root: BankRoot, memory_id: str) -> list[tuple[str, bool]]:
    with root.shared.open("org") as bank:
        return [(p.source, p.positive > 0) for p in bank.evidence(memory_id).pieces if p.kind == "repair"]


def test_a_shared_lesson_answers_an_error_of_a_project_that_never_met_it(open_with: OpenWith) -> None:
    known = shared_lesson(open_with, ANSWER)
    billing = open_with("billing")

    found = billing.recall_failure(OUTPUT, command="python job.py", exit_code=1, ref="run")

    assert [(hit.memory.id, hit.level, found.match) for hit in found.hits] == [(known, "org", "exact")]
    assert ANSWER["content"] in found.text


def test_one_that_a_search_finds_for_errors_of_its_kind_says_its_level_too(open_with: OpenWith) -> None:
    known = shared_lesson(open_with, ANSWER)

    found = open_with("billing").recall_failure("ModuleNotFoundError: No module named 'yaml_x'")

    assert [(hit.memory.id, hit.level, found.match) for hit in found.hits] == [(known, "org", "search")]


def test_what_two_levels_answer_alike_is_shown_once_by_the_nearer_one(open_with: OpenWith) -> None:
    known = shared_lesson(open_with, ANSWER)
    billing = open_with("billing")
    own = billing.record(**ANSWER).memory.id

    (hit,) = billing.recall_failure(OUTPUT, exit_code=1).hits

    assert (hit.memory.id, [twin.memory for twin in hit.also]) == (own, [known])


def test_what_repaired_a_failure_is_evidence_in_the_shared_bank(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with, ANSWER)
    billing = open_with("billing")
    billing.recall_failure(OUTPUT, command="python job.py", exit_code=1, ref="run")

    assert billing.report_act("run", command="python job.py") == (known,)
    assert billing.report_act("run", command="python job.py") == ()
    assert repairs(root, known) == [("billing", True)]


def test_an_error_that_comes_back_speaks_against_the_shared_lesson(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with, ANSWER)
    billing = open_with("billing")
    billing.recall_failure(OUTPUT, exit_code=1, ref="run")

    again = billing.recall_failure(OUTPUT, exit_code=1, ref="run")

    assert (again.hits, again.repeated) == ((), True)
    billing.recall("anything else", ref="next")
    assert repairs(root, known) == [("billing", False)]


def test_the_run_is_not_shown_it_again_and_its_outcome_counts_once(open_with: OpenWith, root: BankRoot) -> None:
    known = shared_lesson(open_with, ANSWER)
    billing = open_with("billing")
    billing.recall("install pyyaml for yaml", ref="run")

    found = billing.recall_failure(OUTPUT, exit_code=1, ref="run")
    billing.report("success", ref="run")

    assert (found.hits, found.reason) == ((), "what answers it was handed out before")
    with root.shared.open("org") as bank:
        assert sorted(p.kind for p in bank.evidence(known).pieces) == ["outcome", "usage"]


def test_a_recall_again_does_not_bring_what_was_handed_out_at_a_failure(open_with: OpenWith) -> None:
    shared_lesson(open_with, ANSWER)
    billing = open_with("billing")
    billing.recall("lock the ledger", ref="run")
    assert billing.recall_failure(OUTPUT, exit_code=1, ref="run").hits

    assert billing.recall("lock the ledger", ref="run").hits == ()


def test_who_is_shut_out_is_answered_by_the_project_alone(open_with: OpenWith, root: BankRoot) -> None:
    shared_lesson(open_with, ANSWER)
    billing = open_with("billing")
    assert billing.recall_failure(OUTPUT, exit_code=1).hits
    root.shared.remove("org", project="billing")

    found = billing.recall_failure(OUTPUT, exit_code=1)

    assert (found.hits, found.reason) == ((), "nothing is known of this error")
    assert "left out" in found.degraded[0]


@pytest.mark.parametrize("tags", [["python"], ["none"]])
def test_filters_hold_for_shared_answers(open_with: OpenWith, tags: list[str]) -> None:
    known = shared_lesson(open_with, ANSWER, tags=["python"])

    found = open_with("billing").recall_failure(OUTPUT, exit_code=1, tags=tags)

    assert [hit.memory.id for hit in found.hits] == ([known] if tags == ["python"] else [])
