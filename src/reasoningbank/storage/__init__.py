"""One project's files: the SQLite records and the JSON-lines signal log."""
