"""The block in which lessons reach a model: framed, escaped, within a budget of tokens."""

from reasoningbank.prompt.block import Lesson, LessonBlock, delimited, undelimited
from reasoningbank.prompt.stripping import shorten

__all__ = ["Lesson", "LessonBlock", "delimited", "shorten", "undelimited"]
