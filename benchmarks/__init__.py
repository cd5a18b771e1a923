"""Speed, quality and learning: each one command, each printing a table and JSON."""
