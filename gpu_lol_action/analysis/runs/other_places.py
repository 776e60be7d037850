"""Places of imported modules whose settings are not the run's: nothing of the program names what they stand in, or it judges a training."""

from __future__ import annotations

from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.others_names import JUDGES
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.records import record

MOST_PLACES = 100


@record(slots=True)
class OtherPlaces:
    """What one run's imported modules hold that is not the run's. Remembers what it looked at; private to the run's scope.

    Each place is looked at once, and so many at the most: a tree may say the same key in thousands.
    """

    checkout: Checkout
    run: Run
    closure: tuple[Source, ...]
    known: dict[Evidence, bool] = field(default_factory=dict)

    def hold(self, setting: Setting) -> bool:
        """Return whether a setting stands in such a place."""
        where = setting.called or setting.evidence
        if where not in self.known:
            if len(self.known) >= MOST_PLACES:
                return False
            self.known[where] = self._is_anothers(where)
        return self.known[where]

    def _is_anothers(self, where: Evidence) -> bool:
        source = self.checkout.by_path.get(where.path)
        if source is None or source is self.closure[0]:
            return False
        is_judging = self.run.behavior is Behavior.TRAINS and JUDGES.fullmatch(source.name) is not None
        if all(source is not each for each in self.closure):
            return is_judging  # a configuration has classes of it built, which no program names
        return is_judging or is_unused_at(source, where.line, self.closure)
