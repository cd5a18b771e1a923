"""A memory: one lesson, what it says, where it came from, and its limits."""

from __future__ import annotations

import json
import re
import unicodedata
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, JsonValue, TypeAdapter

from reasoningbank import moments
from reasoningbank.errors import InvalidInputError, LimitExceededError
from reasoningbank.verdict import Verdict

TITLE_LIMIT = 200
DESCRIPTION_LIMIT = 1_000
CONTENT_LIMIT = 20_000
TAG_LIMIT = 64
TAGS_LIMIT = 64
ID_LIMIT = 200
METADATA_LIMIT = 65_536
SIGNATURE_LIMIT = 20_000  # as it is given: a whole output may be
SIGNATURES_LIMIT = 16

# What a lesson may be of.
OUTCOMES = (Verdict.SUCCESS, Verdict.FAILURE)

# What a memory says: when one of these changes, its evidence starts anew.
SAID = ("title", "content", "description", "applies_when")

# The belief a memory starts from, by where it came from (docs/guides/confidence.md).
CONFIDENCE_BY_HAND = 0.8
CONFIDENCE_FROM_SUCCESS = 0.6
CONFIDENCE_FROM_FAILURE = 0.5
CONFIDENCE_IMPORTED = 0.6


DOUBT: Final = "in doubt: "
"""How a finding begins that does not suffice to quarantine a memory."""


class State(StrEnum):
    """Whether a memory is served."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"


def clean_text(text: str) -> str:
    """Return `text` in NFC, with NULs and lone surrogates as U+FFFD, so that it can always be written as UTF-8."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFC", repaired).replace("\0", "\ufffd")


def _clean(value: object) -> object:
    return clean_text(value) if isinstance(value, str) else value


def is_blank(text: str) -> bool:
    """Tell whether `text` holds nothing a reader could see."""
    return not any(unicodedata.category(c)[0] not in "ZC" for c in text)


Text = Annotated[str, BeforeValidator(_clean)]


def within(field: str, text: str, limit: int) -> str:
    """Return a text that is no longer than `limit`; LimitExceededError, which names its field, when it is."""
    if len(text) > limit:
        raise LimitExceededError(field, limit=limit, actual=len(text))
    return text


def filled(field: str, text: str, limit: int, hint: str) -> str:
    """Return a text that is not blank, as `within` does; InvalidInputError, which gives the hint, when it is."""
    if is_blank(text):
        raise InvalidInputError(f"{field} is empty: {hint}")
    return within(field, text, limit)


def _tag_list(value: object) -> object:
    if isinstance(value, str):
        raise InvalidInputError(f"tags is the text {value!r}: give a list of tags, such as [{value!r}]")
    return [_clean(v) for v in value] if isinstance(value, (list, tuple, set, frozenset)) else value


def _check_signatures(signatures: object) -> object:
    if isinstance(signatures, str):
        raise InvalidInputError("signatures is a text: give a list of error messages or outputs")
    if not isinstance(signatures, (list, tuple)):
        return signatures
    if len(signatures) > SIGNATURES_LIMIT:
        raise LimitExceededError("signatures", limit=SIGNATURES_LIMIT, actual=len(signatures), unit="signatures")
    return [
        within("signature", clean_text(one), SIGNATURE_LIMIT) if isinstance(one, str) else one for one in signatures
    ]


def _check_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tag.strip() for tag in tags if not is_blank(tag)))
    if len(tags) > TAGS_LIMIT:
        raise LimitExceededError("tags", limit=TAGS_LIMIT, actual=len(tags), unit="tags")
    for tag in tags:
        within("tag", tag, TAG_LIMIT)
    return tags


def json_value(value: Any, key: str) -> Any:
    """Return `value` with cleaned strings; InvalidInputError, which names its key, for what strict JSON cannot hold."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise InvalidInputError(f"metadata key {name!r} under {key!r} is not a text: use text keys")
        return {clean_text(name): json_value(item, name) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item, key) for item in value]
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"metadata {key!r} holds {type(value).__name__} {value!r}, which JSON cannot: "
            "give a text, a finite number, a boolean, null, a list or a dictionary"
        ) from None
    return value


def _check_metadata(metadata: object) -> object:
    if not isinstance(metadata, dict):
        return metadata
    try:
        cleaned = json_value(metadata, "metadata")
    except RecursionError:
        raise InvalidInputError("metadata is nested too deeply, or holds itself: flatten it") from None
    size = len(json.dumps(cleaned, ensure_ascii=False))
    if size > METADATA_LIMIT:
        raise LimitExceededError("metadata", limit=METADATA_LIMIT, actual=size)
    return cleaned


def _check_outcome(outcome: object) -> object:
    if outcome not in OUTCOMES:
        raise InvalidInputError(f"outcome {outcome!r:.80} is not one of {', '.join(OUTCOMES)}")
    return outcome


Title = Annotated[
    Text, AfterValidator(lambda t: filled("title", t.strip(), TITLE_LIMIT, "name the lesson in a few words"))
]
Content = Annotated[Text, AfterValidator(lambda t: filled("content", t, CONTENT_LIMIT, "say what to do"))]
Description = Annotated[Text, AfterValidator(lambda t: within("description", t.strip(), DESCRIPTION_LIMIT))]
AppliesWhen = Annotated[Text, AfterValidator(lambda t: within("applies_when", t.strip(), DESCRIPTION_LIMIT))]
Outcome = Annotated[Verdict, BeforeValidator(_check_outcome)]
Tags = Annotated[tuple[str, ...], BeforeValidator(_tag_list), AfterValidator(_check_tags)]
Signatures = Annotated[tuple[str, ...] | None, BeforeValidator(_check_signatures)]
Metadata = Annotated[dict[str, JsonValue], BeforeValidator(_check_metadata)]
OccurredAt = Annotated[datetime | None, BeforeValidator(lambda at: moments.maybe("occurred_at", at))]
ExpiresAt = Annotated[datetime | None, BeforeValidator(lambda at: moments.maybe("expires_at", at))]
Probability = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Source(BaseModel, frozen=True, extra="forbid"):
    """Where a memory came from.

    `by` is the person, agent or system that brought it; `session` the run it came from. An untrusted source can take
    only one slot of a result.
    """

    how: Literal["manual", "distilled", "imported", "replicated"] = "manual"
    by: Text | None = Field(default=None, max_length=200)
    session: Text | None = Field(default=None, max_length=200)
    trusted: bool = True


class Draft(BaseModel, frozen=True, extra="forbid"):
    """A lesson as somebody wants it stored: checked and cleaned, not yet stored.

    `signatures` are the errors it answers, as messages or as whole outputs; None for those that its text names.
    """

    title: Title
    content: Content
    outcome: Outcome
    description: Description = ""
    applies_when: AppliesWhen = ""
    tags: Tags = ()
    confidence: Probability | None = None
    source: Source = Source()
    metadata: Metadata = Field(default_factory=dict)
    signatures: Signatures = None
    occurred_at: OccurredAt = None
    expires_at: ExpiresAt = None

    @property
    def initial_confidence(self) -> float:
        """The stated confidence, or the one that goes with how the lesson came."""
        if self.confidence is not None:
            return self.confidence
        if self.source.how == "manual":
            return CONFIDENCE_BY_HAND
        if self.source.how == "distilled":
            return CONFIDENCE_FROM_SUCCESS if self.outcome is Verdict.SUCCESS else CONFIDENCE_FROM_FAILURE
        return CONFIDENCE_IMPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A stored lesson, as it was when it was read. What it holds was checked when it was written, as a Draft.

    Attributes:
        id: unique in the project.
        content: what to do (or not to do).
        description: one sentence on what it is about.
        applies_when: when it applies, and when not.
        outcome: of the run it was learned from.
        confidence: the bank's present belief that it helps, strictly between 0 and 1.
        initial_confidence: the belief it started from.
        usage_count: how often it was handed out by recall.
        last_used: when that was last, in UTC.
        revision: grows each time what it says changes; evidence counts for one revision only.
        findings: signs of planted instructions: those that a memory was quarantined for, or, each beginning with
            "in doubt: ", those that are no reason to withhold it.
        signatures: the errors that it answers, as `recall_failure` knows them again.
        occurred_at: when what it tells of happened, in UTC; None when nobody said.
        expires_at: from then on it is not served; None for never.
    """

    id: str
    project: str
    title: str
    content: str
    description: str = ""
    applies_when: str = ""
    outcome: Verdict
    tags: tuple[str, ...] = ()
    confidence: float
    initial_confidence: float
    state: State = State.ACTIVE
    usage_count: int = 0
    last_used: datetime | None = None
    source: Source = field(default_factory=Source)
    metadata: dict[str, JsonValue] = field(default_factory=dict)
    revision: int = 0
    created_at: datetime
    updated_at: datetime
    findings: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    expires_at: datetime | None = None

    @property
    def happened_at(self) -> datetime:
        """When what it tells of happened, as far as it is known: else when it was recorded."""
        return self.occurred_at or self.created_at

    @property
    def doubted(self) -> bool:
        """Whether it is served in doubt: behind others that fit as well, until a person approves it."""
        # Nearly all have none, and this is asked of every candidate of a search.
        found, active = self.findings, self.state is State.ACTIVE
        return bool(found) and active and any(finding.startswith(DOUBT) for finding in found)

    def has_expired(self, now: datetime) -> bool:
        """Tell whether it is not served any more."""
        return self.expires_at is not None and self.expires_at <= now

    def as_json(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        fields: dict[str, Any] = _AS_JSON.dump_python(self, mode="json")
        return fields


_AS_JSON = TypeAdapter(Memory)


_CLOSING_MARKS = re.compile(r"!+(?=\s|$)")


class _Folded(dict[int, str]):
    """What stays of each character: itself where it means something, else a blank. It is told once of each."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        kept = character.isalnum() or character in "-*/\\#%@&!^" or category in {"Mn", "Mc", "Me", "Sm", "Sc", "So"}
        self[code] = character if kept else " "
        return self[code]


# For `str.translate`; of ASCII with its case folded, for texts that need no other folding.
_FOLDED = _Folded({code: chr(code).lower() for code in range(128) if chr(code).isalpha()})


def fingerprint_text(title: str, content: str) -> str:
    """Return what stays of a lesson's words when case, spacing, punctuation and Unicode form are set aside.

    Two lessons with one fingerprint text are the same lesson, trivially rewritten. What carries meaning is kept: the
    vowel signs of scripts that write them as marks, symbols (<=, €, ✅), and the punctuation of code and shells.
    """
    folded = f"{title}\n{content}"
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded).casefold()
    # "Careful!" is "careful"; `!grep` and `a != b` are what they are.
    if "!" in folded:
        folded = _CLOSING_MARKS.sub(" ", folded)
    return " ".join(folded.translate(_FOLDED).split())


def own(memory: Memory) -> Memory:
    """Return a memory from the cache as a caller may have it: what they do to its metadata stays theirs."""
    return replace(memory, metadata=deepcopy(memory.metadata)) if memory.metadata else memory
