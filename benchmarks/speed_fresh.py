"""A new process that opens a bank and asks it once: started by the speed benchmark.

python -m benchmarks.speed_fresh ROOT QUERY
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import import_module
from pathlib import Path


def main(root: str, query: str) -> None:
    """Print how long the import, and then the first answer took, and the peak memory."""
    start = time.perf_counter()
    import_module("reasoningbank")
    imported = time.perf_counter()
    import_module("reasoningbank.services.search.retrieve")
    lessons = import_module("benchmarks.speed_lessons")
    embedder = lessons.StubEmbedder()
    loaded = time.perf_counter()
    before = _peak_mb()
    with lessons.opened(Path(root), embedder=embedder) as bank:
        bank.search(query)
        answered = time.perf_counter()
    figures = {
        "import_ms": round((imported - start) * 1e3, 1),
        "open_ms": round((answered - loaded) * 1e3, 2),
        "rss_mb": round(_peak_mb(), 1),
        "rss_above_imports_mb": round(_peak_mb() - before, 1),
    }
    sys.stdout.write(json.dumps(figures))


def _peak_mb() -> float:
    """Return the peak memory of this process; on Linux, `getrusage` would give that of the parent if it is greater."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
