"""What a tool or a command put out: does it say that the act failed, and which line says it?"""

from reasoningbank.outputs.failing import Failure, error_line, failure_of, first_line, looked_at

__all__ = ["Failure", "error_line", "failure_of", "first_line", "looked_at"]
