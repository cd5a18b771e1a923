"""What a task asks for: its words without who asks, how politely, and what a harness put around them."""

from __future__ import annotations

import re

# Words for one deed: a word of the task and the name of a tool meet in a row. A word may stand in several rows.
DEEDS = (
    ("book", "reserve", "purchase", "buy", "order"),
    ("cancel",),
    ("change", "modify", "update", "edit", "upgrade", "downgrade", "switch", "reschedule", "add", "remove"),
    ("delete", "remove", "drop", "erase"),
    ("add", "insert", "append", "create", "generate", "write", "build"),
    ("send", "email", "notify", "post", "reply"),
    ("move", "rename", "copy"),
    ("install", "deploy", "publish", "release"),
    ("return", "exchange", "replace"),
)
ROWS = {word: frozenset(n for n, row in enumerate(DEEDS) if word in row) for row in DEEDS for word in row}
NEGATION = re.compile(r"(?i)\b(?:not|n't|never|without|no|instead of|avoid|don.t|neither|nor)\b[^.!?;,]{0,30}$")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n+")
MARKUP = re.compile(r"[*_`#]{2,}|^#+\s*|`", re.MULTILINE)
FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")

# A harness's frame around the task: what stands inside is the task.
FRAMES = (
    *("pr_description", "issue", "issue_description", "problem_statement", "task", "task_description", "instruction"),
    *("instructions", "user_query", "query", "question", "request"),
)
MARKED = re.compile(
    r"(?ms)^[#* \t]*(?:ISSUE|TASK|PROBLEM|PROBLEM STATEMENT|REQUEST|USER REQUEST)[*]*:[*]*[ \t]*\n?"
    r"(.+?)(?=^[#* \t]*[A-Z][A-Z ]{5,40}[*]*:|\Z)"
)
GREET = (
    r"(?:hi|hello|hey|hiya|greetings|dear|good (?:morning|afternoon|evening|day)|hallo|guten tag|bonjour|hola|ciao)\b"
)
THANK = r"(?:thanks|thank you|thx|cheers|merci|danke|gracias)\b"
GREETING = re.compile(
    rf"(?i)^(?:\s*(?:{GREET} (?:there|all|everyone|everybody|team|folks|again|guys|claude|chatgpt)\b[\s,!.:;–—-]*|"
    rf"{GREET}(?: \w+)?\s*(?:[,!.:;–—-]+\s*|$)|"
    rf"{THANK}(?: (?:so much|a lot|in advance|very much|again|for (?:your )?(?:help|time|the help)))*[\s,!.]*$|"
    r"(?:i )?hope (?:you(?:'re| are)|this|all|everything|you)\b[^.!?]*[.!?]*|how are you\b[^.!?]*[.!?]*|"
    r"you(?:'re| are) (?:very |most )?welcome[\s!.]*$|"
    r"(?:sure|ok|okay|great|perfect|alright|got it|no problem|bye|goodbye|please)[\s,!.]*$))+"
)
BOILERPLATE = re.compile(
    r"""(?ix)
        ^(?: we(?:'re|\ are)\ currently\ solving | here(?:'s|\ is)\ the\ (?:issue|task|problem) | i(?:'ve|
        \ have)\ uploaded\ | you\ have\ access\ to | consider\ the\ following |
        can\ you\ help\ me\ implement\ the\ necessary | now,?\ you(?:'re|\ are)\ going\ to |
        your\ thinking\ should | you\ will\ be\ given | you\ must\ (?:use|respond|answer|reply) |
        (?:please\ )?follow\ these\ (?:steps|rules|instructions) | submit\ (?:your|the)\ | note\ that\ you |
        respond\ (?:only|with) | (?:steps\ to\ reproduce|describe\ the\ bug|description|expected(?:\ behaviou?r)?|
        actual(?:\ behaviou?r)?|environment|summary|bug\ report|version)\W*$ | </?[\w-]+>\s*$ | https?://\S+$ )"""
)
PERSONA = re.compile(r"(?i)^(?:(?:you|i)(?: are|'re|'m| am)|your name is|my name is|your user id|act as|you,)\b")
AND_WANT = re.compile(r"(?i)^.{0,60}?\b(?:and|,) (?:you|i) (?:want|need|would like|wish) (?=to\b)")
ASKING = re.compile(
    r"""(?ix)
        ^(?: (?:please|now|so|for\ now|for\ your\ next\ task)[,!]?\ |
        (?:hi|hello|hey)[,!]?\ (?=(?:can|could|would|please|i|you|we)\b) | (?:you|i)(?:'d|
        \ would)?\ (?:also\ )?(?:want|wants|need|like|wish|have)\ (?:the\ agent\ |you\ )?to\  | (?:can|could|
        would)\ you\ (?:please\ )?(?:help\ me\ )?(?:to\ )? | your\ task\ is\ to\  | help\ me\ (?:to\ )? )+"""
)


# "Could you fix it?" says nothing without the sentence before it.
POINTING = re.compile(
    r"(?i)^.{0,40}\b(?:fix|look(?: in)?to|do|solve|handle|help(?: me)?(?: with)?|check|investigate|debug) "
    r"(?:it|this|that|these)\b.{0,12}$"
)
FOUND = re.compile(
    r"(?i)^i(?:'ve| have)? (?:just |recently )?(?:found|noticed|discovered|realized|realised|saw|see) (?:out )?that "
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without Markdown marks, each on one line."""
    parts = (" ".join(part.split()).strip(" -") for part in SENTENCE.split(MARKUP.sub("", text)))
    return [part for part in parts if any(c.isalnum() for c in part)]


def goal(task: str) -> str:
    """Return what is asked for, what is wanted first.

    Left out are who asks and how politely, greetings, blocks of code, and what a harness put around the task.
    """
    spoken = [GREETING.sub("", sentence).strip() for sentence in sentences(FENCED.sub("\n", _inside(task)))]
    spoken = [sentence for sentence in spoken if any(c.isalnum() for c in sentence)]
    plain = [sentence for sentence in spoken if not BOILERPLATE.match(sentence)] or spoken
    said = [AND_WANT.sub("I want ", sentence) for sentence in plain]
    told = [sentence for sentence in said if ASKING.match(sentence) or not PERSONA.match(sentence)] or said
    first = next((n for n, sentence in enumerate(told) if ASKING.match(sentence) and not POINTING.search(sentence)), 0)
    asked = [FOUND.sub("", ASKING.sub("", sentence)) for sentence in [*told[first:], *told[:first]]]
    return " ".join(sentence[:1].upper() + sentence[1:] for sentence in asked)


def _inside(task: str) -> str:
    """Return what a harness's frame holds, the whole text where there is none."""
    framed = [_between(task, f"<{name}>", f"</{name}>") for name in FRAMES]
    longest = max(framed, key=len)
    marked = MARKED.search(task)
    return longest or (marked[1] if marked and marked[1].strip() else task)


def _between(text: str, opening: str, closing: str) -> str:
    start = text.find(opening)
    end = text.find(closing, start)
    inside = text[start + len(opening) : end] if 0 <= start < end else ""
    return inside if any(c.isalnum() for c in inside) else ""


def deeds(text: str) -> dict[str, frozenset[int]]:
    """Return the deeds a text speaks of, each with its rows; those that are negated are left out."""
    found: dict[str, frozenset[int]] = {}
    for match in re.finditer(r"[^\W\d_]+", text):
        verb = FORMS.get(match.group().lower())
        if verb in NOUNS and not (TO.search(text, 0, match.start()) or OBJECT.match(text, match.end())):
            continue
        if verb and match.group().lower().endswith("ed") and not DONE_TO.search(text, 0, match.start()):
            continue  # "I booked it": that was done before
        if verb and not NEGATION.search(text[max(0, match.start() - 40) : match.start()]):
            found.setdefault(verb, ROWS[verb])
    return found


def _forms(verb: str) -> tuple[str, ...]:
    stem, doubled = verb.removesuffix("e"), verb + verb[-1]
    return verb, f"{verb}s", f"{stem}ed", f"{stem}ing", f"{doubled}ed", f"{doubled}ing", f"{doubled}ation"


# These are as often nouns: only "to return", or "return it", is a deed.
NOUNS = frozenset({"return", "exchange", "order", "book", "post", "copy", "release", "reply", "email"})
TO = re.compile(r"(?i)(?:\b(?:to|and|please|then|will|must|should) $)")
# "to be cancelled", "have it changed": only so is what has been done what is asked for.
DONE_TO = re.compile(
    r"(?i)\b(?:(?:be|being|get|gets|getting)(?: \w+ly)?|"
    r"(?:want|wants|need|needs|like|have|get)(?: (?!to\b|that\b|i\b|you\b)\w+){1,5}) $"
)
OBJECT = re.compile(r"(?i) (?:the|an?|my|your|it|them|this|that|these|one|all|both|two|new|another)\b")
FORMS = {form: verb for verb in ROWS for form in _forms(verb)}
