"""A project's confidence model with what the project has taught it, and the beliefs it gives."""

from __future__ import annotations

from collections.abc import Iterable

from reasoningbank.belief.belief import Belief, ConfidenceModel, Evidence
from reasoningbank.belief.calibrated import CalibratedModel
from reasoningbank.belief.ema import EmaModel
from reasoningbank.belief.spec import SignalWeights, SpecModel
from reasoningbank.belief.worlds import Start
from reasoningbank.signals import SignalKind
from reasoningbank.storage import parameters, trust
from reasoningbank.storage.contract import Reading
from reasoningbank.storage.stored import Judged, Stored

# Beliefs that memories start from are few, but any number may be given.
STARTING_POINTS = 1_000


class Models:
    """The model of one project, as each transaction sees it; `choice` is calibrated, spec or ema."""

    def __init__(self, choice: str) -> None:
        self._choice = choice
        self._fitted: tuple[int, int, ConfidenceModel] = (0, 0, CalibratedModel())
        self._starting: tuple[ConfidenceModel | None, dict[float, Belief]] = (None, {})

    def current(self, reading: Reading) -> ConfidenceModel:
        """Return the confidence model with what this project has taught it."""
        if self._choice == "spec":
            return SpecModel(signal_weights(reading))
        if self._choice == "ema":
            return EmaModel()
        return self._newest(reading)[2]

    def fitted_to(self, reading: Reading) -> int:
        """Return the newest change of the project that the calibrated model's parameters take into account."""
        return self._newest(reading)[1]

    def _newest(self, reading: Reading) -> tuple[int, int, ConfidenceModel]:
        """Return the number of the newest fit, the change it took into account, and the model."""
        number = reading.moment.fit
        if not number:
            return 0, 0, CalibratedModel()
        if self._fitted[0] != number:
            found = parameters.load(reading, number)
            self._fitted = (number, found.change, CalibratedModel(found.parameters))
        return self._fitted

    def start(self, reading: Reading) -> Start:
        """Return where a fit of the parameters starts."""
        return parameters.start(reading)[0]

    def evidence(self, stored: Iterable[Stored]) -> list[Evidence]:
        """Return what the parameters are fitted to: what is known of each memory."""
        return [(row.tallies, row.initial_confidence) for row in stored]

    def beliefs(self, reading: Reading, stored: Iterable[Stored | Judged]) -> dict[int, Belief]:
        """Return the belief about each memory, by row number."""
        model, rows = self.current(reading), list(stored)
        found = model.beliefs([(s.tallies, s.initial_confidence) for s in rows if s.tallies])
        judged = iter(found)
        return {s.n: next(judged) if s.tallies else self._unjudged(model, s.initial_confidence) for s in rows}

    def _unjudged(self, model: ConfidenceModel, initial: float) -> Belief:
        """Return the belief about a memory without evidence; few differ in what they start from."""
        known, beliefs = self._starting
        if known != model or len(beliefs) >= STARTING_POINTS:
            beliefs = {}
            self._starting = (model, beliefs)
        if initial not in beliefs:
            beliefs[initial] = model.beliefs([((), initial)])[0]
        return beliefs[initial]


def signal_weights(reading: Reading) -> SignalWeights:
    """Return the spec model's weights: the starting pairs plus every vote that confirmed or refuted a kind."""
    weights = SignalWeights()
    for kind, (confirmed, refuted) in trust.taught(reading).items():
        weights = weights.taught(SignalKind(kind), confirmed, refuted)
    return weights
