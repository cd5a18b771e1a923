"""The vector index, and the file it is kept in."""
