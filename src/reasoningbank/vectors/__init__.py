"""Vector indexes: one contract, several engines."""
