"""Every check of an argument, once. The bank checks what it is given; services take what was checked.

Each returns what was given, as it is used from then on. What is not allowed raises InvalidInputError, which says why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from reasoningbank import moments
from reasoningbank.checks import of_exit_code
from reasoningbank.errors import InvalidInputError, in_short
from reasoningbank.filters import SERVED, FilterOptions, Filters, conditions, sources, tag_lists, text_list
from reasoningbank.graph.nodes import NodeKind, as_kind
from reasoningbank.judgement import Judgement, as_judgement
from reasoningbank.memory import ID_LIMIT, OUTCOMES, State, clean_text, is_blank, within
from reasoningbank.screening.door import checked_name
from reasoningbank.signals import SignalKind
from reasoningbank.storage.records import LATEST
from reasoningbank.validation import unknown_name
from reasoningbank.verdict import Verdict, as_verdict

if TYPE_CHECKING:
    from reasoningbank.search.holdout import Holdout
    from reasoningbank.search.ranking import Policy
    from reasoningbank.storage.graph import NodeFilters

LONGEST_PAGE = 1_000
VOTES = (SignalKind.EXPLICIT, SignalKind.OUTCOME, SignalKind.STABILITY)

Label = TypeVar("Label", bound=StrEnum)
Word = TypeVar("Word", bound=str)


# -- numbers, labels and flags ---------------------------------------------------------------------------------------


def whole(name: str, given: object, least: int, most: int | None = None) -> int:
    """Return a whole number within its limits, which belong to them."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least or (most is not None and given > most):
        limits = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise InvalidInputError(f"{name} {in_short(given)} is not a whole number {limits}")
    return given


def page_limit(given: object) -> int:
    """Return how many a page is to hold, 1 to 1,000."""
    return whole("limit", given, 1, LONGEST_PAGE)


def number(name: str, given: object, least: float, most: float | None = None) -> float:
    """Return a number within its limits, which belong to them."""
    highest = most if most is not None else float("inf") if isinstance(given, float) else sys.float_info.max
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not least <= given <= highest:
        limits = f"of at least {least:g}" if most is None else f"from {least:g} to {most:g}"
        raise InvalidInputError(f"{name} {in_short(given)} is not a number {limits}")
    return float(given)


def seconds(timeout: object) -> float | None:
    """Return how long something may take: a number of at least 0; None is as long as it takes."""
    return None if timeout is None else number("timeout", timeout, 0)


def flag(name: str, given: object) -> bool:
    """Return a yes or no."""
    if not isinstance(given, bool):
        raise InvalidInputError(f"{name} {given!r:.80} is neither True nor False")
    return given


def label(kind: type[Label], name: str, given: Label | str, allowed: Sequence[Label] = ()) -> Label:
    """Return a label, matched whole: one that is allowed, or any of its kind."""
    return one_of(name, given, allowed or tuple(kind))


def one_of(name: str, given: str, allowed: Sequence[Word]) -> Word:
    """Return one of the words that are allowed, matched whole."""
    if given not in allowed:
        raise InvalidInputError(f"{name} {given!r:.80} is not one of {', '.join(allowed)}")
    return allowed[allowed.index(given)]


def vote_kind(given: str) -> SignalKind:
    """Return what kind of evidence a vote is; use is counted by recall alone."""
    return label(SignalKind, "kind", given, VOTES)


def failure(
    output: object, tool: object, command: object, exit_code: object
) -> tuple[str, str | None, str | None, int | None]:
    """Return what failed: an output, which may be empty, a tool's name, a command and an exit code."""
    for name, text in (("output", output), ("tool", tool), ("command", command)):
        if not (isinstance(text, str) or (text is None and name != "output")):
            raise InvalidInputError(f"{name} is a {type(text).__name__}, not a text")
    if isinstance(exit_code, bool) or not (exit_code is None or isinstance(exit_code, int)):
        raise InvalidInputError(f"exit_code {exit_code!r:.80} is not a whole number")
    return str(output), tool, command, exit_code  # type: ignore[return-value]  # they were looked at one by one


# -- ids, references and cursors -------------------------------------------------------------------------------------


def identifier(name: str, given: object) -> str:
    """Return an id as it is stored: a text that is not blank, of up to 200 characters."""
    if not isinstance(given, str) or is_blank(given):
        raise InvalidInputError(f"{name} {given!r:.80} is not an id: use one that this bank returned")
    return checked_name(name, clean_text(within(name, given, ID_LIMIT)))


def memory_id(given: object) -> str:
    """Return a memory's id, as `identifier` does."""
    return identifier("memory id", given)


def memory_ids(given: Iterable[str]) -> dict[str, str]:
    """Return memories' ids as they are stored, by what was given: a list, and no single text."""
    if isinstance(given, str):
        raise InvalidInputError(f"memory ids is the text {given!r:.80}: give a list of ids")
    return {one: memory_id(one) for one in given}


def own_ids(given: Sequence[str | None] | None, count: int) -> Sequence[str | None]:
    """Return the ids that so many memories are to have, one for each; None for a new one."""
    if given is None:
        return [None] * count
    if len(given) != count:
        raise InvalidInputError(f"{len(given):,} ids for {count:,} lessons: give one for each, or None for a new one")
    return [None if one is None else memory_id(one) for one in given]


def reference(given: object, name: str = "ref") -> str | None:
    """Return a reference or thread as it is stored, of 1 to 200 characters, also from a UUID; None stays None."""
    if given is None:
        return None
    if isinstance(given, UUID):
        return str(given)
    if not isinstance(given, str) or is_blank(given) or len(given) > ID_LIMIT:
        raise InvalidInputError(f"{name} {given!r:.80} cannot be used: give a text of 1 to {ID_LIMIT} characters")
    return checked_name(name, clean_text(given))


def run_of(ref: object, thread: object) -> tuple[str | None, str | None]:
    """Return what a run is named by: exactly one of its reference and its thread."""
    named = reference(ref), reference(thread, "thread")
    if (named[0] is None) == (named[1] is None):
        raise InvalidInputError("give exactly one of ref and thread: the ref is what recall returned")
    return named


def episode_ref(given: object) -> str:
    """Return the reference of an episode, which must not be missing."""
    ref = reference(given)
    if ref is None:
        raise InvalidInputError("no ref: name the episode by the ref that recall returned")
    return ref


def source(given: object) -> str:
    """Return a source's name, which is not blank."""
    if not isinstance(given, str) or is_blank(given):
        raise InvalidInputError(f"source {given!r} is no name: give the `by` or the session that memories came from")
    return clean_text(given)


def cursor(of: str, position: int | None) -> str | None:
    """Return where the next page begins, as a text to be given back as `after`; None behind the last page.

    It names what is listed, so that a cursor of something else is not taken for one.
    """
    return None if position is None else f"{of}-{position}"


def position(of: str, after: object) -> int:
    """Read where a page of this list begins: the `next` of the page before; None is the start."""
    if after is None:
        return 0
    name, _, place = after.rpartition("-") if isinstance(after, str) else ("", "", "")
    if name != of or not (place.isascii() and place.isdigit()):
        raise InvalidInputError(f"after {after!r:.80} is not the `next` of a page of {of}: leave it out for the first")
    return int(place)


_NEWEST = "newest"


def cursor_at(place: tuple[int, str]) -> str:
    """Return where the next page begins of a list that is newest first: behind a row number and when that was."""
    n, happened = place
    return f"{_NEWEST}-{happened}-{n}"


def place(after: object) -> tuple[str, int]:
    """Read where a page begins of a list that is newest first; None is the start."""
    if after is None:
        return LATEST
    name, _, rest = after.partition("-") if isinstance(after, str) else ("", "", "")
    happened, _, n = rest.rpartition("-")
    if name != _NEWEST or not happened or not (n.isascii() and n.isdigit()):
        raise InvalidInputError(f"after {after!r:.80} is not the `next` of a page that is newest first: leave it out")
    return happened, int(n)


# -- what is looked for ----------------------------------------------------------------------------------------------


def query(given: object) -> str:
    """Return a query that holds something to search for."""
    if not isinstance(given, str) or is_blank(given):
        raise InvalidInputError(f"query {given!r:.80} holds nothing to search for: describe the task in words")
    return given


def policy(given: str) -> Policy:
    """Return a policy's name."""
    from reasoningbank.search.ranking import POLICIES

    if given not in POLICIES:
        raise InvalidInputError(f"no policy {given!r}: use one of {', '.join(POLICIES)}")
    return given


def judgement(given: object) -> Judgement:
    """Return what is said of a run. None, which a judge may return, is no report."""
    return as_judgement(as_verdict(given) if given is None else given)


def check_result(
    kind: object, result: object = None, exit_code: int | None = None, junit: str | os.PathLike[str] | None = None
) -> Judgement:
    """Return what a check says of a run, with its kind for who says so.

    Args:
        kind: what checks, such as "pytest".
        result: anything that `as_judgement` reads; or else one of the two others.
        exit_code: 0 is success. Of pytest only 0 and 1 say something; else an interrupt (130), and what could not be
            started (126, 127), say nothing.
        junit: a file with a test report in JUnit's XML.

    Raises:
        InvalidInputError: not exactly one of these, or a report that cannot be read.
    """
    name = reference(kind, "kind") or ""
    if sum(given is not None for given in (result, exit_code, junit)) != 1 or not name:
        raise InvalidInputError("name the check, and give exactly one of result, exit_code and junit, a file")
    if exit_code is not None:
        code = whole("exit_code", exit_code, -(2**31), 2**32)
        return Judgement(of_exit_code(code, name), (f"exit code {code}",), name)
    said = judgement(test_report(junit)) if junit is not None else judgement(result)
    return replace(said, by=name)


def test_report(file: str | os.PathLike[str]) -> str:
    """Return what a file with a test report holds."""
    try:
        return Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise InvalidInputError(f"the test report {file} cannot be read: {error.strerror or error}") from None


def holdout(given: object) -> Holdout | None:
    """Return what is to be withheld for comparison; None, the rule, for nothing."""
    if given in (0, None):
        return None
    from reasoningbank.search.holdout import as_holdout

    return as_holdout(given)


def tag_list(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return tags to filter by: a list of texts, and no single text."""
    return () if given is None else text_list("tags", given)


def tag(given: str | None) -> str | None:
    """Return a tag as memories have it; None when none is given."""
    if given is None:
        return None
    tags = tag_list([given])
    if not tags:
        raise InvalidInputError("tag is empty: name one, or leave it out")
    return tags[0]


def filters(given: FilterOptions, now: Callable[[], datetime]) -> Filters:
    """Return the filters of what is served; `now` is asked only for what is said as a span of time."""
    if not given:
        return SERVED
    for name in given:
        if name not in FilterOptions.__annotations__:
            raise InvalidInputError(f"unknown {unknown_name(str(name), FilterOptions.__annotations__)}")
    tags, since, until = tag_lists(given.get("tags")), given.get("since"), given.get("until")
    read = Filters(
        outcome=lesson_outcome(given.get("outcome")),
        tags=tags.get("all", ()),
        any_tags=tags.get("any", ()),
        no_tags=tags.get("none", ()),
        where=conditions(given.get("where")),
        sources=sources(given.get("source")),
        since=None if since is None else moments.since(since, now()),
        until=None if until is None else moments.until(until, now()),
    )
    if read.since is not None and read.until is not None and read.since >= read.until:
        raise InvalidInputError(f"nothing lies from since {since!s:.80} to until {until!s:.80}: turn them round")
    return read


def listed(
    given: FilterOptions,
    now: Callable[[], datetime],
    *,
    state: State | str | None,
    text: str | None = None,
    expired: bool | None,
) -> Filters:
    """Return the filters of what is listed: any state where None is given, and expired or not where None is given."""
    return replace(
        filters(given, now),
        states=tuple(State) if state is None else (label(State, "state", state),),
        text=clean_text(text or ""),
        alive_at=now() if expired is False else None,
        expired_by=now() if expired else None,
    )


def lesson_outcome(given: Verdict | str | None) -> Verdict | None:
    """Return what lessons are to be of, success or failure; None is either."""
    return None if given is None else label(Verdict, "outcome", given, OUTCOMES)


def node_filters(
    *, kind: NodeKind | str | None, conv_id: str | None = None, tags: Sequence[str] | None = None, served: bool = True
) -> NodeFilters:
    """Return the filters that these arguments ask for, of nodes of the graph."""
    from reasoningbank.storage.graph import NodeFilters

    return NodeFilters(
        kind=None if kind is None else as_kind(kind),
        conv_id=None if conv_id is None else clean_text(conv_id),
        tags=tag_list(tags),
        served=served,
    )
