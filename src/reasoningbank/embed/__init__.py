"""Embedders: texts in, unit vectors out."""

from reasoningbank.config import without_telemetry

# Here, since it must be said before onnxruntime is loaded: from 1.29 on it then writes an identifier into the user's
# cache and connects.
without_telemetry()
