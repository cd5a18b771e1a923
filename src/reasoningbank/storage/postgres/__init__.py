"""A bank's rows in PostgreSQL: processes on many machines share them, and each keeps its own caches by the feed."""
