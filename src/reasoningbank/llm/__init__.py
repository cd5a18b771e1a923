"""Language models: one small protocol, and an OpenAI-compatible endpoint."""
