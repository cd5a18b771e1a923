"""The domain modules: the layer that holds decisions only, as pyproject.toml lists it.

`python -m tools.domain` prints their paths, comma-separated, for `coverage report --include`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def domain_modules(root: Path = ROOT) -> list[Path]:
    """Return the domain modules that exist, relative to `root`, sorted.

    The layer above the lowest (the error tree) of the first import-linter contract is the domain.
    """
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    names = re.findall(r"\w+", contracts[0]["layers"][-2])
    paths = (Path("src/reasoningbank", f"{name}.py") for name in [*names, "errors"])
    return sorted(path for path in paths if (root / path).exists())


if __name__ == "__main__":
    print(",".join(map(str, domain_modules())))
