"""`report` from test reports, exit codes and scores, and what `lift` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from reasoningbank import ReasoningBank
from tests.cli.conftest import Cli


@pytest.fixture
def memory_id(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id


@pytest.mark.parametrize(
    ("given", "verdict", "by"),
    [
        (["--exit-code", "1", "--check", "mypy"], "failure", "mypy"),
        (["--exit-code", "130"], "unknown", "tests"),
        (["--score", "0.9"], "success", ""),
        (["--score", "0"], "failure", ""),
        (["--junit", "report.xml"], "failure", "tests"),
    ],
)
def test_report_reads_test_reports_exit_codes_and_scores(
    cli: Cli, memory_id: str, tmp_path: Path, given: list[str], verdict: str, by: str
) -> None:
    (tmp_path / "report.xml").write_text("<testsuite><testcase/><testcase><error/></testcase></testsuite>", "utf-8")
    cli("recall", "quote paths", "--ref", "run-1")

    said = [str(tmp_path / part) if part == "report.xml" else part for part in given]
    episode = cli("report", *said, "--ref", "run-1", "--json").json["episode"]
    assert (episode["verdict"], episode["by"]) == (verdict, by)


@pytest.mark.parametrize("given", [[], ["success", "--score", "1"], ["--exit-code", "0", "--junit", "r.xml"]])
def test_report_needs_exactly_one_thing_that_says_how_it_ended(cli: Cli, given: list[str]) -> None:
    ran = cli("report", *given, "--ref", "run-1")

    assert ran.code == 2
    assert "exactly one of VERDICT" in ran.err.replace("\n", " ")


def test_lift_says_in_words_what_lessons_do(cli: Cli, memory_id: str) -> None:
    assert cli("lift").out.startswith("Nothing was withheld yet")
    for number in range(12):
        cli("recall", "quote paths", "--ref", f"r{number}", "--holdout", "0.5")
    ran = cli("lift", "--by", "memory")

    assert ran.out.startswith("Lessons: too early to tell.")
    assert memory_id in ran.out.replace("\n", "")
    assert cli("lift", "--json").json["overall"]["enough"] is False
    assert cli("recall", "quote paths", "--holdout", "much").code == 1
