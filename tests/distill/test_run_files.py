from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.distill import run_files
from reasoningbank.distill.run_files import read_runs
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.trajectory import BadLine, Trajectory
from tests.runs.readers import samples

MESSAGES = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "1"}]


def tasks(text: str) -> list[str | int]:
    return [run.task if isinstance(run, Trajectory) else run.number for run in read_runs(io.StringIO(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"task": "one"}\n\n{"task": "two"}\n', ["one", "two"]),
        ('\n{"task": "one"}\n{cut\n{"task": "two"}', ["one", 3, "two"]),
        (json.dumps({"task": "one"}, indent=2), ["one"]),
        (json.dumps([{"task": "one"}, {"task": "two"}], indent=2), ["one", "two"]),
        (json.dumps([{"task": "one"}, {"task": "two"}]) + '\n{"task": "three"}', ["one", "two", "three"]),
        (json.dumps(MESSAGES), ["one"]),
        (json.dumps(MESSAGES, indent=2), ["one"]),
        ("not json\nat all", [1, 2]),
        ("", []),
    ],
)
def test_runs_are_read_from_lines_and_from_documents(text: str, expected: list[Any]) -> None:
    assert tasks(text) == expected


def test_a_file_may_be_gzipped_and_need_not_be_utf8_throughout(tmp_path: Path) -> None:
    plain, packed = tmp_path / "runs.jsonl", tmp_path / "runs.jsonl.gz"
    plain.write_bytes(b'{"task": "caf\xe9"}\n')
    packed.write_bytes(gzip.compress(b'{"task": "one"}\n'))

    assert [run.task for run in read_runs(plain) if isinstance(run, Trajectory)] == ["caf\ufffd"]
    assert [run.task for run in read_runs(str(packed)) if isinstance(run, Trajectory)] == ["one"]


def test_a_bad_line_costs_itself_only_and_is_named_by_its_number() -> None:
    lines = ['{"task": "a"}', "", "{cut", '{"steps": [3]}', "[" * 100_000, '{"task": "b"}']

    first, *bad, last = read_runs(io.StringIO("\n".join(lines)))

    assert isinstance(first, Trajectory)
    assert isinstance(last, Trajectory)
    assert (first.task, last.task) == ("a", "b")
    assert [line.number for line in bad if isinstance(line, BadLine)] == [3, 4, 5]
    assert all(line.reason for line in bad if isinstance(line, BadLine))


@pytest.mark.parametrize("name", ["missing.jsonl", "cut.gz", "plain.gz"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 9_999)[:30])
    (tmp_path / "plain.gz").write_bytes(b"no gzip")

    with pytest.raises(InvalidInputError, match=f"{name} cannot be read"):
        list(read_runs(tmp_path / name))


def test_lines_end_at_line_feeds_only_and_a_byte_order_mark_is_no_part_of_the_first(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(
        "\ufeff" + json.dumps({"task": "a\u2028b\x85c"}, ensure_ascii=False) + "\r\n" + '{"task": "d"}', "utf-8"
    )

    assert [run.task for run in read_runs(file) if isinstance(run, Trajectory)] == ["a\u2028b\x85c", "d"]


def test_a_file_in_utf_16_is_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"task": "caf\xe9"}), "utf-16")

    assert [run.task for run in read_runs(file) if isinstance(run, Trajectory)] == ["caf\xe9"]


def test_the_lines_of_a_session_are_one_run_and_a_torn_one_costs_itself() -> None:
    lines = [json.dumps(record) for record in samples.claude_code()]

    bad, run = read_runs(io.StringIO("\n".join([*lines[:6], "{torn", *lines[6:]])))

    assert isinstance(bad, BadLine)
    assert bad.number == 7
    assert isinstance(run, Trajectory)
    assert (run.form, run.task) == ("claude-code", samples.TASK)


def test_messages_one_a_line_are_one_run() -> None:
    assert tasks("\n".join(map(json.dumps, MESSAGES))) == ["one"]


def test_documents_that_follow_each_other_are_read_one_by_one() -> None:
    assert tasks(json.dumps({"task": "a"}, indent=1) + "\n" + json.dumps({"task": "b"}, indent=1) + "\n") == ["a", "b"]


def test_a_broken_document_is_said_once_and_not_once_a_line() -> None:
    (bad,) = read_runs(io.StringIO(json.dumps({"task": "a", "steps": [1, 2, 3]}, indent=1)[:-4]))

    assert isinstance(bad, BadLine)
    assert "not JSON" in bad.reason


def test_a_form_can_be_forced_and_has_to_be_known() -> None:
    (run,) = read_runs(io.StringIO("\n".join(map(json.dumps, MESSAGES))), form="anthropic")
    assert isinstance(run, Trajectory)
    (own,) = read_runs(io.StringIO(json.dumps(samples.swe_agent())), form="swe-agent")
    assert isinstance(own, Trajectory)
    with pytest.raises(InvalidInputError, match="form 'x' is not known"):
        list(read_runs(io.StringIO("{}"), form="x"))


def test_nothing_recognised_is_a_bad_line_that_names_the_keys() -> None:
    (bad,) = read_runs(io.StringIO('{"foo": 1, "bar": 2}'))

    assert isinstance(bad, BadLine)
    assert "keys seen: foo, bar; forms known:" in bad.reason


def test_of_a_list_the_item_that_is_no_run_is_named_by_its_number() -> None:
    assert tasks(json.dumps([{"task": "a"}, {"foo": 1}, {"task": "b"}])) == ["a", 2, "b"]


def test_a_record_of_nothing_is_an_empty_run() -> None:
    assert tasks("{}") == [""]


def test_what_is_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_files, "LINE_LIMIT", 40)
    assert tasks('{"task": "a"}\n' + json.dumps({"task": "x" * 99}) + '\n{"task": "b"}') == ["a", 2, "b"]
    assert tasks(json.dumps({"task": "x" * 99})) == [1]
    monkeypatch.setattr(run_files, "DOCUMENT_LIMIT", 20)
    (bad,) = read_runs(io.StringIO(json.dumps({"task": "a", "steps": []}, indent=1)))
    assert isinstance(bad, BadLine)
    assert "more than 20 characters" in bad.reason


def test_a_folder_is_walked_and_the_files_of_bad_lines_are_named(tmp_path: Path) -> None:
    no_runs = (".hidden/x.json", "node_modules/x.json", "notes.md", "b/settings.json")
    for name in ("b/s.jsonl", "a.json", "c/x.traj.gz", *no_runs):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"task": "t"}' if name != "b/s.jsonl" else "{torn")
    (tmp_path / "c/x.traj.gz").write_bytes(gzip.compress(b'{"task": "packed"}'))

    first, bad, last = read_runs(tmp_path)

    assert isinstance(first, Trajectory)
    assert isinstance(bad, BadLine)
    assert bad.source.endswith("s.jsonl")
    assert isinstance(last, Trajectory)
    assert last.task == "packed"


@pytest.mark.parametrize("unit", ['{"task": "a"}\n', "{\n", "[", '{"a":', "\n", '{"role":"tool","content":"x"}\n'])
def test_reading_takes_time_in_proportion_to_the_length(unit: str) -> None:
    def steps_of(times: int) -> int:
        counted = 0

        def count(*_: Any) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            list(read_runs(io.StringIO(unit * times)))
        finally:
            sys.setprofile(None)
        return counted

    assert steps_of(400) <= 2.5 * steps_of(200) + 200
