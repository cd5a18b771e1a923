"""The memory graph beside the memories."""
