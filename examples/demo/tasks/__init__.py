"""The tasks: everyday traps, three easy ones, and one (distinct names) that the agent knows no good way for."""

from examples.demo.tasks.easy import ARCHIVE, COUNT, LARGEST
from examples.demo.tasks.files import RENAME, WINDOWS_SCRIPT
from examples.demo.tasks.programs import SERVER, TEST_ORDER
from examples.demo.tasks.texts import CSV, DISTINCT, JSON_LINES, LATIN1, PRICES, RELEASES, TIMES

TASKS = (
    COUNT,
    CSV,
    RENAME,
    SERVER,
    TEST_ORDER,
    ARCHIVE,
    LATIN1,
    JSON_LINES,
    RELEASES,
    PRICES,
    TIMES,
    WINDOWS_SCRIPT,
    LARGEST,
    DISTINCT,
)

__all__ = ["TASKS"]
