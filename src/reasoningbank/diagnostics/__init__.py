"""What a failing output says went wrong, and the keys by which the same error is known again."""

from reasoningbank.diagnostics.extract import diagnostics, mentioned, read, written
from reasoningbank.diagnostics.fingerprint import Diagnostic

__all__ = ["Diagnostic", "diagnostics", "mentioned", "read", "written"]
