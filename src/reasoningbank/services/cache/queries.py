"""The cache of queries: what was made of those asked last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from reasoningbank.embed.base import Embedder, EmbedderIdentity
from reasoningbank.embed.guarded import query_vector
from reasoningbank.errors import EmbeddingError
from reasoningbank.forks import renew_after_fork
from reasoningbank.screening.door import clean
from reasoningbank.screening.scrub import DEFAULT_RULES, RuleSet
from reasoningbank.search.terms import query_terms
from reasoningbank.vectors.base import Float32


@dataclass(frozen=True, slots=True)
class Query:
    """A query as both legs need it.

    Attributes:
        text: what was asked, without secrets: no embedder sees them, and no episode keeps them.
        terms: distinct, to ask the keyword index for.
        vector: (dim,) unit vector, read-only; None when it could not be embedded.
        embedder: whose vector it is.
        degraded: in words what did not work: without a vector, keywords still find; and what was not looked at.
    """

    text: str
    terms: tuple[str, ...]
    vector: Float32 | None
    embedder: EmbedderIdentity
    degraded: tuple[str, ...] = ()


LONGEST = 20_000
"""Characters of a query that are looked at: of a longer one, the first half of so many and the last."""

# What is cut off may be the half of a secret, which nobody would know for one: so much more is looked at, and dropped.
_MARGIN = 4_096
_HALF = LONGEST // 2


def without_secrets(text: str, rules: RuleSet) -> str:
    """Return a query as it may be embedded and kept, in time proportional to what is looked at of it."""
    if len(text) <= LONGEST:
        return clean(text, rules)
    first, last = text[: _HALF + _MARGIN], text[-_HALF - _MARGIN :]
    return f"{clean(first, rules)[:-_MARGIN]} … {clean(last, rules)[_MARGIN:]}"


def _ends(text: str) -> tuple[str, tuple[str, ...]]:
    """Return all of a query that is looked at, and what is to be said of the rest."""
    if len(text) <= LONGEST:
        return text, ()
    seen = _HALF + _MARGIN
    ends = text if len(text) <= 2 * seen else f"{text[:seen]}{text[-seen:]}"
    return ends, (f"the query has {len(text):,} characters: the first and the last {_HALF:,} were looked at",)


class QueryCache:
    """The queries asked last, by embedder identity and text. Safe for several threads."""

    def __init__(self, rules: RuleSet = DEFAULT_RULES, capacity: int = 1024) -> None:
        self._rules = rules
        self._capacity = capacity
        self._queries: OrderedDict[tuple[EmbedderIdentity, str, tuple[str, ...]], Query] = OrderedDict()
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start empty with a fresh lock: the fork may have come in the middle of a change."""
        self._queries, self._lock = OrderedDict(), threading.Lock()

    def __len__(self) -> int:
        """Return how many queries are kept."""
        return len(self._queries)

    def query(self, embedder: Embedder, text: str) -> Query:
        """Return a query with its vector and terms; one that could not be embedded is not kept."""
        text, cut = _ends(text)
        key = (embedder.identity, text, cut)
        with self._lock:
            kept = self._queries.get(key)
            if kept is not None:
                self._queries.move_to_end(key)
                return kept
        # Outside the lock: two threads may embed the same text, and none waits for another's model.
        text = without_secrets(text, self._rules)
        identity, terms = embedder.identity, tuple(query_terms(text))
        try:
            vector = query_vector(embedder, text)
        except EmbeddingError as error:
            why = f"the query was not embedded ({error}); searched by keyword only"
            return Query(text, terms, None, identity, (*cut, why))
        vector.setflags(write=False)
        made = Query(text, terms, vector, identity, cut)
        with self._lock:
            self._queries[key] = made
            while len(self._queries) > self._capacity:
                self._queries.popitem(last=False)
        return made
