"""What in a lesson is specific to one project: paths, hosts, ids, people, and names that the caller knows.

Signs that people can read, with their places; nothing here decides. What is not found may still be specific, which is
what a review is for; what is found may be harmless, which a person says by promoting it all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Specific:
    """One place in a lesson that is specific to a project.

    Attributes:
        kind: path, host, id, person or name.
        field: which of the lesson's fields.
        start, end: its place in that text, in characters.
        text: what stands there.
    """

    kind: str
    field: str
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text!r} in {self.field} at {self.start}"


# Given names that are common and no words: a capitalised word behind one is a family name.
_GIVEN: Final = (
    "Aisha|Alexander|Alice|Amelia|Amit|Ana|Anders|Andreas|Anita|Anna|Anne|Antonio|Barbara|Beatriz|Benjamin|Bjorn|"
    "Brian|Carlos|Carmen|Caroline|Catherine|Charles|Chen|Christian|Christine|Claire|Daniel|David|Deepak|Diego|Dmitri|"
    "Edward|Elena|Elizabeth|Emily|Emma|Eric|Erik|Fatima|Felix|Fernando|Francesca|Frank|Gabriel|George|Giulia|Hannah|"
    "Hans|Harry|Helen|Henrik|Hiroshi|Ingrid|Isabel|Ivan|Jack|Jacob|James|Jan|Jane|Javier|Jennifer|Jessica|Johan|John|"
    "Jonas|Jose|Joseph|Juan|Julia|Karen|Karl|Katharina|Kenji|Kevin|Klaus|Lars|Laura|Li|Linda|Lisa|Lucas|Luis|Magnus|"
    "Manuel|Marco|Maria|Marie|Martin|Mary|Mateo|Matthew|Michael|Miguel|Mohammed|Muhammad|Nadia|Natalia|Nicolas|Nina|"
    "Olga|Oliver|Olivia|Omar|Oscar|Patricia|Paul|Pavel|Pedro|Peter|Philipp|Pierre|Priya|Rachel|Rahul|Raj|Richard|"
    "Robert|Sandra|Sanjay|Sara|Sarah|Sergei|Simon|Sofia|Sophie|Stefan|Stephen|Steven|Susan|Sven|Thomas|Tomas|Ulrich|"
    "Victor|Vladimir|Walter|Wei|William|Yuki|Yusuf"
)
_CUES: Final = (
    r"(?:[Aa]sk|[Tt]ell|[Pp]ing|[Cc]ontact|[Cc]all|[Ee]mail|[Nn]otify|[Oo]wned by|[Ww]ritten by|"
    r"Mr\.?|Mrs\.?|Ms\.?|Dr\.?)"
)
_TLDS: Final = (
    "com|net|org|io|dev|app|cloud|internal|local|corp|lan|intra|home|edu|gov|mil|"
    "de|fr|uk|eu|nl|ch|at|se|jp|cn|in|br|us|ca|au"
)

_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("host", re.compile(r"\b(?:https?|ftp|wss?|git|ssh|s3|gs|postgres(?:ql)?|mysql|redis|amqp|jdbc:\w+)://[^\s'\"`<>)\]]+")),
    ("person", re.compile(r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b")),
    ("host", re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.])")),
    ("host", re.compile(rf"(?<![\w./@-])[a-zA-Z0-9][\w-]*(?:\.[\w-]+)*\.(?:{_TLDS})(?::\d{{1,5}})?\b(?![\w(.-])")),
    ("id", re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)),
    ("id", re.compile(r"\barn:[\w-]+:[^\s'\"`]+")),
    ("path", re.compile(r"(?<![\w.])(?:~|\$HOME|%USERPROFILE%)?/[\w.@+-]+(?:/[\w.@+*-]+)+/?|(?<!\w)~/[\w.@+-]+")),
    ("path", re.compile(r"(?<!\w)[A-Za-z]:\\[\w .@+-]+(?:\\[\w .@+-]+)*|\\\\[\w.-]+\\[\w$.\\-]+")),
    ("path", re.compile(r"(?<![\w./-])(?:\.{1,2}/)?[\w.@+-]+(?:/[\w.@+-]+)+\.[A-Za-z]\w{0,7}\b")),
    ("id", re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{10,64}\b")),
    ("id", re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{2,}\b")),
    ("id", re.compile(r"(?<![\w.,-])#?\d{6,}(?![\w.,-]*\w)|(?<!\w)#\d{2,}\b")),
    ("person", re.compile(rf"\b(?:{_GIVEN}) [A-Z][a-z]{{1,20}}(?:-[A-Z][a-z]+)?\b")),
    ("person", re.compile(rf"\b{_CUES} (?P<it>[A-Z][a-z]{{2,20}}(?: [A-Z][a-z]{{1,20}})?)\b")),
    ("person", re.compile(r"(?<![\w`@/.])@(?P<it>[a-z][\w-]{2,38})(?![\w(./:-])")),
)  # fmt: skip

# They are the same everywhere.
_COMMON: Final = re.compile(
    r"(?:https?://)?(?:[\w-]+\.)*(?:example\.(?:com|org|net)|localhost)\b.*"
    r"|(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|255\.\d.*|169\.254\.169\.254)\b.*"
    r"|/(?:tmp|dev|proc|sys|usr|bin|sbin|lib|etc|opt/homebrew)(?:/.*)?"
    r"|(?:UTF|ISO|RFC|SHA|AES|CVE|HTTP|PEP|TLS|CP|RSA|MD|IEEE|ECMA|KB|ES|US|ASCII|UCS|GB|EUC|WCAG|CWE)\d?-\d+"
    r"|(?:node|asp|vb)\.(?:js|net)|\.net",
    re.IGNORECASE,
)


def specifics(texts: Mapping[str, str], names: Sequence[str] = ()) -> tuple[Specific, ...]:
    """Return what of a lesson's texts is specific to a project, by field in their order, and by place.

    Args:
        texts: the texts, by the name of their field.
        names: what else is specific: the project's name, customers, code names; whatever their case, as whole words.
    """
    rules = [*_RULES, *(("name", _word(name)) for name in names if name.strip())]
    return tuple(sorted(_every(texts, rules), key=lambda one: ([*texts].index(one.field), one.start)))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name.strip())}(?!\w)", re.IGNORECASE)


def _every(texts: Mapping[str, str], rules: Sequence[tuple[str, re.Pattern[str]]]) -> Iterator[Specific]:
    for field, text in texts.items():
        taken: list[tuple[int, int]] = []
        for kind, form in rules:
            for match in form.finditer(text):
                start, end = match.span("it" if "it" in form.groupindex else 0)
                found = text[start:end].rstrip(".,;:")
                end = start + len(found)
                if any(start < there[1] and there[0] < end for there in taken):
                    continue
                taken.append((start, end))
                if not _COMMON.fullmatch(found):
                    yield Specific(kind, field, start, end, found)
