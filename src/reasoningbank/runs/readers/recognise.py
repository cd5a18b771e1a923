"""Find the reader of a record, and read the runs that are in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from reasoningbank.errors import InvalidInputError
from reasoningbank.runs.readers import plain
from reasoningbank.runs.readers.found import Found, trajectory
from reasoningbank.runs.readers.messages import DIALECTS
from reasoningbank.runs.readers.parts import keys
from reasoningbank.runs.readers.table import CHAT, FORMS, PLAIN, STEPS, Form
from reasoningbank.runs.readers.values import is_list, is_record
from reasoningbank.runs.trajectory import Trajectory

DIALECT_NAMES = ("vercel-model", *dict.fromkeys(name for name, _ in DIALECTS))
# A stranger's record may be of any shape: what a reader trips over costs that record, and is told.
STUMBLES = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
DEPTH = 3  # of records in a record, in which runs are looked for
MANY = 100_000  # records of a record that are looked at


def known_forms() -> dict[str, str]:
    """Return the names of all forms, as `--format` takes them, each with what it is."""
    return {form.name: form.title for form in FORMS} | {name: f"messages as of {name}" for name in DIALECT_NAMES}


def recognised(record: Any) -> Form | None:
    """Return the first form of the table that a record fits; None if it fits none."""
    return next((form for form in FORMS if _fits(form, record)), None)


def _fits(form: Form, record: Any) -> bool:
    try:
        return form.fits(record)
    except STUMBLES:
        return False


def lines_form(records: Sequence[Any], form: str | None = None) -> Form | None:
    """Return the form in which the lines of a file are one record together; None when each line is a run.

    Args:
        records: the first lines of the file, as JSON.
        form: the name of the form, where it is not to be recognised.
    """
    if form is not None:
        chosen = named(form)
        return chosen if chosen.is_lines and recognised(records[0]) is None else None
    return next((form for form in FORMS if form.is_lines and _fits(form, records)), None)


def read_one(record: Any, form: str | None = None) -> Trajectory:
    """Read the one run in a record; InvalidInputError if there is none, or there are several."""
    runs = list(islice(read_all(record, form), 2))
    if len(runs) > 1:
        raise InvalidInputError("this record holds several runs: read them one by one, with distill.read_runs")
    return runs[0]


def read_all(record: Any, form: str | None = None) -> Iterator[Trajectory]:
    """Read the runs in a record, in their order.

    Args:
        record: what JSON or a framework gave.
        form: the name of its form, where it is not to be recognised.

    Raises:
        InvalidInputError: no form is recognised, the form is not known, or nothing in it was understood.
    """
    for _, each, its_form in split(record, form):
        yield from read_as(each, its_form)


def split(record: Any, form: str | None = None) -> Iterator[tuple[str, Any, Form | None]]:
    """Yield the records in a record that are read one by one: their place, themselves, and their form.

    The form is None of an item of a list of runs that is none.

    Raises:
        InvalidInputError: no form is recognised in it, or the form is not known.
    """
    chosen = recognised(record) if form is None else named(form)
    if chosen is not None:
        yield "", record, chosen
        return
    if is_list(record):
        items = [(f"[{number}]", each, _form_of(each)) for number, each in enumerate(record)]
        if any(item_form is not None for _, _, item_form in items):
            yield from items
            return
    inner = list(_records_in(record, DEPTH))
    if not inner:
        raise unrecognised(record)
    yield from inner


def _form_of(record: Any) -> Form | None:
    return recognised(record) if isinstance(record, Mapping) or is_list(record) else None


def read_as(record: Any, form: Form | None) -> Iterator[Trajectory]:
    """Read the runs in a record of a form.

    Raises:
        InvalidInputError: there is none, nothing in it was understood, or its reader stumbles over it.
    """
    if form is None:
        raise unrecognised(record)
    some = False
    try:
        for found in form.read(record):
            some = True
            yield _checked(trajectory(found, (form.has_dialects and found.form) or form.name), found, form)
    except STUMBLES as error:
        if isinstance(error, InvalidInputError):
            raise
        what = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200]
        raise InvalidInputError(f"this looks like {form.title}, and cannot be read ({what})") from error
    if not some:
        raise InvalidInputError(f"this looks like {form.title}, and there is no run in it")


def _checked(run: Trajectory, found: Found, form: Form) -> Trajectory:
    """Return a run; InvalidInputError when nothing in its record was understood."""
    # Messages and our own form may well be empty; any other file that gives nothing, and says nothing, was not read.
    nothing_said = not run.left_out and form not in (CHAT, PLAIN)
    if run.is_empty and not run.task and (found.ledger.tools_unclear or nothing_said):
        what = "; ".join(map(str, run.left_out)) or "there are no words of a run"
        raise InvalidInputError(f"this looks like {form.title}, and nothing in it was understood: {what}")
    return run


def named(name: str) -> Form:
    """Return the form of this name; InvalidInputError, which names all, when there is none."""
    if name in DIALECT_NAMES:
        return CHAT
    form = next((form for form in FORMS if form.name == name), None)
    if form is None:
        raise InvalidInputError(f"form {name!r:.60} is not known: choose one of {', '.join(known_forms())}")
    return form


def _run_form(record: Any) -> Form | None:
    """Return the form of what is found inside a record: there, a word such as "task", or some texts, make no run."""
    form = _form_of(record)
    weak = (form is PLAIN and not plain.has_view(record)) or (form is STEPS and not plain.are_steps(record))
    return None if weak else form


def _records_in(record: Any, depth: int, place: str = "") -> Iterator[tuple[str, Any, Form | None]]:
    """Yield the records inside a record that a form is recognised in, each with its place and form."""
    named_values = record.items() if isinstance(record, Mapping) else enumerate(record) if is_list(record) else ()
    for name, each in islice(named_values, MANY):
        at = f"{place}.{name!s:.60}" if isinstance(record, Mapping) else f"{place}[{name}]"
        form = _run_form(each)
        if form is not None:
            yield at.lstrip("."), each, form
        elif depth > 1:
            yield from _records_in(each, depth - 1, at)


def unrecognised(record: Any) -> InvalidInputError:
    """Return the error that names the keys of a record in which no run was found, and the forms that are known."""
    first = record[0] if is_list(record) and record else record
    seen = f"keys seen: {', '.join(keys(first)) or 'none'}" if is_record(first) else f"it is a {type(first).__name__}"
    return InvalidInputError(
        f"a run cannot be read from {type(record).__name__}: give a Trajectory, a dictionary with task and steps, or "
        f"messages; {seen}; forms known: {', '.join(known_forms())}"
    )
