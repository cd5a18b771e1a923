"""How well a bank does: reliability of its confidences, and the success criteria SC-001 to SC-006.

Imported from: `reliability` (Bin, Calibration, Measure), `criteria`.
"""
