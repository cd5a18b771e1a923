"""Which bank a command works on when nobody says: the folder's scope file, or the only one there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reasoningbank import BankRoot, InvalidInputError, ReasoningBank, Tenants
from tests.cli.conftest import Cli


@pytest.fixture
def bare(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A command line in an empty folder, where the environment names a root and no project."""
    for name in ("REASONINGBANK_TENANT", "REASONINGBANK_PROJECT"):
        monkeypatch.delenv(name)
    (tmp_path / "work" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    return cli


def test_init_writes_down_which_project_a_folder_uses_and_all_below_it_finds_it(
    bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bare("init", "--tenant", "acme", "--json")
    monkeypatch.chdir(tmp_path / "work" / "deep")
    recorded = bare("record", "Quote paths", "Put paths in quotes")
    status = bare("status", "--json").json

    assert (made.json["tenant"], made.json["project"]) == ("acme", "work")
    assert "root" not in made.json
    assert recorded.code == 0
    assert (status["tenant"], status["project"]) == ("acme", "work")
    assert status["scope"]["project"] == str(tmp_path / "work" / ".reasoningbank.toml")
    assert ".reasoningbank.toml" in bare("status").out


def test_init_names_the_user_and_the_folder_where_nothing_else_is_said(
    bare: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ada")

    assert bare("init", "--json").json["tenant"] == "ada"
    assert bare("init").code == 0
    ran = bare("init", "-p", "other")
    assert (ran.code, "says tenant 'ada', project 'work'" in ran.err) == (2, True)
    assert bare("init", "-p", "other", "--force", "--json").json["project"] == "other"


def test_a_root_of_a_scope_file_is_read_from_its_folder(bare: Cli, tmp_path: Path) -> None:
    (tmp_path / "work" / ".reasoningbank.toml").write_text('tenant = "a"\nproject = "b"\nroot = "data"\n', "utf-8")

    # What the environment says comes first, as for every other value.
    assert bare("status", "--json").json["root"] == str(tmp_path / "root")
    del os.environ["REASONINGBANK_ROOT"]
    assert bare("status", "--json").json["root"] == str(tmp_path / "work" / "data")


@pytest.mark.parametrize("text", ["tenant = 3", "tenant", 'tenants = "a"'])
def test_a_scope_file_that_cannot_be_read_is_named_unless_nobody_needs_it(bare: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "work" / ".reasoningbank.toml").write_text(text, "utf-8")

    ran = bare("status")

    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ".reasoningbank.toml" in ran.err
    assert bare("status", "-t", "a", "-p", "b").code == 0


def test_a_scope_file_of_another_user_is_not_followed(
    bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "work" / ".reasoningbank.toml"
    file.write_text('tenant = "a"\nproject = "b"\n', "utf-8")
    if os.getuid() == 0:
        os.chown(file, 12345, -1)
    else:
        another = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: another)

    ran = bare("status")

    assert (ran.code, "belongs to another user" in ran.err) == (2, True)


def test_the_only_project_there_is_needs_no_name(bare: Cli, bank: ReasoningBank, tmp_path: Path) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")

    assert "Quote paths" in bare("list").out
    assert bare("status", "--json").json["scope"]["project"] == "the only one there is"

    with ReasoningBank(tmp_path / "root", tenant="acme", project="books", embedder="hash") as other:
        other.record("A", "B", outcome="success")
    ran = bare("list")
    assert ran.code == 2
    assert "reasoningbank init" in ran.err
    assert "tenant 'acme' has 'billing', 'books'" in ran.err


def test_where_there_is_nothing_the_first_step_is_named(bare: Cli, tmp_path: Path) -> None:
    ran = bare("list")

    assert (ran.code, "reasoningbank init" in ran.err) == (2, True)
    assert not (tmp_path / "root").exists()


def test_a_missing_project_is_an_error_that_names_the_nearest_one(
    cli: Cli, bank: ReasoningBank, tmp_path: Path
) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")

    for options, near in (
        (("-p", "biling"), "did you mean 'billing'?"),
        (("-p", "x"), "it has billing in"),
        (("-t", "acmee"), "did you mean tenant 'acme'? It has billing."),
        (("-t", "zzz"), "holds tenants acme."),
        (("--root", str(tmp_path / "nowhere")), "there is no folder"),
    ):
        for words in (["search", "paths"], ["recall", "paths"], ["list"], ["export"]):
            ran = cli(*words, *options)
            assert (ran.code, near in ran.err) == (1, True), ran.err
    assert Tenants(tmp_path / "root").names() == ["acme"]
    assert BankRoot(tmp_path / "root", tenant="acme").projects() == ["billing"]
    assert not (tmp_path / "nowhere").exists()


def test_tenants_and_projects_are_listed_with_counts(cli: Cli, bank: ReasoningBank, tmp_path: Path) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    bank.recall("quote paths")
    with ReasoningBank(tmp_path / "root", tenant="globex", project="sales", embedder="hash") as other:
        other.record("A", "B", outcome="success")
    damaged = tmp_path / "root" / next((tmp_path / "root").glob("acme-*")).name / "lost-00000000000000000000"
    damaged.mkdir()
    (damaged / "bank.sqlite3").write_bytes(b"no database" * 500)

    assert cli("tenants", "--json").json == {
        "tenants": [{"tenant": "acme", "projects": 1}, {"tenant": "globex", "projects": 1}]
    }
    billing, lost = cli("projects", "--json").json["projects"]
    assert (billing["project"], billing["memories"], billing["episodes"]) == ("billing", {"active": 1}, 1)
    assert (lost["project"], "bank.sqlite3" in lost["problem"]) == (damaged.name, True)
    assert "1 active memories, 1 runs" in cli("projects").out
    assert "acme  1 projects" in cli("tenants").out


# -- ids by their beginning ----------------------------------------------------------------------------------------

OURS = "4780b1a1-6b3f-48ba-9ad8-6d1428e24fa0"
NEAR = "4780b1a1-0000-48ba-9ad8-6d1428e24fa0"


def test_the_beginning_of_an_id_or_ref_is_enough(cli: Cli, bank: ReasoningBank) -> None:
    memory_id = bank.record("Quote paths", "Put paths in quotes", outcome="failure").memory.id
    ref = bank.recall("quote paths").ref

    assert cli("show", memory_id[:6], "--json").json["id"] == memory_id
    assert cli("vote", memory_id[:6], "--helpful").code == 0
    assert cli("episode", ref[:6], "--json").json["ref"] == ref
    assert cli("report", "success", "--ref", ref[:6]).code == 0
    assert bank.runs.get(ref).verdict == "success"
    assert cli("delete", memory_id[:6], "--json").json["deleted"] == {memory_id: True}


def test_a_beginning_of_several_ids_names_them_and_ids_of_others_are_known_whole_only(bank: ReasoningBank) -> None:
    bank.exchange.import_from(
        [{"id": OURS, "text": "One"}, {"id": NEAR, "text": "Two"}, {"id": "cafe-10", "text": "Three"}]
    )

    with pytest.raises(InvalidInputError, match=f"{NEAR}, {OURS}"):
        bank.resolve("4780")
    assert bank.resolve("4780b1a1-6") == OURS
    assert bank.resolve(OURS) == OURS
    # Too short, somebody else's, and nothing at all.
    assert [bank.resolve(given) for given in ("478", "cafe", "cafe-1", "beef")] == ["478", "cafe", "cafe-1", "beef"]


def test_report_last_is_about_the_run_that_was_opened_last(cli: Cli, bank: ReasoningBank) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")
    assert cli("report", "success", "--last").code == 2
    bank.recall("quote paths")
    newest = bank.recall("quote paths again").ref

    assert cli("report", "success", "--last", "--json").json["episode"]["ref"] == newest
    assert cli("report", "success", "--last", "--ref", newest).code == 2


def test_recall_text_is_the_block_for_a_prompt_and_nothing_else(cli: Cli, bank: ReasoningBank) -> None:
    bank.record("Quote paths", "Put paths in quotes", outcome="failure")

    ran = cli("recall", "quote paths", "--text")

    assert ran.out.startswith("<lessons-")
    assert "Put paths in quotes" in ran.out
    assert "reasoningbank report" not in ran.out
    assert f"--ref {bank.runs.list().episodes[0].ref}" in ran.err


# -- who is trusted ------------------------------------------------------------------------------------------------


def test_what_an_import_made_untrusted_is_said_at_once_and_trust_lifts_it(
    cli: Cli, bank: ReasoningBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lessons = ["Quote paths with blanks", "Quote every path", "Put paths in quotes"]
    Path("own.jsonl").write_text("".join(f'{{"text": "{text}"}}\n' for text in lessons), "utf-8")

    imported = cli("import", "own.jsonl")
    capped = cli("search", "quote paths in quotes")

    assert "3 are untrusted" in imported.out
    assert "reasoningbank trust own.jsonl" in imported.out
    assert len(bank.search("quote paths in quotes").hits) == 1
    assert "`trust SOURCE`" in capped.out
    assert "own.jsonl  3 active memories, 3 of them untrusted" in cli("sources").out

    assert cli("trust", "own.jsonl").out == "3 memories of own.jsonl are trusted now.\n"
    assert len(bank.search("quote paths in quotes").hits) == 3
    assert cli("trust", "own.jsonl", "--undo").code == 0
    assert len(bank.search("quote paths in quotes").hits) == 1
    assert cli("trust", "nobody").code == 1


def test_a_trusted_import_of_what_is_there_untrusted_lifts_it(cli: Cli, bank: ReasoningBank, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"text": "Quote paths with blanks"}\n{"text": "Quote every path"}\n', "utf-8")
    cli("import", str(file))

    lifted = cli("import", str(file), "--trusted", "--json").json

    assert (lifted["existing"], lifted["trusted"], lifted["untrusted"]) == (2, 2, 0)
    assert all(memory.source.trusted for memory in bank.list().memories)
    assert cli("import", str(file), "--trusted", "--json").json["trusted"] == 0


def test_sources_say_who_brought_who_judged_and_who_is_blocked(cli: Cli, bank: ReasoningBank) -> None:
    memory_id = bank.record("Quote paths", "Put paths", outcome="failure", source={"by": "ada"}).memory.id
    bank.record("Anonymous", "Nobody said so", outcome="success")
    bank.vote(memory_id, True, by="eve", ref="r1")
    bank.sources.block("eve")

    found = {each["source"]: each for each in cli("sources", "--json").json["sources"]}

    assert found["ada"]["memories"] == {"active": 1}
    assert (found["eve"]["judged"], found["eve"]["blocked"]) == (1, True)
    assert found[""]["memories"] == {"active": 1}
    assert "(no name)" in cli("sources").out
