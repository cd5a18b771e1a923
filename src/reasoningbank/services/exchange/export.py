"""Export: memories, and runs, out of a bank."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from reasoningbank.errors import InvalidInputError, StorageError
from reasoningbank.exchange.memories import outgoing, to_line
from reasoningbank.exchange.runs import is_run, run_record
from reasoningbank.filters import Filters
from reasoningbank.formats.markdown import file_name, page
from reasoningbank.links import as_field
from reasoningbank.memory import State
from reasoningbank.services.cache.shown import shown_link, shown_tallies
from reasoningbank.services.engine import Engine
from reasoningbank.services.exchange.history_transfer import export_history
from reasoningbank.services.exchange.run_transfer import export_runs
from reasoningbank.services.search import left_out
from reasoningbank.services.view import View
from reasoningbank.storage import links, merges, parameters, pins, records, trust

PAGE = 500


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which memories go out, and in which order.

    Attributes:
        whole: all are asked for, so that what belongs to the bank as a whole goes along.
        newest_first: what happened last comes first; else in the order in which they were recorded.
        history: also what they said before.
    """

    filters: Filters
    whole: bool
    newest_first: bool = False
    history: bool = False

    @property
    def complete(self) -> bool:
        """Whether every memory goes along with its history, so that the same bank can be made of it, merges and all."""
        return self.history and self.whole and self.filters == Filters(tuple(State))


def check_chosen(engine: Engine, chosen: Chosen) -> None:
    """Check that what is asked for is there, before anything is written: an empty file says nothing.

    InvalidInputError, which names what no memory has.
    """
    with engine.read() as view:
        if not (chosen.whole or records.count(view, chosen.filters)):
            left_out.check(view, chosen.filters)


def _of_the_bank(view: View) -> dict[str, Any]:
    # What belongs to no memory the first record carries: every record is a memory, for whoever reads them.
    whole = {"taught": trust.taught(view), "forgotten": trust.blocked(view)}
    return {"parameters": parameters.learned(view)} | {key: value for key, value in whole.items() if value}


def _pages(view: View, chosen: Chosen) -> Iterator[list[int]]:
    if chosen.newest_first:
        place = records.LATEST
        while found := records.newest(view, chosen.filters, place, PAGE):
            yield [n for n, _ in found]
            place = found[-1][::-1]
        return
    after = 0
    while numbers := records.page(view, chosen.filters, after, PAGE):
        yield numbers
        after = numbers[-1]


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give where to write what then appears at `path`, whole or not at all; StorageError when that fails."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}", path=path) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        with contextlib.suppress(OSError):
            unfinished.unlink()


def write_whole(path: Path, write: Callable[[IO[str]], int]) -> int:
    """Write a file, which appears whole or not at all, and return what `write` does; StorageError when that fails."""
    with _whole(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as target:
        written = write(target)
        target.flush()
        os.fsync(target.fileno())
    return written


def export_pages(
    engine: Engine,
    folder: Path,
    progress: Callable[[int], None] | None = None,
    *,
    chosen: Chosen,
) -> int:
    """Write every memory as a Markdown page into a new folder, which appears whole or not at all.

    InvalidInputError when the folder is there already, StorageError when it cannot be written.
    """
    if folder.exists():
        raise InvalidInputError(f"{folder} is there already: name a new folder")
    written = 0
    with _whole(folder) as unfinished:
        unfinished.mkdir()
        for written, line in enumerate(export_records(engine, chosen), start=1):
            (unfinished / file_name(line, written)).write_text(page(line), "utf-8", newline="\n")
            if progress is not None:
                progress(written)
    return written


def export_lines(
    engine: Engine,
    target: IO[str],
    progress: Callable[[int], None] | None = None,
    *,
    chosen: Chosen,
    runs: bool = False,
) -> int:
    """Write what is chosen, a memory a line, and with `runs` every run behind them; return how many memories."""
    written = 0
    for line in export_records(engine, chosen, runs=runs):
        target.write(to_line(line))
        if is_run(line):
            continue
        written += 1
        if progress is not None:
            progress(written)
    return written


def export_records(engine: Engine, chosen: Chosen, *, runs: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the memories that are chosen with all that is known of them, as they are at one moment, in their order.

    Behind the memories, with `runs`, comes every run.
    """
    with engine.read() as view:
        extra = _of_the_bank(view) if chosen.whole else {}
        for numbers in _pages(view, chosen):
            rows = view.load(numbers)
            shown = view.shown(numbers)
            leaving = links.leaving(view, numbers)
            complete = chosen.complete
            tallies = records.own_tallies(view, numbers) if complete else {n: row.tallies for n, row in rows.items()}
            merged = merges.into(view, numbers) if complete else {}
            # One that cannot be read leaves nothing; doctor names it.
            for n in (n for n in numbers if n in rows):
                more = (
                    as_field(shown_link(link, engine.rules) for link in leaving.get(n, ()))
                    | _kept(view, n, chosen)
                    | extra
                )
                more |= {"merged_into": merged[n]} if n in merged else {}
                counted = shown_tallies(tallies.get(n, ()), engine.rules)
                yield outgoing(shown[n], counted, trust.archived(view, n)) | more
                extra = {}
        if runs:
            yield from (run_record(run) for run in export_runs(view, engine.rules))


def _kept(view: View, n: int, chosen: Chosen) -> dict[str, Any]:
    kept = {"pins": pins.tags_of(view, n), "history": export_history(view, n) if chosen.history else []}
    return {name: value for name, value in kept.items() if value}
