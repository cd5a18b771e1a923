"""Every page, with nothing in the bank and with something; what it shows is what the bank says."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from reasoningbank import BankRoot, ReasoningBank
from reasoningbank.dashboard import api, diagrams
from reasoningbank.dashboard.charts import spark
from reasoningbank.dashboard.site import Site
from reasoningbank.dashboard.tasks import Progress, Task, Tasks
from tests.dashboard.conftest import PROJECT, Visit, Visitor, notice

PAGES = ["", "/lessons", "/review", "/runs", "/search", "/calibration", "/graph", "/upkeep"]


@pytest.fixture
def filled(banks: BankRoot) -> ReasoningBank:
    """A bank with lessons, runs, votes, a job and a graph."""
    bank = banks.open(PROJECT)
    ids = [
        recorded.memory.id
        for recorded in bank.record_many(
            {
                "title": f"Quote path {n}",
                "content": f"Put path {n} in quotes.",
                "outcome": "success",
                "tags": [f"t{n % 3}"],
            }
            for n in range(60)
        )
    ]
    for n in range(4):
        with bank.episode(f"quote path {n}") as run:
            run.report("success" if n % 2 else "failure")
        bank.vote(run.hits[0].memory.id, bool(n), ref=run.ref, by="ann")
    bank.queue.put({"task": "sum the totals", "steps": [{"action": "sum"}]}, "success")
    nodes = [bank.graph.add_node("Event", f"Event {n}", reasoning_pointer_ids=[ids[0]]).node.id for n in range(3)]
    bank.graph.add_edge(nodes[0], nodes[1], "led to", weight=0.9)
    return bank


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_an_empty_project_says_what_to_do_next(visitor: Visitor, bank: ReasoningBank, page: str) -> None:
    bank.delete(bank.record("Nothing", "To be seen.", outcome="success").memory.id)
    shown = visitor.get(f"/p/{PROJECT}{page}")

    assert "<h1" in shown
    assert re.search(r'class="empty"|class="quiet"|<code>', shown)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_stays_small_however_much_there_is(visitor: Visitor, filled: ReasoningBank, page: str) -> None:
    assert len(visitor.get(f"/p/{PROJECT}{page}").encode()) < 120_000


def test_a_tenant_without_projects_is_told_how_one_begins(visitor: Visitor) -> None:
    assert "reasoningbank record" in visitor.get("/")


def test_one_project_that_cannot_be_read_hides_no_other(
    visitor: Visitor, filled: ReasoningBank, banks: BankRoot, tmp_path: Path
) -> None:
    banks.open("broken").record("A lesson", "What to do.", outcome="success")
    banks.close()
    file = next(file for file in (tmp_path / "root").rglob("bank.sqlite3") if "broken" in str(file))
    with contextlib.closing(sqlite3.connect(file)) as newer:
        newer.execute("PRAGMA user_version = 9999")
    page = visitor.get("/?all=1")

    assert "reads up to" in page
    assert f'href="/p/{PROJECT}"' in page


def test_the_dashboard_opens_with_its_project(banks: BankRoot, visit: Visit, filled: ReasoningBank) -> None:
    visitor = visit()
    home = Visitor(Site(banks, visitor.site.access, PROJECT))

    assert str(home.client.get("/").url).endswith(f"/p/{PROJECT}")
    assert "Projects of acme" in home.get("/?all=1")


# -- lessons -------------------------------------------------------------------------------------------------------


def test_every_lesson_stands_on_one_page_of_the_list(visitor: Visitor, filled: ReasoningBank) -> None:
    first = visitor.get(f"/p/{PROJECT}/lessons", sort="most_believed")
    following = re.findall(r'href="([^"]*after=[^"]*)" rel="next"', first)[0].replace("&amp;", "&")
    second = visitor.get(following)
    titles = [re.findall(r'class="row-title"[^>]*>([^<]*)', page) for page in (first, second)]

    assert len(titles[0]) == 50
    assert sorted(titles[0] + titles[1]) == sorted(m.title for m in filled.list(limit=100).memories)
    assert "First page" in second


@pytest.mark.parametrize(
    ("query", "many"),
    [
        ({"class": "proven"}, None),
        ({"tag": "t1"}, 20),
        ({"text": "path 59"}, 1),
        ({"used": "no"}, None),
        ({"class": "quarantined"}, 0),
        ({"outcome": "failure"}, 0),
        ({"least": "0.99"}, None),
        ({"source": "nobody"}, 0),
        ({"since": "1d", "sort": "recorded"}, 60),
    ],
)
def test_filters_show_what_the_bank_s_own_show(
    visitor: Visitor, filled: ReasoningBank, query: dict[str, Any], many: int | None
) -> None:
    page = visitor.get(f"/p/{PROJECT}/lessons", **query)
    found = re.findall(r'class="row-title"', page)

    if many is not None:
        assert len(found) == min(many, 50)
    assert found or "No lesson passes these filters" in page


@pytest.mark.parametrize(
    "query", [{"least": "abc"}, {"least": "nan"}, {"after": "x"}, {"class": "good"}, {"since": "x"}]
)
def test_a_filter_that_cannot_be_read_is_said_and_not_left_out(
    visitor: Visitor, filled: ReasoningBank, query: dict[str, Any]
) -> None:
    assert "That cannot be used" in visitor.get(f"/p/{PROJECT}/lessons", status=400, **query)


def test_search_shows_what_the_bank_finds_in_its_order_and_counts_nothing(
    visitor: Visitor, filled: ReasoningBank
) -> None:
    before = filled.upkeep.status().signals
    page = visitor.get(f"/p/{PROJECT}/search", q="quote path 7")
    expected = [hit.memory.title for hit in filled.search("quote path 7").hits]

    assert re.findall(r'class="row-title"[^>]*>([^<]*)', page) == expected
    assert "&lt;lessons" in page
    assert filled.upkeep.status().signals == before


def test_a_lesson_draws_each_piece_of_its_evidence(visitor: Visitor, filled: ReasoningBank) -> None:
    used = filled.list(used=True).memories[0]
    page = visitor.get(f"/p/{PROJECT}/lessons/{used.id}")

    assert len(re.findall(r'<g class="mark (?:for|against) \w+" transform', page)) == len(
        filled.evidence(used.id).pieces
    )
    assert f"/p/{PROJECT}/runs/" in page


# -- upkeep --------------------------------------------------------------------------------------------------------


def done(visitor: Visitor, chore: str, **fields: Any) -> str:
    """Do a chore, wait until it is done, and return the page that says what came of it."""
    visitor.post(f"/p/{PROJECT}/upkeep/{chore}", **fields)
    ends = time.monotonic() + 20
    while not (task := visitor.site.tasks.newest(PROJECT, chore)) or not task.done:
        assert task is not None
        assert time.monotonic() < ends
        visitor.site.tasks.wait(task.key, task, 1.0)
    return visitor.get(f"/p/{PROJECT}/upkeep")


def test_what_is_merged_was_proposed_before(visitor: Visitor, bank: ReasoningBank) -> None:
    for title in ("Quote file names", "Quote the file names"):
        bank.record(title, f"{title} in shell commands.", outcome="success")
    assert "Merge them" not in visitor.get(f"/p/{PROJECT}/upkeep")
    page = done(visitor, "duplicates")
    assert bank.count() == 2

    assert "Quote the file names" in page
    assert "Merge them" in page
    page = done(visitor, "merge")
    assert bank.count() == 1
    assert "became one" in page


def test_a_backup_is_a_bank(visitor: Visitor, filled: ReasoningBank, tmp_path: Path) -> None:
    page = done(visitor, "backup", target=str(tmp_path / "copy"))

    assert "Copied into" in page
    assert (tmp_path / "copy" / "bank.sqlite3").exists()
    assert "is there already" in done(visitor, "backup", target=str(tmp_path / "copy")) or "Not done" in page


@pytest.mark.parametrize(
    ("chore", "says"),
    [
        ("doctor", "All is well"),
        ("maintain", "Rolled up 0 segments"),
        ("reembed", "Embedded 60 lessons"),
        ("doubtful", "Nothing"),
    ],
)
def test_a_chore_says_what_came_of_it(visitor: Visitor, filled: ReasoningBank, chore: str, says: str) -> None:
    assert says in done(visitor, chore)


def test_a_chore_that_nobody_knows_is_an_error(visitor: Visitor, filled: ReasoningBank) -> None:
    visitor.post(f"/p/{PROJECT}/upkeep/dance", status=400)
    assert "Not done" in done(visitor, "backup", target="")


def test_a_run_that_taught_nothing_is_put_back(visitor: Visitor, bank: ReasoningBank) -> None:
    job = bank.queue.put({"task": "wait", "steps": []}, "success")
    bank.queue.worker().run_once()
    assert bank.queue.get(job.id).status == "empty"
    page = visitor.press(visitor.get(f"/p/{PROJECT}/upkeep"), "Retry")

    assert bank.queue.get(job.id).status == "queued"
    assert "waits in the queue again" in notice(page)
    assert notice(visitor.post(f"/p/{PROJECT}/jobs/nothing/retry", back=f"/p/{PROJECT}/upkeep")).startswith("Not done")


def test_work_tells_how_far_it_is_and_of_one_kind_there_is_one_at_a_time() -> None:
    tasks, gate = Tasks(), threading.Event()

    def work(progress: Progress) -> str:
        progress(1, 2)
        gate.wait(10)
        return "done"

    def following(last: Task) -> Task:
        found = tasks.wait(last.key, last, 10)
        assert found is not None
        return found

    task = tasks.start(PROJECT, "x", work)
    assert tasks.start(PROJECT, "x", work).key == task.key
    under_way = following(task)
    gate.set()

    assert (under_way.steps, under_way.of) == (1, 2)
    assert following(under_way).result == "done"


def test_work_that_breaks_down_says_so() -> None:
    tasks = Tasks()
    task = tasks.start(PROJECT, "x", lambda _: 1 / 0)
    ended = tasks.wait(task.key, task, 10)

    assert ended is not None
    assert ended.done
    assert "ZeroDivisionError" in ended.problem


def test_events_tell_of_the_work_until_it_is_done(visitor: Visitor, filled: ReasoningBank) -> None:
    visitor.post(f"/p/{PROJECT}/upkeep/doctor")
    task = visitor.site.tasks.newest(PROJECT, "doctor")
    assert task is not None
    told = visitor.get(f"/tasks/{task.key}/events")
    last = json.loads(told.strip().split("\n\n")[-1].removeprefix("data: "))

    assert last["done"] is True
    assert visitor.get("/tasks/nothing/events") == ""


# -- graph ---------------------------------------------------------------------------------------------------------


def test_the_graph_is_drawn_as_it_is_stored(visitor: Visitor, filled: ReasoningBank) -> None:
    drawn = json.loads(visitor.get(f"/p/{PROJECT}/graph/drawing"))
    assert [node[2] for node in drawn["nodes"]] == ["Event 0", "Event 1", "Event 2"]
    assert drawn["edges"] == [[0, 1, 0.9, "led to"]]

    assert json.loads(visitor.get(f"/p/{PROJECT}/graph/drawing", least="0.95"))["edges"] == []
    node = filled.graph.list_nodes().nodes[0]
    around = json.loads(visitor.get(f"/p/{PROJECT}/graph/drawing", node=node.id))
    assert [each[2] for each in around["nodes"]] == ["Event 0", "Event 1"]
    page = visitor.get(f"/p/{PROJECT}/graph", node=node.id)
    assert "led to" in page
    assert "Quote path 0" in page
    assert "Event 2" in visitor.get(f"/p/{PROJECT}/graph", q="Event 2")


def test_a_layout_gives_every_node_a_place_of_its_own() -> None:
    ids = [str(n) for n in range(300)]
    pairs = [(str(n), str(n // 3)) for n in range(1, 200)]
    placed = diagrams.layout(ids, pairs)

    assert set(placed) == set(ids)
    assert len(set(placed.values())) == len(ids)
    assert placed == diagrams.layout(ids, pairs)
    assert diagrams.layout([], []) == {}


def test_a_line_of_a_figure_is_broken_where_nothing_is_known() -> None:
    drawn = spark([0.1, 0.2, None, 0.4, 0.3])

    assert drawn is not None
    assert len(drawn.lines) == 2
    assert spark([None, 0.2]) is None


# -- for programs --------------------------------------------------------------------------------------------------


def test_the_api_answers_what_its_document_says(visitor: Visitor, filled: ReasoningBank) -> None:
    document = json.loads(visitor.get(f"{api.ROOT}/openapi.json"))
    memory, run = filled.list().memories[0].id, filled.runs.list().episodes[0].ref
    assert document["openapi"] == "3.1.0"
    assert len(document["paths"]) == len(api.CALLS)
    for path, operations in document["paths"].items():
        filled_in = path.replace("{project}", PROJECT).replace("{memory}", memory).replace("{ref}", run)
        asked: dict[str, Any] = {"q": "quote"} if path.endswith("search") else {}
        answer = json.loads(visitor.get(filled_in, **asked))
        schema = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert isinstance(answer, list if schema["type"] == "array" else dict)
        assert not isinstance(answer, dict) or set(schema.get("required", ())) <= set(answer)
    references = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert references <= set(document["components"]["schemas"])


def test_the_api_says_what_went_wrong_as_json(visitor: Visitor, filled: ReasoningBank) -> None:
    root = f"{api.ROOT}/projects"

    assert "no memory" in json.loads(visitor.get(f"{root}/{PROJECT}/lessons/nothing", status=404))["error"]
    assert "no project" in json.loads(visitor.get(f"{root}/nowhere/lessons", status=404))["error"]
    assert "limit" in json.loads(visitor.get(f"{root}/{PROJECT}/lessons", status=400, limit="-1"))["error"]
    assert visitor.client.post(f"{root}", data={"csrf": visitor.site.access.csrf}).status_code == 405
