"""The domain modules: the files of the core that hold decisions only.

A module or package right under `reasoningbank` belongs to the domain unless pyproject.toml puts it into a layer above.
`python -m tools.domain` prints their paths, comma-separated, for `coverage report --include`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def domain_modules(root: Path = ROOT) -> list[Path]:
    """Return the domain modules relative to `root`, sorted.

    The first import-linter contract lists the layers from the top; the domain is what stands below `config`.
    """
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = contracts[0]["layers"]
    settings = next(i for i, layer in enumerate(layers) if "(config)" in layer)
    above = set(re.findall(r"\w+", " ".join(layers[: settings + 1]))) | {"__init__", "__main__"}
    core = root / "src/reasoningbank"
    files = ((path.relative_to(core), path.relative_to(root)) for path in core.rglob("*.py"))
    return sorted(path for place, path in files if place.parts[0].removesuffix(".py") not in above)


if __name__ == "__main__":
    print(",".join(map(str, domain_modules())))
