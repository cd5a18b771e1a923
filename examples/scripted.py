"""A stand-in for a language model, so that the examples run without one: it believes the lessons it is shown."""

import csv
from collections.abc import Callable

LINE = '7,"Doe, Jane",Oslo'
FIELDS = ["7", "Doe, Jane", "Oslo"]

# What it can think of: the usual first idea, and what a lesson may say.
NAIVE, CAREFUL = "line.split(',')", "next(csv.reader([line]))"
CODE: dict[str, Callable[[str], list[str]]] = {
    NAIVE: lambda line: line.split(","),
    CAREFUL: lambda line: next(csv.reader([line])),
}


def write_code(prompt: str) -> str:
    """Answer with a Python expression that splits `line` into its fields."""
    return CAREFUL if "csv.reader" in prompt else NAIVE


def works(code: str) -> bool:
    """Try an answer on a real line: this is the judge, and it knows nothing of lessons."""
    return code in CODE and CODE[code](LINE) == FIELDS
