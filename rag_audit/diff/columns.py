"""The scores of all paired questions metric by metric, and the judges that gave them: read once, used everywhere."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_audit.diff.comparability import JudgeLookup, JudgeMatch, match_roles
from rag_audit.diff.facts import CLAIMS, MetricFacts, differing
from rag_audit.diff.pairing import Pair

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from rag_audit.diff.facts import Floats

    Places = NDArray[int64]

Values = tuple[float | None, float | None]
"""Before and after; None where there is none."""


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over all paired questions; the arrays are as long as the list of pairs."""

    facts: MetricFacts
    before: "Floats"
    """NaN where a value is missing, as in `after`."""
    after: "Floats"
    usable: "Places"
    """Places that are averaged: both values, and for metrics of claims the same reference excerpt."""
    scored: int
    """Questions with both values."""
    judges: Sequence[JudgeMatch]
    matches: Mapping[JudgeMatch, int]
    """How often each match of judges occurs among the questions with both values; at least the contexts' own one."""

    @property
    def judge_changed(self) -> bool:
        """Whether any question with both values was judged by another judge."""
        return any(match.same is False for match in self.matches)

    def moved(self) -> dict[int, "Values"]:
        """Places where the values differ by more than rounding, or only one of them is there, to both values."""
        import numpy as np

        one_sided = np.isnan(self.before) != np.isnan(self.after)
        places = np.flatnonzero(one_sided | differing(self.before, self.after))
        pairs = zip(self.before[places].tolist(), self.after[places].tolist(), strict=True)
        values = ((None if b != b else b, None if a != a else a) for b, a in pairs)
        return dict(zip(places.tolist(), values, strict=True))


_NO_JUDGE = JudgeMatch(True)


@dataclass(slots=True)
class ColumnReader:
    """Reads columns; what depends on the judges alone is shared by the metrics of one judge."""

    pairs: Sequence[Pair]
    before: JudgeLookup
    after: JudgeLookup
    _judges: dict[tuple[tuple[str, ...], bool], list[JudgeMatch]] = field(default_factory=dict)

    def read(self, facts: MetricFacts) -> Column:
        """One metric of all pairs."""
        import numpy as np

        name = facts.name
        before = np.array([pair.before.scores.get(name) for pair in self.pairs], dtype=float)
        after = np.array([pair.after.scores.get(name) for pair in self.pairs], dtype=float)
        scored = ~(np.isnan(before) | np.isnan(after))
        usable = scored
        if facts.roles == (CLAIMS,):
            usable = scored & np.array([pair.excerpt_same for pair in self.pairs], dtype=bool)
        judges = self._matches(facts)
        matches = Counter(map(judges.__getitem__, np.flatnonzero(scored).tolist())) if facts.roles else {}
        return Column(
            facts,
            before,
            after,
            np.flatnonzero(usable),
            int(scored.sum()),
            judges,
            matches or {self._of_contexts(facts): int(scored.sum())},
        )

    def _matches(self, facts: MetricFacts) -> list[JudgeMatch]:
        key = facts.roles, facts.own
        if not facts.roles:
            return [_NO_JUDGE] * len(self.pairs)
        if key not in self._judges:
            known: dict[tuple[str | None, ...], JudgeMatch] = {}
            found = []
            for before, after in self.pairs:
                texts = tuple([side.judges.get(role) for role in facts.roles for side in (before, after)])
                match = known.get(texts)
                if match is None:
                    match = known[texts] = match_roles(facts, self.before, self.after, texts)
                found.append(match)
            self._judges[key] = found
        return self._judges[key]

    def _of_contexts(self, facts: MetricFacts) -> JudgeMatch:
        return match_roles(facts, self.before, self.after, (None,) * (2 * len(facts.roles)))


def module_codes(pairs: Sequence[Pair]) -> tuple[list[str], "Places"]:
    """The modules (doc_ids) by name, and each pair's place among them; -1 where a question has none."""
    import numpy as np

    modules = [pair.doc_id for pair in pairs]
    names = sorted({module for module in modules if module is not None})
    numbers: dict[str | None, int] = {name: at for at, name in enumerate(names)}
    return names, np.array([numbers.get(module, -1) for module in modules], dtype=np.int64)
