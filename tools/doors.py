"""The page that says which door has which call, read out of the code: what each door really calls.

A call that a door lacks has its reason here, or the page cannot be made.
"""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from reasoningbank import BankRoot, ReasoningBank, Tenants, bank
from reasoningbank.bank.shared import SharedBanks
from tools.domain import ROOT

PARTS: Final = ("graph", "links", "queue", "sources", "runs", "exchange", "replication", "upkeep", "sharing")
SOURCES: Final = ROOT / "src/reasoningbank"
INTEGRATIONS: Final = {"LangChain": "langchain", "LangGraph": "langgraph", "LlamaIndex": "llama-index"}
# Under which names code holds a bank, and those who open banks.
BANKS: Final = {"bank", "_bank", "unchecked_bank", "looking_through"}
OPENERS: Final = {"banks": "BankRoot", "_banks": "BankRoot", "tenants": "Tenants"}
# What belongs to a handle in Python and to no door.
OF_A_HANDLE: Final = {"close", "now", "exists", "create"}

PERSON = "for a person: no model is handed the keys to the bank"
IN_PYTHON = "the bank itself is at hand in Python"
# Why a door lacks a call, the first that fits; `*` stands for anything.
GAPS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "command line": (
        ("record_many", "`import` stores many"),
        ("episode", "a `with` block of Python; `recall` and `report` are its halves"),
        ("report_act", "the hooks of coding agents call it"),
        ("evidence", "`dashboard` draws it"),
        ("runs.lessons", "`dashboard` shows them; `show` says from which run a lesson came"),
        ("upkeep.standings", "`dashboard` shows them"),
        ("graph.edges_among", "`dashboard` draws them; `graph export` writes all"),
        ("runs.take_back", "for adapters, whose model may never see what was handed out"),
        ("runs.best_of", "it calls an agent, which is Python"),
        ("queue.get", "`jobs` lists them"),
        ("queue.put", "`distill` reads runs, and a judge's verdict queues them"),
        ("sharing.check", "`promote` says what it finds, and stores nothing then"),
        ("with_shared", "`--shared`"),
        ("BankRoot.shared.open", "a shared bank is looked after in Python"),
        ("resolve", "every command takes the beginning of an id"),
        ("upkeep.warm", "each command is a process of its own"),
        ("replication.*", "`bus` calls them"),
        ("Tenants.overview", "`projects`"),
        ("Tenants.delete_project", "`delete-project`"),
        ("Tenants.worker", "`work --every-tenant`"),
        ("Tenants.maintain", "`maintain --every-tenant`"),
    ),
    "MCP": (
        ("record_many", "a model records one lesson at a time"),
        ("delete", "`memory_retire` takes out of service what a person can bring back"),
        ("supersede", "`memory_update` keeps what it replaces"),
        ("resolve", "models copy ids whole"),
        ("list", "`memory_search` finds by filters too"),
        ("count", "the resource memory://status"),
        ("revisions", PERSON),
        ("evidence", PERSON),
        ("recommend", "`memory_search` says how far each is believed"),
        ("episode", "`memory_search` opens it and `memory_outcome` closes it"),
        ("report_act", "the hooks of coding agents call it"),
        ("lift", PERSON),
        ("graph.*", "the graph is filled by programs"),
        ("links.*", PERSON),
        ("queue.*", "the server's operator runs `work`"),
        ("sources.*", PERSON),
        ("sharing.*", PERSON),
        ("with_shared", "`--shared` fixes them when the server starts"),
        ("runs.*", "of its own run a client needs only the ref"),
        ("exchange.*", PERSON),
        ("replication.*", "the bus calls them"),
        ("upkeep.*", PERSON),
        ("BankRoot.*", "`--projects` chooses when the server starts"),
        ("Tenants.*", "a server has one tenant"),
    ),
    "adapters": (("*", IN_PYTHON),),
}


def calls() -> list[str]:
    """Return the calls that Python has, in the order of the reference."""
    found = [name for name in _public(ReasoningBank) if name not in PARTS]
    for part in PARTS:
        found += [f"{part}.{name}" for name in _public(getattr(bank, part.capitalize()))]
    found += [f"{kind.__name__}.{name}" for kind in (BankRoot, Tenants) for name in _public(kind)]
    return found + [f"BankRoot.shared.{name}" for name in _public(SharedBanks)]


def _public(kind: type) -> Iterator[str]:
    for base in reversed(kind.__mro__[:-1]):
        for name, value in vars(base).items():
            if not name.startswith("_") and inspect.isfunction(value) and name not in OF_A_HANDLE:
                yield name


def doors() -> dict[str, dict[str, list[str]]]:
    """Return, by door and by call, under which names the door has it."""
    return {"command line": _command_line(), "MCP": _mcp(), "adapters": _adapters()}


def gaps() -> list[str]:
    """Return what a door lacks without a reason."""
    known = doors()
    return [
        f"{door} lacks {call}"
        for door, reasons in GAPS.items()
        for call in calls()
        if call not in known[door] and not any(fnmatch(call, pattern) for pattern, _ in reasons)
    ]


def doors_page(made: str) -> str:
    """Return the page; `made` is the line that says how it is made."""
    known = doors()
    rows = ["| Python | command line | MCP | adapters |", "|---|---|---|---|"]
    for call in calls():
        cells = [_cell(door, call, known[door].get(call, ())) for door in GAPS]
        rows.append(f"| `{call}` | {' | '.join(cells)} |")
    told = (
        "What a call is called at each door, read out of the code of the doors; in italics why a door does not have "
        "it. Python's names are the standard: fields have the same names in Python and in `--json`."
    )
    return "\n\n".join([made, "# Which door has which call", told, "\n".join(rows)]) + "\n"


def _cell(door: str, call: str, names: Iterable[str]) -> str:
    if names:
        return ", ".join(f"`{name}`" if door != "adapters" else name for name in names)
    reason = next((reason for pattern, reason in GAPS[door] if fnmatch(call, pattern)), None)
    if reason is None:
        raise ValueError(f"{door} lacks {call}: say in GAPS of tools/doors.py why, or let it have it")
    return f"*{reason}*"


# -- what the code of a door calls -----------------------------------------------------------------------------------


def _command_line() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((SOURCES / "cli").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        group = f"{path.stem} " if path.stem in {"bus", "graph", "hooks", "shared"} else ""
        for function in functions.values():
            for name in _command_names(function):
                for call in _calls_of(function, functions):
                    found[call] += [f"{group}{name}"] if f"{group}{name}" not in found[call] else []
    return found


def _command_names(function: ast.FunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Name(id="command"), args=[_, ast.Constant(value=str(name)), *_]):
                yield name


def _mcp() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted([*(SOURCES / "mcp_server").glob("*.py"), *(SOURCES / "adapters").glob("*.py")]):
        tree = ast.parse(path.read_text("utf-8"))
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for tool, function in _tools(tree):
            for call in _calls_of(functions[function], functions) if function in functions else ():
                found[call] += [tool] if tool not in found[call] else []
    return found


def _tools(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of tools with the functions that carry them out."""
    names = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=spec)], value=ast.Call(func=ast.Name(id="ToolSpec"), args=[name, *_])):
                names[spec] = ast.literal_eval(name)
    for made in ast.walk(tree):
        match made:
            case ast.Call(func=ast.Name(id="MemoryTool"), args=[ast.Name(id=spec), act]) if spec in names:
                for part in ast.walk(act):
                    if isinstance(part, (ast.Name, ast.Attribute)):
                        yield names[spec], part.id if isinstance(part, ast.Name) else part.attr


def _adapters() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    shared = _called_in(sorted((SOURCES / "adapters").glob("*.py")))
    for title, folder in INTEGRATIONS.items():
        own = _called_in(sorted((ROOT / "integrations" / folder).rglob("src/**/*.py"))) or _called_in(
            [path for path in sorted((ROOT / "integrations" / folder).rglob("*.py")) if "tests" not in path.parts]
        )
        for call in sorted(own | shared):
            found[call].append(title)
    return found


def _called_in(paths: Iterable[Path]) -> set[str]:
    return {call for path in paths for call in _calls_in(ast.parse(path.read_text("utf-8")))}


def _calls_of(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> list[str]:
    """Return what a function calls of a bank, itself and through others of its module."""
    seen, waiting = [], [function]
    while waiting:
        one = waiting.pop()
        seen.append(one)
        called = [n.func for n in ast.walk(one) if isinstance(n, ast.Call)]
        named = {n.id for n in called if isinstance(n, ast.Name)}
        named |= {n.attr for n in called if isinstance(n, ast.Attribute) and _root(n) == "self"}
        waiting += [f for name in sorted(named) if (f := functions.get(name)) and f not in seen and f not in waiting]
    return sorted({call for one in seen for call in _calls_in(one)})


def _calls_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute):
            chain = _chain(each)
            for at, name in enumerate(chain[:-1]):
                after = chain[at + 1 :]
                if name in BANKS:
                    yield ".".join(after[:2]) if after[0] in PARTS and len(after) > 1 else after[0]
                elif name in OPENERS:
                    yield f"{OPENERS[name]}.{'.'.join(after[:2]) if after[0] == 'shared' else after[0]}"


def _chain(node: ast.expr) -> list[str]:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return [*_chain(value), attr]
        case ast.Name(id=name):
            return [name]
        case ast.Call(func=func):
            return _chain(func)
    return []


def _root(node: ast.expr) -> str:
    chain = _chain(node)
    return chain[0] if chain else ""
