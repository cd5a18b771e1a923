"""Recall for those who cannot wait: within a time budget, and without ever breaking the agent.

The recalls of a process take turns, whatever their bank: so many that do not hinder each other work at once, and the
others wait in the order in which they came. A budget counts work, and not the waiting: neither for a turn, nor for a
processor that other threads keep busy, nor for the model that the first recall loads, as long as that gets on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from reasoningbank.errors import DeadlineExceededError, InvalidInputError, ReasoningBankError, ScopeError
from reasoningbank.forks import renew_after_fork

log = logging.getLogger("reasoningbank")

# What no budget and no wish to go on hides: the caller has to know.
OF_THE_CALLER = (ScopeError, InvalidInputError)

T = TypeVar("T")
Seconds = Callable[[], float]

AT_ONCE = 8
MOST_THREADS = 32  # beside those that work, some that are stuck, say in an embedder, and that nobody waits for any more
# How long a caller waits in all, as a multiple of its budget.
LONGEST_WAIT = 60
# A longer budget is taken for this one, in seconds: no lock of any platform waits much longer than 60 times as long.
LONGEST_BUDGET = 36_000.0
# A budget is counted in steps. One that took much longer tells that threads do not get a processor: it counts the less.
STEPS, LONGEST_STEP = 100, 0.005
# Seconds of processor time within a budget by which loading gets on, be it with reading from a slow disk.
SOME_WORK = 0.001
WARN_EVERY = 60.0  # seconds, for each kind of reason


class Attempt:
    """One piece of work, and whether somebody waits for it: either it is given up, or what it changes is kept."""

    def __init__(self, end_turn: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._end_turn: Callable[[], None] | None = end_turn
        self._given_up = self._kept = False
        self._thread: int | None = None
        self._begun, self.done = False, threading.Event()
        self.result: object = None
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise DeadlineExceededError when nobody waits any more."""
        if self._given_up:
            raise DeadlineExceededError("nobody waited for the recall any more; no episode was opened")

    def keep(self) -> None:
        """Begin to change something: from now on it is waited for. DeadlineExceededError when nobody waits any more."""
        with self._lock:
            self.check()
            self._kept = True

    def give_up(self) -> bool:
        """Wait no longer; False when it is too late for that, and the end is near."""
        with self._lock:
            self._given_up = not (self._kept or self.done.is_set())
        if self._given_up:
            self._end()
        return self._given_up

    def carry_out(self, prepare: Callable[[], None], run: Callable[[Attempt], object]) -> None:
        """Do the work, and before it what is no part of it."""
        self._thread = threading.get_ident()
        try:
            self.check()
            prepare()
            self._begun = True
            self.result = run(self)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.error = error
        self.done.set()
        self._end()

    def wait(self, budget: float, until: float, monotonic: Seconds) -> bool:
        """Wait for the end, for `budget` seconds of work and at most until then; False when it did not come.

        What is no part of the work is waited for as long as it gets on: a budget without any progress is one too many.
        """
        step = min(LONGEST_STEP, budget / STEPS)
        counted, before, begun, progress = 0.0, monotonic(), False, 0.0
        while not self.done.wait(step):
            now, worked = monotonic(), 0.0 if begun else self._worked()
            if not begun and (self._begun or worked - progress >= SOME_WORK):
                counted, begun, progress = 0.0, self._begun, worked
            counted += step * min(1.0, 2 * step / max(step, now - before))
            if counted >= budget or now >= until:
                return False
            before = now
        return True

    def _worked(self) -> float:
        """Return the processor time of the thread that does the work, in seconds; 0 as long as none does it."""
        if self._thread is None:
            return 0.0
        if hasattr(time, "pthread_getcpuclockid"):
            return time.clock_gettime(time.pthread_getcpuclockid(self._thread))  # these threads never end
        return time.process_time()

    def _end(self) -> None:
        with self._lock:
            end_turn, self._end_turn = self._end_turn, None
        if end_turn is not None:
            end_turn()


class Turns:
    """The threads that work for those who cannot wait, shared by all banks of a process."""

    def __init__(self) -> None:
        self._begin()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: neither the threads nor who waited for them are in this process."""
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._free = AT_ONCE
        self._waiting: deque[threading.Event] = deque()
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads = self._idle = 0

    def take(self, seconds: float) -> bool:
        """Wait for a turn, at most so long; False when it did not come."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(seconds):
            return True
        with self._lock:
            if not turn.is_set():
                self._waiting.remove(turn)
            return turn.is_set()

    def give_back(self) -> None:
        """End a turn: the next is whoever has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def start(self, job: Callable[[], None]) -> None:
        """Have a job done by a thread of its own. A process that ends does not wait for one that is stuck."""
        with self._lock:
            more = not self._idle and self._threads < MOST_THREADS
            self._threads += more
            self._idle -= not more and self._idle > 0
        self._work.put(job)
        if more:
            threading.Thread(target=self._serve, name="reasoningbank-recall", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._work.get()()
            with self._lock:
                self._idle += 1


turns = Turns()


class Deadlines:
    """Runs what a bank's callers cannot wait for long, and counts what came too late. One a bank.

    Attributes:
        late: how many came too late, and are not written down yet.
    """

    def __init__(self, warm: Callable[[], None], monotonic: Seconds = time.monotonic) -> None:
        self._warm, self._monotonic = warm, monotonic
        self._begin()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: what waits and warms is not in this process."""
        self._begin()

    def _begin(self) -> None:
        self._is_warm = False
        self._warming = threading.Lock()
        self._lock = threading.Lock()
        self.late = 0
        self._warned: dict[str, tuple[float, int]] = {}

    def bounded(
        self,
        run: Callable[[Attempt | None], T],
        *,
        timeout: float | None,
        fail_open: bool,
        otherwise: Callable[[str], T],
    ) -> T:
        """Return what `run` returns, or what there is otherwise, given the reason.

        Args:
            run: does the work. It calls `keep` before it changes anything, and opens no episode when that raises.
            timeout: seconds of work; the caller waits `LONGEST_WAIT` times as long at the most, turn included, and for
                what is being written. As long as it takes, in the caller's own thread, when None.
            fail_open: return what there is otherwise instead of raising, whatever the disk, the embedder, a library or
                the clock did. Errors of scope and of the caller are raised in either case.
        """
        try:
            return run(None) if timeout is None else self._in_turn(run, min(timeout, LONGEST_BUDGET))
        except Exception as error:
            if not fail_open or (isinstance(error, OF_THE_CALLER) and not isinstance(error, DeadlineExceededError)):
                raise
            return otherwise(self.told(error))

    def told(self, error: Exception) -> str:
        """Log why there are no lessons, and return it in words."""
        if isinstance(error, ReasoningBankError):
            self._warn(error, str(error))
            return str(error)
        # Nobody foresaw it, so somebody will want to know where it came from.
        said, trace = _words(error)
        self._warn(error, trace)
        return said

    def _in_turn(self, run: Callable[[Attempt | None], T], timeout: float) -> T:
        until = self._monotonic() + LONGEST_WAIT * timeout
        if not turns.take(LONGEST_WAIT * timeout):
            raise self._too_late(timeout)
        attempt = Attempt(turns.give_back)
        turns.start(lambda: attempt.carry_out(self._get_ready, run))
        if not attempt.wait(timeout, until, self._monotonic):
            if attempt.give_up():
                raise self._too_late(timeout)
            attempt.done.wait()
        if attempt.error is not None:
            raise attempt.error
        return attempt.result  # type: ignore[return-value]

    def _get_ready(self) -> None:
        """Load what the first recall needs: that is no work of a recall."""
        if self._is_warm:
            return
        with self._warming:
            if not self._is_warm:
                self._is_warm = True
                try:
                    self._warm()
                except Exception as error:  # noqa: BLE001 - whatever it is, the recall itself meets it, and says so
                    log.debug("the bank could not be made ready, as its first recall will say: %s", _words(error)[0])

    def _too_late(self, timeout: float) -> DeadlineExceededError:
        self._count(1)
        longest = LONGEST_WAIT * timeout
        return DeadlineExceededError(
            f"the recall took longer than {timeout:g} s of work, or {longest:g} s with waiting; no episode was opened"
        )

    def noted(self, late: int) -> None:
        """So many were written down."""
        self._count(-late)

    def _count(self, more: int) -> None:
        with self._lock:
            self.late += more

    def _warn(self, error: Exception, said: str) -> None:
        kind, now = type(error).__name__, self._monotonic()
        with self._lock:
            last, unsaid = self._warned.get(kind, (-WARN_EVERY, 0))
            is_due = now - last >= WARN_EVERY
            self._warned[kind] = (now, 0) if is_due else (last, unsaid + 1)
        again = f" (and {unsaid} times since the last warning)" if is_due and unsaid else ""
        log.log(logging.WARNING if is_due else logging.DEBUG, "no lessons were recalled: %s%s", said, again)


def _words(error: Exception) -> tuple[str, str]:
    """Return what is said of an error of anybody's, in one line and with its traceback, without secrets."""
    try:
        from reasoningbank.screening.door import said_by, trace_of
    except ImportError as missing:
        withheld = f"{type(error).__name__} (what it says is withheld, since secrets cannot be looked for: {missing})"
        return withheld, withheld
    return said_by(error), trace_of(error)
