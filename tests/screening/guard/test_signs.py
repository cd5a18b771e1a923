"""The table of signs: every chain can stand, and every word can be found."""

from __future__ import annotations

import pytest

from reasoningbank.screening.guard.chains import standing
from reasoningbank.screening.guard.signs import CLASSES, SIGNS, Sign
from reasoningbank.screening.prefilter import look

TOLD_BY_FORM = {"ADDRESS": "https://x.example.org", "CODE": "AC-200", "ACCOUNT_NUMBER": "4482 9911"}


def signs_in(text: str) -> set[tuple[str, float]]:
    return {(sign, weight) for sign, weight, _ in standing(text, look(text))}


def in_words(sign: Sign) -> str:
    return " ".join(TOLD_BY_FORM.get(name) or CLASSES[name][0] for name in (*sign.chain, *sign.also))


@pytest.mark.parametrize("sign", SIGNS, ids=in_words)
def test_every_sign_stands_in_a_sentence_of_its_words(sign: Sign) -> None:
    assert (sign.name, sign.weight) in signs_in(in_words(sign))


@pytest.mark.parametrize("sign", [sign for sign in SIGNS if sign.unless], ids=in_words)
def test_what_undoes_a_sign_undoes_it(sign: Sign) -> None:
    alike = sum((other.name, other.weight) == (sign.name, sign.weight) for other in SIGNS)

    for name in sign.unless:
        assert alike > 1 or (sign.name, sign.weight) not in signs_in(f"{in_words(sign)} {CLASSES[name][0]}")


def test_every_class_is_in_use() -> None:
    used = {name for sign in SIGNS for name in (*sign.chain, *sign.also, *sign.unless)}

    assert used | {"PROTECTIVE"} == CLASSES.keys() | TOLD_BY_FORM.keys()
