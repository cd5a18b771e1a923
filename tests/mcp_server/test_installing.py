"""The server in the configuration of each client: put in, taken out to the byte, and nothing else touched."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from reasoningbank.client_files import jsonc
from reasoningbank.client_files.change import backup_of
from reasoningbank.errors import InvalidInputError
from reasoningbank.mcp_server.clients import CLIENTS, Client, client_named
from reasoningbank.mcp_server.installing import AGENTS_MD, entry, file_of, install, uninstall
from tests.cli.conftest import Cli, cli  # noqa: F401 - a fixture
from tools.domain import ROOT

COMMENT = re.compile(r"(?:^|(?<= ))(?://|#) .*|/\* .*? \*/", re.MULTILINE)
SCOPE = ["--tenant", "acme", "--project", "web"]

# What people have in such files: of the documented forms, with comments, other servers and settings, and odd layouts.
JSON_FILES = {
    "nothing in it": "",
    "an empty object": "{}",
    "an empty object on two lines": "{\n}\n",
    "no servers": '{\n  "theme": "dark"\n}\n',
    "empty servers": '{\n  "GROUP": {}\n}\n',
    "other servers": '{\n  "GROUP": {\n    "time": {\n      "command": "npx",\n      "args": ["-y"]\n    }\n  }\n}\n',
    "four blanks": '{\n    "GROUP": {\n        "a": {"url": "https://a.x"}\n    },\n    "z": [1, {"b": null}]\n}\n',
    "tabs": '{\n\t"GROUP": {\n\t\t"a": {}\n\t}\n}\n',
    "one line": '{"GROUP": {"a": {"command": "a"}}, "x": 1}',
    "windows": '\ufeff{\r\n  "GROUP": {\r\n    "a": {}\r\n  }\r\n}\r\n',
    "umlauts": '{\n  "GROUP": {\n    "größe": {"command": "ß", "env": {"K": "\\u00e4/*no*/ // nor this"}}\n  }\n}',
}
COMMENTED = {
    "comments": '// mine\n{\n  // s\n  "GROUP": {\n    "a": {} // the first\n    /* the end */\n  } // all\n}\n// z\n',
    "trailing commas": '{\n  "GROUP": {\n    "a": {"command": "a",},\n  },\n}\n',
    "only a comment": "{\n  // nothing yet\n}\n",
    "servers that are commented out": '{\n  "GROUP": {\n    // "b": {}\n  }\n}\n',
}
TOML_FILES = {
    "nothing in it": "",
    "settings": 'model = "o4" # mine\n\n[tools]\nweb = true\n',
    "other servers": '[mcp_servers.time]\ncommand = "npx" # here\nargs = [\n  "-y",\n  "[mcp_servers.x]",\n]\n\n'
    '[mcp_servers.time.env]\nK = "v"\n\n# profiles\n[profiles.x]\nmodel = "o3"\n',
    "no line at the end": 'model = "o4"',
    "windows": 'model = "o4"\r\n\r\n[tools]\r\nweb = true\r\n',
}


def texts_of(client: Client) -> dict[str, str]:
    if client.form == "toml":
        return TOML_FILES
    return {name: text.replace("GROUP", client.group) for name, text in (JSON_FILES | COMMENTED).items()}


def value_of(client: Client, text: str) -> dict[str, Any]:
    value: dict[str, Any] = tomllib.loads(text) if client.form == "toml" else jsonc.parse(text).value
    return value


CASES = [(client, name) for client in CLIENTS.values() for name in texts_of(client)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "file.json"


def written(client: Client, path: Path, text: str | None = None) -> str:
    """Put the server into a file with this text, and return what it is then."""
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    install(client, path, entry(client, SCOPE, runner="uvx", shared=True)).carry_out()
    return path.read_bytes().decode()


@pytest.mark.parametrize(("client", "name"), CASES, ids=lambda each: getattr(each, "name", each))
def test_it_is_put_in_beside_everything_else_and_taken_out_to_the_byte(client: Client, name: str, path: Path) -> None:
    before = texts_of(client)[name]

    after = written(client, path, before)
    value, was = value_of(client, after), value_of(client, before)

    ours = value[client.group].pop("reasoningbank")
    assert (ours["command"], ours["args"]) == (
        "uvx", ["--from", "reasoningbank-core[mcp]", "reasoningbank", "mcp", *SCOPE],
    )  # fmt: skip
    assert {client.group: {}} | was == value
    assert all(comment in after for comment in COMMENT.findall(before))
    assert written(client, path) == after
    uninstall(client, path).carry_out()
    assert path.read_bytes().decode() == before
    assert not backup_of(path).exists()


@pytest.mark.parametrize(("client", "name"), CASES, ids=lambda each: getattr(each, "name", each))
def test_what_was_changed_meanwhile_stays_when_it_is_taken_out(client: Client, name: str, path: Path) -> None:
    after = written(client, path, texts_of(client)[name])
    more = "\n[later]\nx = 1\n" if client.form == "toml" else "\n"
    path.write_bytes((after + more).encode())

    uninstall(client, path).carry_out()

    text = path.read_bytes().decode()
    value = value_of(client, text)
    was = value_of(client, texts_of(client)[name]) | ({"later": {"x": 1}} if client.form == "toml" else {})
    assert {client.group: {}} | value == {client.group: {}} | was
    assert all(comment in text for comment in ("// mine", "// the first", "/* the end */") if comment in after)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_a_file_that_was_not_there_goes_again(client: Client, path: Path) -> None:
    text = written(client, path)

    assert list(value_of(client, text)[client.group]) == ["reasoningbank"]
    assert path.stat().st_mode & 0o777 == 0o600
    uninstall(client, path).carry_out()
    assert list(path.parent.iterdir()) == []


def test_what_is_installed_again_takes_the_place_of_the_older(path: Path) -> None:
    client = CLIENTS["cursor"]
    before = '{\n  "mcpServers": {\n    "a": {}, // mine\n    "b": {}\n  }\n}\n'
    written(client, path, before)

    install(client, path, entry(client, ["--read-only"], runner="python", shared=False)).carry_out()

    ours = jsonc.parse(path.read_text("utf-8")).value["mcpServers"]["reasoningbank"]
    assert (ours["command"], ours["args"][-1]) == (sys.executable, "--read-only")
    assert "// mine" in path.read_text("utf-8")
    uninstall(client, path).carry_out()
    assert path.read_text("utf-8") == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", '{"mcpServers": {"reasoningbank": {"command": "mine", "args": ["--special"]}}}\n'),
        ("vscode", '{"servers": {"reasoningbank": {"url": "https://memory.example"}}, "inputs": []}'),
        ("codex", '[mcp_servers.reasoningbank]\ncommand = "mine"\n\n[mcp_servers.reasoningbank.env]\nA = "1"\n'),
    ],
)
def test_another_server_of_its_name_comes_back_when_it_is_taken_out(name: str, text: str, path: Path) -> None:
    client = client_named(name)
    ours = value_of(client, written(client, path, text))[client.group]["reasoningbank"]
    written(client, path)

    uninstall(client, path).carry_out()

    assert ours["command"] == "uvx"
    assert path.read_text("utf-8") == text
    assert not backup_of(path).exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", '{"mcpServers": {"a": '),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", "[]"),
        ("cursor", "{} {}"),
        ("cursor", "{'a': 1}"),
        ("cursor", "{ /* no end"),
        ("codex", "[mcp_servers"),
        ("codex", 'mcp_servers = "x"\n'),
        ("codex", '[mcp_servers]\nreasoningbank = { command = "x" }\n'),
        ("codex", 'mcp_servers.reasoningbank.command = "x"\n'),
        ("codex", 'mcp_servers = { x = { command = "y" } }\n'),
    ],
)
def test_what_cannot_be_changed_safely_is_left_as_it_is(name: str, text: str, path: Path) -> None:
    with pytest.raises(InvalidInputError, match="left as it is"):
        written(client_named(name), path, text)

    assert path.read_text("utf-8") == text
    assert list(path.parent.iterdir()) == [path]


def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(path: Path) -> None:
    client = CLIENTS["claude-code"]
    change = install(client, path, entry(client, SCOPE, runner="uvx", shared=True))
    path.parent.mkdir()
    path.write_text("{}", "utf-8")

    with pytest.raises(InvalidInputError, match="changed meanwhile"):
        change.carry_out()
    assert path.read_text("utf-8") == "{}"


def test_a_link_stays_a_link_and_a_mode_a_mode(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}", "utf-8")
    kept.chmod(0o644)
    path.parent.mkdir()
    path.symlink_to(kept)

    written(CLIENTS["cursor"], path)

    assert path.is_symlink()
    assert "reasoningbank" in kept.read_text("utf-8")
    assert kept.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_each_client_has_a_file_and_says_what_it_was_checked_with(platform: str) -> None:
    for client in CLIENTS.values():
        assert client.user_file(platform).rpartition(".")[2] in ("json", "toml")
        assert client.checked
        assert client.notes
    with pytest.raises(InvalidInputError, match="reads no servers in a repository"):
        file_of(CLIENTS["windsurf"], Path(), Path())


# -- the commands --------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_shown_and_only_written_when_that_is_said(cli: Cli, home: Path, client: str) -> None:  # noqa: F811
    shown = cli("mcp", "install", client)
    assert (shown.code, home.exists()) == (0, False)
    assert "+" in shown.out
    assert "Shown only: --yes writes it." in shown.out

    done = cli("mcp", "install", client, "--yes", "--json")
    text = Path(done.json["file"]).read_text("utf-8")
    assert done.json["written"]
    assert all(part in text for part in ("acme", "billing", "--root"))
    again = cli("mcp", "install", client, "--yes")
    assert again.out.startswith("Nothing to change.")

    gone = cli("mcp", "uninstall", client, "--yes")
    assert gone.code == 0
    assert not Path(done.json["file"]).exists()
    assert cli("mcp", "uninstall", client).out.startswith("Nothing to change.")


def test_a_repository_s_file_names_nothing_of_this_machine(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("REASONINGBANK_ROOT")
    ran = cli("mcp", "install", "vscode", "--folder", str(tmp_path), "--yes", "--", "--read-only", "--allow", "list")

    text = (tmp_path / ".vscode" / "mcp.json").read_text("utf-8")
    server = json.loads(text)["servers"]["reasoningbank"]
    assert ran.code == 0
    assert (server["type"], server["command"]) == ("stdio", "uvx")
    assert server["args"][-3:] == ["--read-only", "--allow", "list"]
    assert "--root" not in server["args"]
    assert str(Path.home()) not in text


def test_what_was_written_starts_a_server_that_answers(cli: Cli, home: Path, spawn: Any) -> None:  # noqa: F811
    cli("mcp", "install", "claude-code", "--run", "python", "--yes")
    server = json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"]["reasoningbank"]
    assert (server["command"], server["args"][:3]) == (sys.executable, ["-m", "reasoningbank", "mcp"])

    client = spawn(*server["args"][3:], REASONINGBANK_TENANT="", REASONINGBANK_PROJECT="")
    assert client.initialize()["result"]["serverInfo"]["name"] == "reasoningbank"
    assert client.close()[0] == 0


def test_a_text_for_agents_is_printed_as_it_is(cli: Cli) -> None:  # noqa: F811
    assert cli("mcp", "agents-md").out == AGENTS_MD


def test_the_guides_show_what_is_written() -> None:
    guides = ROOT / "docs" / "guides"
    assert AGENTS_MD in (guides / "mcp.md").read_text("utf-8")
    for client in CLIENTS.values():
        page = (guides / "mcp" / f"{client.name}.md").read_text("utf-8")
        (shown,) = re.findall(r"^```(?:json|toml)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        written_down = entry(client, SCOPE, runner="uvx", shared=True)
        assert value_of(client, shown) == {client.group: {"reasoningbank": written_down}}
        assert all(Path(file).name in page for file in [client.user_file(), client.project] if file)


def test_options_of_the_server_do_not_get_lost_before_a_command(cli: Cli, home: Path) -> None:  # noqa: F811
    ran = cli("mcp", "--read-only", "install", "cursor")

    assert ran.code == 2
    assert "install cursor" in ran.err
    assert not home.exists()
