"""How well does a bank learn which lessons help? See `python -m benchmarks.learning --help`."""
