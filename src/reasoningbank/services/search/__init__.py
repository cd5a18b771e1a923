"""Memories on their way out: found, ranked, put into a prompt."""
