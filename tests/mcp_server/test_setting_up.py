"""A server that could not work does not start: one sentence says why."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from reasoningbank import BankRoot, ProjectNotFoundError, ReasoningBank
from reasoningbank.mcp_server import ManyProjects, OneProject, check
from tests.cli.conftest import Cli, cli  # noqa: F401 - a fixture
from tests.mcp_server.conftest import RECORD

HTTP = ("--transport", "streamable-http")


@pytest.fixture
def lesson(bank: ReasoningBank) -> str:
    return bank.record(**RECORD).memory.id


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--embedder", "nonsense"), "no embedder is called 'nonsense'"),
        (("--embedder", "openai:"), "'openai:' names no model"),
        (("--embedder", "minilm"), "holds vectors of hash"),
        (("--set", "floor=7"), "floor 7"),
        (("--read-only", "--project", "biling"), "did you mean 'billing'?"),
        (("--read-only", "--allow", "update"), "read-only tools change nothing"),
        (("--read-only", "--distiller", "template"), "distils nothing"),
        (("--untrusted", "--allow", "approve"), "not trusted approves nothing"),
        (("--allow", "delete"), "'delete' is not understood"),
        (("--distiller", "llm"), "give --model"),
        (("--by", " "), "--by is empty"),
        (("--port", "9999"), "--transport streamable-http"),
        (("--projects", "a,,b"), "names no project between two commas"),
        (("--projects", "a", "--project", "b"), "give one of them"),
        ((*HTTP, "--host", "0.0.0.0"), "needs a token"),
    ],
)
def test_a_wrong_set_up_is_one_sentence(
    cli: Cli,  # noqa: F811
    lesson: str,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    ran = cli("mcp", *arguments)

    assert ran.code in (1, 2)
    assert said in ran.err
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    assert ran.out == ""


def test_a_root_that_is_no_folder_is_named(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "file").write_text("x")

    ran = cli("mcp", "--root", str(tmp_path / "file"))

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "cannot be written: give another --root" in ran.err


def test_a_port_that_is_taken_is_named(cli: Cli, lesson: str) -> None:  # noqa: F811
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        ran = cli("mcp", *HTTP, "--port", str(port))

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert f"127.0.0.1 port {port} cannot be listened on" in ran.err


def test_what_can_be_served_is_not_made_by_looking(bank: ReasoningBank) -> None:
    check(OneProject(bank))
    assert not bank.exists

    with pytest.raises(ProjectNotFoundError, match="nothing to look up"):
        check(OneProject(bank), read_only=True)
    bank.record(**RECORD)
    check(OneProject(bank), read_only=True)


def test_each_of_several_projects_is_looked_at(bank: ReasoningBank, lesson: str) -> None:
    with BankRoot(bank.root, tenant="acme", embedder="hash") as banks:
        check(ManyProjects(banks, ("billing", "sales")))
        with pytest.raises(ProjectNotFoundError, match="'sales'"):
            check(ManyProjects(banks, ("billing", "sales")), read_only=True)


def test_a_shared_bank_that_is_closed_is_said_at_the_start_and_keeps_nothing_from_starting(
    bank: ReasoningBank, lesson: str, caplog: pytest.LogCaptureFixture
) -> None:
    with BankRoot(bank.root, tenant=bank.tenant) as root:
        root.shared.create("org", readers=[bank.project])

    check(OneProject(bank.with_shared(("org", "team"))))

    assert [record.args[0] for record in caplog.records if isinstance(record.args, tuple)] == ["team"]
