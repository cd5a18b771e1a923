"""Memories on their way in: checked, scrubbed, inspected, embedded, stored."""
