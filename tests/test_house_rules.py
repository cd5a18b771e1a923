"""The rules of CONTRIBUTING.md that ruff, mypy and import-linter cannot check."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.domain import ROOT, domain_modules

MODULE_LINES = 350
FUNCTION_LINES = 50

# An exception carries its reason: `# long: one table, read as a whole` on the `def` line or in a module's first lines.
EXCUSE = re.compile(r"# long: \w+")

# What a decision may not reach for: the clock, chance, the machine, shared state and files are arguments.
IMPURE = {"os", "time", "random", "secrets", "threading", "multiprocessing", "subprocess", "sqlite3", "socket", "io"}

INDEX_ADDRESS = re.compile(r"(?:https?|file)://[\w.:@/\-]*(?:/simple\b|pypi\.org(?!/project/)|pythonhosted\.org)")
INVENTED = "user|alice|bob|carol|agent|dev|me|app|ada|you"
MACHINE_PATH = re.compile(rf"(?<![\w.:/\-])/(?:work/|root/|(?:home|Users)/(?!(?:{INVENTED})\b)\w)")


def committed(*suffixes: str) -> list[Path]:
    """Return the checkout's own files, relative to its root: what git tracks or would, never what it ignores."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: no way to tell the project's files from others")
    files = (Path(name) for name in listed.split("\0") if name)
    return sorted(file for file in files if (ROOT / file).is_file() and (not suffixes or file.suffix in suffixes))


def text_of(file: Path) -> str:
    return (ROOT / file).read_text("utf-8", errors="replace")


def functions(source: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield name, line, length and `def` line of each function; a docstring does not count, nor a function inside."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node, clean=False) is not None:
                docstring = node.body[0]
                length -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
            yield node.name, node.lineno, length, lines[node.lineno - 1]


def imported(source: str) -> set[str]:
    """Return the top-level packages that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_no_module_is_longer_than_a_sitting() -> None:
    lengths = {file: text_of(file).splitlines() for file in committed(".py")}

    assert [
        f"{file}: {len(lines)} lines, over {MODULE_LINES}"
        for file, lines in lengths.items()
        if len(lines) > MODULE_LINES and not any(EXCUSE.match(line) for line in lines[:5])
    ] == []


def test_no_function_is_longer_than_a_screen() -> None:
    assert [
        f"{file}:{line}: {name} has {length} lines, over {FUNCTION_LINES}"
        for file in committed(".py")
        for name, line, length, definition in functions(text_of(file))
        if length > FUNCTION_LINES and not EXCUSE.search(definition)
    ] == []


def test_the_domain_is_what_no_layer_above_claims_packages_too() -> None:
    names = {str(module.relative_to("src/reasoningbank")) for module in domain_modules()}

    assert {"memory.py", "errors.py", "screening/guard/inspection.py", "screening/scrub/rule.py"} <= names
    assert not {name for name in names if name.startswith(("__init__", "storage/", "services/", "cli/", "aio"))}


def test_the_domain_reaches_for_no_clock_no_chance_no_machine() -> None:
    impure = {str(module): sorted(IMPURE & imported(text_of(module))) for module in domain_modules()}

    assert {module: names for module, names in impure.items() if names} == {}


def test_no_file_names_a_package_index() -> None:
    assert [str(file) for file in committed() if INDEX_ADDRESS.search(text_of(file))] == []


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    # A short path, such as a checkout in /tmp/x, stands in examples by chance.
    here = [str(place) for place in (ROOT, Path.home()) if len(place.parts) > 3]

    assert [
        f"{file}: {found}"
        for file in committed()
        for found in [*MACHINE_PATH.findall(text_of(file)), *(place for place in here if place in text_of(file))]
    ] == []


def test_the_resolver_s_own_lock_stays_out() -> None:
    assert [file for file in committed() if file.name == "uv.lock"] == []


def test_nothing_is_called_helper_or_manager() -> None:
    vague = re.compile(r"^(?:utils?|helpers?|misc|common)$|(?:manager|handler|helper)s?$")

    assert [str(file) for file in committed(".py") if vague.search(file.stem)] == []
