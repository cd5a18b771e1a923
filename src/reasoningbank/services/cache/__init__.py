"""What one process keeps of a project: derived, kept right by the change feed, dropped without loss."""
