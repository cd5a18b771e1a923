"""What every command shares: its scope, its bank, and its way to answer."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self

import typer
from rich.console import Console

from reasoningbank import BankRoot, ProjectNotFoundError, ReasoningBank, ReasoningBankError
from reasoningbank.cli.arguments import FILTERS, Chosen, chosen, filters_of, needed, pairs
from reasoningbank.cli.streams import forgiving_a_closed_pipe, json_line
from reasoningbank.cli.views import sentence
from reasoningbank.config import ENVIRONMENT, environment

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

# Seconds after which somebody who watches wants to see that something is done.
MOMENT = 1.0
PROJECT_SCOPE = ("root", "tenant", "project", "embedder")


class PipeConsole(Console):
    """A console that says when its pipe was closed, in place of ending the process with exit code 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Tell it to the caller. Called while the BrokenPipeError is handled."""
        raise BrokenPipeError


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says.

    Attributes:
        value: for programs: printed as one JSON object with --json.
        view: for people: prints the value to a console, or is a sentence; None prints nothing.
        exit_code: 1 when part of what was asked for could not be done.
    """

    value: Any
    view: Callable[[Console, Any], None] | str | None = None
    exit_code: int = 0


class Session:
    """One run of a command.

    Args:
        scope: what was chosen, by name.
        as_json: answer with one JSON object.
        begins: the command may begin a new project; any other needs one that is there.
        settings: NAME=VALUE pairs; they win over those of the environment.
    """

    def __init__(
        self, scope: dict[str, Chosen], *, as_json: bool, begins: bool = False, settings: Sequence[str] = ()
    ) -> None:
        self.scope, self.as_json, self._begins = scope, as_json, begins
        self._settings = settings
        self.stdout = sys.stdout
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Self:
        # What a dependency prints is no part of the answer.
        self._closing.enter_context(contextlib.redirect_stdout(sys.stderr))
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @functools.cached_property
    def bank(self) -> ReasoningBank:
        """The bank that was asked for."""
        tenant, project = needed(self.scope, "tenant"), needed(self.scope, "project")
        bank = ReasoningBank(self._root, tenant=tenant, project=project, embedder=self.embedder, settings=self.settings)
        self._closing.enter_context(bank)
        if not (self._begins or bank.exists):
            raise ProjectNotFoundError(bank.project, bank.tenant, _instead_of(bank))
        return bank

    @functools.cached_property
    def banks(self) -> BankRoot:
        """The tenant's projects."""
        tenant = needed(self.scope, "tenant")
        banks = BankRoot(self._root, tenant=tenant, embedder=self.embedder, settings=self.settings)
        return self._closing.enter_context(banks)

    @property
    def embedder(self) -> str | None:
        """The name of the embedder, if one was chosen."""
        return self.scope["embedder"].value if "embedder" in self.scope else None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        said = environment().get("settings", "")
        return pairs([pair.strip() for pair in said.split(",") if pair.strip()]) | pairs(self._settings)

    @property
    def _root(self) -> str | None:
        return self.scope["root"].value if "root" in self.scope else None

    def answer(self, answer: Answer) -> None:
        """Print the answer: no ANSI unless it goes to a terminal, nor with NO_COLOR."""
        console = PipeConsole(file=self.stdout, highlight=False, markup=False, emoji=False)
        if self.as_json:
            self.stdout.write(json_line(answer.value) + "\n")
        elif isinstance(answer.view, str):
            sentence(console, answer.view)
        elif answer.view is not None:
            answer.view(console, answer.value)
        self.stdout.flush()

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int | None], None]]:
        """Show a bar with the time left on standard error, when that is a terminal; give what moves it."""
        from rich.progress import MofNCompleteColumn, TimeRemainingColumn

        bar = _bar(MofNCompleteColumn(), TimeRemainingColumn())
        if not bar.console.is_terminal:
            yield lambda _done, _total: None
            return
        with bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    @contextlib.contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show on standard error, when that is a terminal, what takes longer than a moment, and for how long by now."""
        from rich.progress import TimeElapsedColumn

        bar = _bar(TimeElapsedColumn())
        if not bar.console.is_terminal:
            yield
            return
        bar.add_task(what, total=None)
        later = threading.Timer(MOMENT, bar.start)
        later.start()
        try:
            yield
        finally:
            later.cancel()
            later.join()
            if bar.live.is_started:
                bar.stop()


def _instead_of(missing: ReasoningBank) -> str:
    there = BankRoot(missing.root, tenant=missing.tenant).projects()
    near = difflib.get_close_matches(missing.project, there, n=1)
    known = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(there) or 'none'} in {missing.root}."
    return f"{known} Nothing was made; `record` and `import` begin a new one"


def _bar(*columns: ProgressColumn) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"), BarColumn(), *columns, console=Console(stderr=True), transient=True
    )


# -- commands ------------------------------------------------------------------------------------------------------


def _project_names(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of one of the tenant's projects."""
    scope = chosen({name: context.params.get(name) for name in ("root", "tenant")})
    if "tenant" not in scope:
        return []
    root = scope["root"].value if "root" in scope else None
    with contextlib.suppress(ReasoningBankError):
        return [name for name in BankRoot(root, tenant=scope["tenant"].value).projects() if name.startswith(incomplete)]
    return []


def _option(name: str, kind: Any, *flags: str, default: bool | None = None, **more: Any) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(*flags, show_default=False, **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _scope_option(name: str, *flags: str, text: str, **more: Any) -> inspect.Parameter:
    help_text = f"{text} Else: {ENVIRONMENT[name]}."
    return _option(name, str | None, f"--{name}", *flags, help=help_text, rich_help_panel="Scope", **more)


OPTIONS = {
    "root": _scope_option("root", text="Folder that holds the data; the user's data folder when not given."),
    "tenant": _scope_option("tenant", "-t", text="Whose data."),
    "project": _scope_option("project", "-p", text="Which project's data.", autocompletion=_project_names),
    "embedder": _scope_option(
        "embedder", text="minilm, hash, openai:MODEL, or a fastembed model; the project's own when none is named."
    ),
}
SETTINGS = _option(
    "settings",
    list[str] | None,
    "--set",
    metavar="NAME=VALUE",
    help=f"A setting for this command; may be repeated. Beside those of {ENVIRONMENT['settings']}.",
    rich_help_panel="Scope",
)
JSON = _option("as_json", bool, "--json", default=False, help="Answer with one JSON object.")


def command(
    app: typer.Typer,
    name: str,
    *,
    scope: Sequence[str] = PROJECT_SCOPE,
    with_json: bool = True,
    begins: bool = False,
    filtered: bool = False,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Register a function as a command: it gets a session, and the options of its scope beside its own.

    Args:
        begins: it may begin a new project; without it, one that is not there is an error.
        filtered: it takes the options of filters, and gets what they ask for behind the session.
    """
    filters = [_option(each, kind, *flags, **more) for each, (kind, flags, more) in FILTERS.items()] if filtered else []

    def register(function: Callable[..., Answer]) -> Callable[..., Answer]:
        own = [*inspect.signature(function, eval_str=True).parameters.values()][1 + filtered :]

        def run(**given: Any) -> None:
            options = {option: given.pop(option) for option in scope}
            as_json, settings = given.pop("as_json", False), given.pop("settings", None) or ()
            asked = {each.name: given.pop(each.name) for each in filters}
            code = 0
            try:
                opened = Session(chosen(options), as_json=as_json, begins=begins, settings=settings)
                with forgiving_a_closed_pipe(), opened as session:
                    answer = function(session, *([filters_of(asked)] if filtered else ()), **given)
                    code = answer.exit_code
                    session.answer(answer)
            except KeyboardInterrupt:
                # Typer would end the process without a word.
                raise typer.Abort from None
            if code:
                raise typer.Exit(code)

        shared = [OPTIONS[option] for option in scope] + ([SETTINGS] if "embedder" in scope else [])
        parameters = [*own, *filters, *shared, *([JSON] if with_json else [])]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__doc__ = function.__doc__
        app.command(name, rich_help_panel=app.info.rich_help_panel)(run)
        return function

    return register
