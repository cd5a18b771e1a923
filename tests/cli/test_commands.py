"""What the commands about memories and of the learning loop do, say and print with --json."""

from __future__ import annotations

from pathlib import Path

import pytest

from reasoningbank import BankRoot, ReasoningBank, Verdict
from tests.cli.conftest import Cli
from tests.conftest import Clock

# -- memories ------------------------------------------------------------------------------------------------------


def test_record_stores_a_lesson_and_prints_its_id(cli: Cli, bank: ReasoningBank) -> None:
    ran = cli(
        "record", "Quote paths", "Put paths in quotes", "--outcome", "failure", "--tag", "shell", "--tag", "files"
    )

    (memory,) = bank.list().memories
    assert ran.code == 0
    assert ran.out == f"Recorded: {memory.id}\n"
    assert (memory.title, memory.content, memory.outcome, memory.tags) == (
        "Quote paths",
        "Put paths in quotes",
        Verdict.FAILURE,
        ("shell", "files"),
    )


def test_record_takes_every_field(cli: Cli, bank: ReasoningBank) -> None:
    ran = cli(
        "record", "--title", "Quote paths", "--content", "Put paths in quotes", "--description", "on blanks",
        "--applies-when", "in shells", "--confidence", "0.9", "--meta", "domain=shell", "--meta", "size=3",
        "--meta", 'note="5"', "--by", "ada", "--json",
    )  # fmt: skip

    memory = bank.get(ran.json["memory"]["id"])
    assert (memory.description, memory.applies_when, memory.initial_confidence) == ("on blanks", "in shells", 0.9)
    assert memory.metadata == {"domain": "shell", "size": 3, "note": "5"}
    assert memory.source.by == "ada"
    assert ran.json["created"] is True


def test_recording_it_again_says_that_it_was_there(cli: Cli) -> None:
    first = cli("record", "Quote paths", "Put paths in quotes", "--json").json

    assert cli("record", "Quote paths", "Put paths in quotes").out == f"Already there: {first['memory']['id']}\n"


def test_record_names_a_possible_duplicate(cli: Cli) -> None:
    first = cli("record", "Quote paths", "Always put paths in quotes because names may hold blanks", "--json").json

    ran = cli("record", "Quote paths", "Always put paths in quotes because names may hold blanks today")

    assert f"It may say the same as {first['memory']['id']}." in ran.out.replace("\n", " ").replace("  ", " ")


def test_record_says_what_it_removed(cli: Cli) -> None:
    ran = cli("record", "Log in", "Use AKIA" + "IOSFODNN7EXAMPLQ to log in")

    assert "Removed what looked like secrets: 1" in ran.out


def test_the_errors_in_an_output_are_asked_about(cli: Cli, bank: ReasoningBank, tmp_path: Path) -> None:
    cli("record", "Pull first", "git pull --rebase", "--signature", " ! [rejected] main -> main (fetch first)")
    log = tmp_path / "push.log"
    log.write_text("To origin\n ! [rejected]   main -> main (fetch first)\n")

    ran = cli("recall", "--error", str(log), "--command", "git push", "--exit-code", "1", "--ref", "r-1")
    again = cli("recall", "--error", "-", "--ref", "r-1", "--json", stdin=log.read_text())

    assert "Pull first" in ran.out
    assert "--ref r-1" in ran.out
    assert "no memory has the tag 'git'" in cli("recall", "--error", str(log), "--tag", "git").out
    assert again.json["repeated"] is True
    assert "the same error again" in cli("recall", "--error", str(log), "--ref", "r-1").out
    assert cli("recall", "--error", str(tmp_path / "none")).code == 2
    assert cli("recall").code == 2


def test_signatures_can_be_changed(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Pull first", "git pull --rebase", outcome="failure").memory

    assert cli("update", memory.id, "--signature", "error: gone", "--json").json["signatures"] == ["gone"]


def test_content_comes_from_standard_input(cli: Cli, bank: ReasoningBank) -> None:
    cli("record", "Quote paths", "-", stdin="\ufeffPut paths\nin quotes")

    assert bank.list().memories[0].content == "Put paths\nin quotes"


def test_show_prints_all_that_is_known(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record(
        "Quote paths",
        "Put paths in quotes",
        outcome="failure",
        description="on blanks",
        tags=["shell"],
        metadata={"domain": "files"},
        source={"by": "ada"},
    ).memory
    bank.recall("quote paths")

    out = cli("show", memory.id).out

    for part in (memory.id, "Put paths in quotes", "on blanks", "shell", "domain", "ada", "used", "1 times"):
        assert part in out
    assert cli("show", memory.id, "--json").json["title"] == "Quote paths"


def test_list_prints_whole_ids_and_goes_on_after_a_page(cli: Cli, bank: ReasoningBank) -> None:
    ids = [
        bank.record(f"Lesson {n} " + "x" * 100, f"Content {n}", outcome="success", tags=["t"]).memory.id
        for n in range(3)
    ]

    first = cli("list", "--limit", "2")
    after = cli("list", "--limit", "2", "--json").json["next"]

    assert [memory_id in first.out for memory_id in ids] == [True, True, False]
    assert f"More: --after {after}" in first.out
    assert [m["id"] for m in cli("list", "--after", str(after), "--json").json["memories"]] == ids[2:]


def test_list_filters(cli: Cli, bank: ReasoningBank) -> None:
    bank.record("Quote paths", "in quotes", outcome="failure", tags=["shell"], metadata={"n": 1})
    bank.record("Read errors", "read them", outcome="success")

    def titles(*options: str) -> list[str]:
        return [memory["title"] for memory in cli("list", *options, "--json").json["memories"]]

    assert titles("--tag", "shell") == titles("--outcome", "failure") == titles("--text", "QUOTES") == ["Quote paths"]
    assert titles("--where", "n=1") == ["Quote paths"]
    assert titles("--where", "n=2") == titles("--state", "archived") == []
    assert titles("--all") == ["Quote paths", "Read errors"]
    assert cli("list", "--tag", "none").out == "No memories.\nLeft out: 2 no memory has the tag 'none'.\n"
    assert titles("--where", "n>=1", "--any-tag", "shell", "--any-tag", "sql") == ["Quote paths"]
    assert titles("--where", "n>=1", "--where", "n<2") == ["Quote paths"]
    assert titles("--where", "n>=2", "--where", "n<3") == titles("--where", "n=2", "--where", "n=1") == []
    assert titles("--where", "n<1") == titles("--no-tag", "shell", "--outcome", "failure") == []
    assert titles("--where", 'n={"in": [1, 2]}', "--since", "7d") == ["Quote paths"]
    assert titles("--newest-first") == ["Read errors", "Quote paths"]
    assert "unknown" not in cli("list", "--source", "ada").err
    assert "did you mean 'gte'" in cli("list", "--where", 'n={"gtee": 1}').err


def test_what_holds_for_a_time_is_listed_where_it_is_asked_for(cli: Cli, bank: ReasoningBank) -> None:
    cli("record", "Old login", "Use the old login", "--occurred", "2026-01-15", "--expires", "2026-01-16")
    cli("record", "New login", "Use the new login", "--ttl", "7d")

    def titles(*options: str) -> list[str]:
        return [memory["title"] for memory in cli("list", *options, "--json").json["memories"]]

    assert titles() == ["New login"]
    assert titles("--expired") == titles("--with-expired", "--until", "2026-01-15") == ["Old login"]
    assert titles("--with-expired") == ["Old login", "New login"]
    assert "expires 20" in cli("list").out
    assert cli("status", "--json").json["expired"] == 1
    memory_id = bank.list(expired=True).memories[0].id
    assert cli("update", memory_id, "--expires", "never").code == 0
    assert titles() == ["Old login", "New login"]


READING = [["search", "x"], ["recall", "x"], ["recommend", "x"], ["list"], ["export"], ["links", "--suggest"]]


@pytest.mark.parametrize("command", READING)
def test_a_mistyped_project_is_an_error_and_makes_nothing(
    cli: Cli, bank: ReasoningBank, memory_id: str, command: list[str]
) -> None:
    ran = cli(*command, "--project", "biling")

    assert ran.code == 1
    assert "has no project 'biling': did you mean 'billing'? Nothing was made" in ran.err
    assert BankRoot(bank.root, tenant="acme").projects() == ["billing"]


def test_update_changes_what_is_named(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Quote paths", "in quotes", outcome="failure", tags=["shell"]).memory

    ran = cli(
        "update", memory.id, "--title", "Quote all paths", "--content", "-", "--meta", "n=1", stdin="in double quotes"
    )

    changed = bank.get(memory.id)
    assert ran.code == 0
    assert "Quote all paths" in ran.out
    assert (changed.title, changed.content, changed.tags, changed.metadata) == (
        "Quote all paths",
        "in double quotes",
        ("shell",),
        {"n": 1},
    )


def test_delete_says_of_each_id_what_became_of_it(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Quote paths", "in quotes", outcome="failure").memory

    ran = cli("delete", memory.id, "nope")

    assert (ran.code, ran.out) == (1, f"Deleted: {memory.id}\nNot there: nope\n")
    assert cli("delete", "nope", "--json").json == {"deleted": {"nope": False}}
    assert bank.count() == 0


# -- learning ------------------------------------------------------------------------------------------------------


@pytest.fixture
def memory_id(bank: ReasoningBank) -> str:
    return bank.record("Quote paths", "Put paths in quotes", outcome="failure", tags=["shell"]).memory.id


def test_search_prints_hits_and_what_was_left_out(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    bank.record("Boil eggs", "Seven minutes", outcome="success")

    ran = cli("search", "quote", "the", "paths")

    assert "0.80 ✗ Quote paths" in ran.out
    assert memory_id in ran.out
    assert "Left out:" in ran.out
    assert bank.get(memory_id).usage_count == 0


def test_search_passes_its_options_on(cli: Cli, memory_id: str) -> None:
    def found(*options: str) -> list[str]:
        return [hit["memory"]["id"] for hit in cli("search", "quote paths", *options, "--json").json["hits"]]

    assert found("--limit", "1", "--tag", "shell", "--outcome", "failure", "--policy", "similarity") == [memory_id]
    assert found("--outcome", "success") == found("--where", "n=1") == found("--tag", "none") == []
    assert found("--strict", "--min-confidence", "0.9") == []
    assert cli("search", "quote paths", "--outcome", "success").out == "Nothing fits.\nLeft out: 1 filters.\n"


def test_a_query_comes_from_standard_input(cli: Cli, memory_id: str) -> None:
    assert memory_id in cli("search", "-", stdin="quote paths").out


def test_recall_opens_an_episode_and_report_closes_it(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    recalled = cli("recall", "quote", "paths", "--thread", "t-1", "--ref", "run-1")
    assert recalled.out.rstrip().endswith("reasoningbank report success|failure --ref run-1")

    reported = cli("report", "success", "--ref", "run-1", "--reason", "it ran", "--by", "ci")

    assert reported.out == "Reported success; 1 memories credited.\n"
    assert cli("report", "success", "--ref", "run-1").out.startswith("Nothing new")
    assert cli("report", "failure", "--ref", "run-1").out.startswith("Reported failure (before: success)")
    assert bank.runs.get("run-1").verdict is Verdict.FAILURE
    shown = cli("episode", "run-1").out
    assert "quote paths" in shown
    assert memory_id in shown
    assert cli("episode", "run-1", "--json").json["thread"] == "t-1"


def test_episodes_lists_them_the_newest_first(cli: Cli, memory_id: str) -> None:
    assert cli("episodes").out == "No episodes.\n"
    for ref in ("one", "two", "three"):
        cli("recall", "quote paths", "--ref", ref)
    cli("report", "success", "--ref", "two")

    assert [e["ref"] for e in cli("episodes", "--json").json["episodes"]] == ["three", "two", "one"]
    assert [e["ref"] for e in cli("episodes", "--open", "--json").json["episodes"]] == ["three", "one"]
    paged = cli("episodes", "-n", "2").out
    assert "✓ quote paths\n    two  success\n" in paged
    assert paged.endswith("More: --after two\n")
    assert "gone" in cli("episodes", "--after", "gone").err


def test_report_finds_the_episode_of_a_thread(cli: Cli, memory_id: str) -> None:
    ref = cli("recall", "quote paths", "--thread", "t-1", "--json").json["ref"]

    assert cli("report", "success", "--thread", "t-1", "--json").json["episode"]["ref"] == ref


def test_report_says_when_it_is_too_late(cli: Cli, bank: ReasoningBank, open_late: ReasoningBank) -> None:
    assert cli("report", "failure", "--ref", "old").out.startswith("Too late")


@pytest.fixture
def open_late(scope: dict[str, str]) -> ReasoningBank:
    """An episode whose evidence was rolled up long ago."""
    clock = Clock()
    with ReasoningBank(
        scope["REASONINGBANK_ROOT"], tenant="acme", project="billing", embedder="hash", clock=clock
    ) as bank:
        bank.record("Quote paths", "Put paths in quotes", outcome="failure")
        bank.report("success", ref=bank.recall("quote paths", ref="old").ref)
        clock.move(days=50)
        bank.vote(bank.list().memories[0].id, True)
        bank.upkeep.maintain()
    return bank


def test_recall_of_nothing_still_opens_an_episode(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    bank.delete(memory_id)
    ran = cli("recall", "anything", "--json")

    assert ran.json["hits"] == []
    assert cli("recall", "anything").out.startswith("Nothing fits.")
    assert cli("episode", ran.json["ref"], "--json").json["verdict"] is None


def test_a_vote_moves_the_confidence(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    before = bank.get(memory_id).confidence

    ran = cli("vote", memory_id, "--helpful", "--ref", "r", "--by", "ada", "--reason", "it worked")

    assert ran.out.startswith("Quote paths: confidence 0.")
    assert bank.get(memory_id).confidence > before
    assert "said before" in cli("vote", memory_id, "--helpful", "--ref", "r").out
    cli("vote", memory_id, "--not-helpful", "--ref", "s")
    assert cli("vote", memory_id, "--harmful", "--ref", "t", "--json").json["memory"]["confidence"] < before


def test_outcome_and_stability_count_for_one_memory(cli: Cli, bank: ReasoningBank, memory_id: str) -> None:
    succeeded = ("vote", memory_id, "--helpful", "--kind", "outcome", "--ref", "s", "--json")
    reverted = ("vote", memory_id, "--not-helpful", "--kind", "stability", "--ref", "c1", "--by", "ci", "--json")

    assert cli(*succeeded).json["recorded"] is True
    assert cli(*succeeded).json["recorded"] is False
    assert cli(*reverted).json["recorded"] is True
    assert cli("vote", memory_id, "--helpful", "--kind", "stability").code == 0


def test_a_source_is_blocked_unblocked_and_forgotten(cli: Cli, bank: ReasoningBank) -> None:
    memory = bank.record("Look", "Look first", outcome="success", source={"by": "crawler"}).memory

    assert cli("block", "crawler").out == "Archived 1 memories of crawler; its signals are about 0.\n"
    assert cli("blocked").out == "crawler\n"
    assert cli("unblock", "crawler", "--json").json["memories"] == [memory.id]
    assert cli("blocked").out == "No source is blocked.\n"
    assert cli("forget", "crawler", "--json").code == 2
    assert cli("forget", "crawler", "--yes").out.startswith("Deleted 1 memories")
    assert bank.count(state=None) == 0
    assert cli("block", "nobody").code == 1


def test_record_says_that_a_lesson_stays_out_of_service(cli: Cli) -> None:
    memory_id = cli("record", "Clean up", "Run make clean", "--json").json["memory"]["id"]
    cli("archive", memory_id)

    ran = cli("record", "Clean up", "Run make clean")

    assert f"Already there: {memory_id}" in ran.out
    assert f"Out of service (by hand): reasoningbank restore {memory_id}" in ran.out
