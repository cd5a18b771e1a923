"""The token estimate: near a real tokenizer's count, and rather above it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import reasoningbank.embed
from reasoningbank.prompt.block import estimate_tokens

PROSE = """
When the user asks for a refund, look up the order first and read the policy. If the order is older than thirty days,
explain why it cannot be refunded and offer a voucher instead. Always confirm the amount with the user before calling
the refund tool, because a refund cannot be undone. The failure came from a missing parameter: the payment id.
"""
CODE = """
```python
def read_rows(path: Path, *, encoding: str = "utf-8") -> list[dict[str, str]]:
    with path.open(encoding=encoding, newline="") as file:
        return [row for row in csv.DictReader(file) if row["status"] != "deleted"]
```
"""
SHELL = """
docker run --rm -v "$PWD":/app -w /app python:3.12-slim pip install --no-cache-dir -r requirements.txt
kubectl rollout restart deployment/api -n staging && kubectl rollout status deployment/api --timeout=120s
find . -name '*.pyc' -not -path './.venv/*' -print0 | xargs -0 rm -f
"""
IDS = (
    "[3b1f0c9e-7d42-4a6b-9e15-0c8f2ad6b713] commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b at 2026-03-04T10:22:01Z\n"
    * 3
)
CHINESE = "在运行测试之前先执行数据库迁移，否则新表不存在，测试会失败。" * 4


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    path = Path(reasoningbank.embed.__file__).with_name("minilm_files") / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@pytest.mark.parametrize("text", [PROSE, CODE, SHELL, IDS, CHINESE, PROSE + CODE + SHELL])
def test_a_real_tokenizer_counts_at_most_a_tenth_more(text: str, tokenizer: Tokenizer) -> None:
    real = len(tokenizer.encode(text, add_special_tokens=False).ids)

    assert real <= 1.1 * estimate_tokens(text)


def test_prose_is_not_thought_much_longer_than_it_is(tokenizer: Tokenizer) -> None:
    real = len(tokenizer.encode(PROSE, add_special_tokens=False).ids)

    assert estimate_tokens(PROSE) <= 1.2 * real


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("hello world", 2),
        ("internationalisation", 2),
        ("a_very_long_identifier_of_many_parts", 10),
        ("HTTPS", 2),
        ("chkconfig", 2),
        ("a1b22", 4),
        ("試験", 2),
        ("x\ny", 3),
        ("x        y", 3),
        ("😀", 2),
        ("_a_", 3),
        ("antidisestablishmentarianism", 3),
    ],
)
def test_every_kind_of_piece_counts(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least


@given(st.text(max_size=100), st.text(max_size=100))
def test_two_texts_cost_about_what_they_cost_apart(one: str, other: str) -> None:
    together = estimate_tokens(f"{one}\n{other}")

    assert abs(together - estimate_tokens(one) - estimate_tokens(other)) <= 4 + 0.2 * together
