"""Shared banks: the levels above a project, what is searched and credited in them, and what is promoted to them."""
