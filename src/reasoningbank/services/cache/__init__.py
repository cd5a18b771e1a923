"""What one process keeps of a project: derived, followed by the change feed in one place, dropped without loss.

Imported from: `project` (ProjectCache), which holds the others; `queries` and `beliefs` depend on no row.
"""
