"""Bursts, adapters and tenants, in small."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import frameworks


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc on this system")
def test_a_small_run_measures_what_it_promises() -> None:
    figures = frameworks.run(at_once=(2,), repeats=2, opened=4, active=2)

    assert figures["delivered"] == {"2": 1.0}
    assert set(figures["doors"]) == {f"{name}, {how}" for name in figures["adapters"] for how in ("threads", "tasks")}
    assert figures["adapter_ratio"] == max(figures["adapters"].values())
    assert figures["tenants"]["opened"] == 4
    assert figures["tenants"]["descriptors"] > 0
    assert figures["late_recalls"] == 0
