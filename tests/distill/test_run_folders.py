"""Folders whose files make one record together, and stores that hold many."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.distill.run_files import read_runs, read_source
from reasoningbank.distill.run_folders import sources_in
from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.trajectory import BadLine, Trajectory
from tests.runs.readers import samples


def write(file: Path, record: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record), "utf-8")


def read(folder: Path) -> list[tuple[str, str, int]]:
    return [
        (one.form, one.task, len(one.steps)) if isinstance(one, Trajectory) else ("bad", one.reason, one.number)
        for one in read_runs(folder)
    ]


@pytest.mark.parametrize(
    ("name", "events"),
    [("{}.json", samples.openhands), ("event-{:05d}-abc.json", samples.openhands_sdk)],
)
def test_events_that_are_files_of_their_own_are_one_run(tmp_path: Path, name: str, events: Any) -> None:
    for number, event in enumerate(events(), start=8):  # 10.json comes after 9.json, not before
        write(tmp_path / "s" / "events" / name.format(number), event)
    write(tmp_path / "s" / "base_state.json", {"id": "s"})

    assert read(tmp_path) == [("openhands", samples.TASK, 1)]


def test_numbered_files_that_are_no_events_are_runs_of_their_own(tmp_path: Path) -> None:
    for number in (1, 2):
        write(tmp_path / f"{number}.json", {"task": f"t{number}"})

    assert [task for _, task, _ in read(tmp_path)] == ["t1", "t2"]


def test_an_event_that_is_torn_costs_itself(tmp_path: Path) -> None:
    for number, event in enumerate(samples.openhands()):
        write(tmp_path / f"{number}.json", event)
    (tmp_path / "99.json").write_text("{torn")

    bad, run = read_runs(tmp_path)

    assert isinstance(bad, BadLine)
    assert isinstance(run, Trajectory)
    assert run.task == samples.TASK


USED = {"tool": "read", "callID": "c1", "type": "tool",
        "state": {"status": "error", "input": {"path": ".env"}, "error": "permission denied"}}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "part", "info"),
    [
        ("message/S/{}.json", "part/{}/{}.json", "session/project/S.json"),
        ("session/message/S/{}.json", "session/part/S/{}/{}.json", "session/info/S.json"),
    ],
)
def test_a_session_of_opencode_is_put_together(tmp_path: Path, message: str, part: str, info: str) -> None:
    write(tmp_path / info, {"id": "S", "title": "Old", "time": {"created": 1_700_000_000_000}})
    for name, role, at in (("b", "user", 1), ("a", "assistant", 2)):
        write(tmp_path / message.format(name), {"id": name, "sessionID": "S", "role": role, "time": {"created": at}})
    write(tmp_path / part.format("b", "p1"), {"id": "p1", "messageID": "b", "type": "text", "text": "Show it"})
    write(tmp_path / part.format("a", "p2"), {"id": "p2", "messageID": "a", **USED})
    write(tmp_path / part.format("a", "p3"), {"id": "p3", "messageID": "a", "type": "text", "text": "I may not."})

    (source,) = sources_in(tmp_path)
    (run,) = read_source(source)

    assert isinstance(run, Trajectory)
    assert (run.form, run.session, run.task, run.result) == ("opencode", "S", "Show it", "I may not.")
    assert [step.error for step in run.steps] == ["permission denied"]
    assert run.started_at is not None


def test_a_source_is_told_from_others_by_what_is_in_its_files(tmp_path: Path) -> None:
    for number, event in enumerate(samples.openhands()):
        write(tmp_path / f"{number}.json", event)
    (before,) = sources_in(tmp_path)
    was = before.digest()
    write(tmp_path / "77.json", samples.openhands()[-1])
    (after,) = sources_in(tmp_path)

    assert was != after.digest()
    single = tmp_path / "a" / "one.jsonl"
    write(single, {"task": "t"})
    moved = tmp_path / "b" / "other.jsonl"
    write(moved, {"task": "t"})
    digests = [source.digest() for source in sources_in(tmp_path) if source.path in (single, moved)]
    assert digests[0] == digests[1]


def test_of_the_two_records_of_an_appworld_run_the_one_with_its_task_is_read(tmp_path: Path) -> None:
    log = "\n### Environment Interaction 1\n----\n```python\nprint(1)\n```\n\n```\n1\n```\n"
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "environment_io.md").write_text(log)
    write(tmp_path / "b" / "lm_calls.jsonl", {"task": "t"})
    (tmp_path / "notes.md").write_text(log)

    assert read(tmp_path) == [("appworld", "", 1), ("plain", "t", 0)]


def test_a_history_of_aider_is_found_although_its_name_is_hidden(tmp_path: Path) -> None:
    (tmp_path / ".aider.chat.history.md").write_text(
        "# aider chat started at 2026-01-01 10:00:00\n\n#### Why?\n\nSo.\n"
    )

    assert read(tmp_path) == [("aider", "Why?", 0)]


def cursor_store(file: Path, rows: dict[str, Any], items: dict[str, Any]) -> None:
    with sqlite3.connect(file) as store:
        for table, held in (("cursorDiskKV", rows), ("ItemTable", items)):
            store.execute(f"CREATE TABLE {table} (key TEXT UNIQUE, value BLOB)")
            for key, value in held.items():
                text = value if isinstance(value, str) else json.dumps(value)
                store.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, text))
    store.close()


def test_the_chats_of_cursors_store_are_runs(tmp_path: Path) -> None:
    heads = [{"bubbleId": name, "type": 1} for name in ("q", "a", "gone")]
    rows = {
        "composerData:A": {"composerId": "A", "fullConversationHeadersOnly": heads},
        "bubbleId:A:q": {"type": 1, "text": "Why?"},
        "bubbleId:A:a": {"type": 2, "text": "So."},
        "composerData:B": {"conversation": [{"type": 1, "text": "Old?"}, {"type": 2, "text": "Yes."}]},
        "composerData:C": "{torn",
        "composerData:D": {"composerId": "D", "fullConversationHeadersOnly": []},
        "other": "x",
    }
    tabs = {"tabs": [{"tabId": "T", "bubbles": [{"type": "user", "text": "First?"}, {"type": "ai", "text": "1"}]}, {}]}
    cursor_store(tmp_path / "state.vscdb", rows, {"workbench.panel.aichat.view.aichat.chatdata": tabs})

    found = read(tmp_path)

    assert [(form, task) for form, task, _ in found] == [
        ("cursor", "Why?"),
        ("cursor", "Old?"),
        ("bad", "composerData:C is no JSON object"),
        ("cursor", "First?"),
    ]


def test_a_store_is_only_read(tmp_path: Path) -> None:
    cursor_store(tmp_path / "state.vscdb", {}, {})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    assert list(read_runs(tmp_path / "state.vscdb")) == []
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_the_sessions_of_opencodes_store_are_runs(tmp_path: Path) -> None:
    file = tmp_path / "opencode.db"
    with sqlite3.connect(file) as store:
        store.execute("CREATE TABLE session (id, title, time_created, time_updated)")
        store.execute("CREATE TABLE message (id, session_id, time_created, time_updated, data)")
        store.execute("CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)")
        store.executemany("INSERT INTO session VALUES (?, 't', 1700000000000, 1700000000000)", [("S",), ("empty",)])
        for name, role in (("m1", '{"role": "user"}'), ("m2", '{"role": "assistant"}'), ("m3", "{torn")):
            store.execute("INSERT INTO message VALUES (?, 'S', 1700000000000, 0, ?)", (name, role))
        said = {"m1": {"type": "text", "text": "Show it"}, "m2": USED}
        for name, data in said.items():
            store.execute("INSERT INTO part VALUES (?, ?, 'S', 0, 0, ?)", (f"p{name}", name, json.dumps(data)))
        store.execute("INSERT INTO part VALUES ('z', 'm2', 'S', 0, 0, '{torn')")
    store.close()

    (run,) = read_runs(file)

    assert isinstance(run, Trajectory)
    assert (run.form, run.session, run.task) == ("opencode", "S", "Show it")
    assert [step.error for step in run.steps] == ["permission denied"]
    assert {each.what for each in run.left_out} >= {"message of unknown role 'unreadable'"}


def test_another_database_and_a_broken_one_are_told(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as store:
        store.execute("CREATE TABLE t (a)")
    store.close()
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\0torn")

    with pytest.raises(InvalidInputError, match="a database without chats: its tables are t"):
        list(read_runs(tmp_path / "other.db"))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        list(read_runs(tmp_path / "torn.db"))
