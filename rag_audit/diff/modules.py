"""Finds the modules whose retrieval or answers collapsed while the rest held."""

from collections import defaultdict
from collections.abc import Sequence

from rag_audit.diff.pairing import Pair
from rag_audit.metrics import mean
from rag_audit.model import ModuleDelta

DROP = 0.2
REST = 0.05

Means = tuple[float | None, float | None]


def module_deltas(pairs: Sequence[Pair]) -> tuple[ModuleDelta, ...]:
    """Keyword coverage and hit@1 of each module (doc_id) in both runs, over the questions scored on both sides.

    A module collapses where either drops by 0.2 or more while the mean of all other modules' questions moves by less
    than 0.05. Collapsed ones come first.
    """
    by_module: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.after.doc_id is not None:
            by_module[pair.after.doc_id].append(pair)
    coverage, hits = _Sums(pairs, "keyword_coverage"), _Sums(pairs, "hit_at_1")
    found = [
        ModuleDelta(
            doc_id=doc_id,
            keyword_coverage=coverage.means(module),
            hit_at_1=hits.means(module),
            collapse=coverage.collapsed(module) or hits.collapsed(module),
            questions=tuple(pair.id for pair in module),
        )
        for doc_id, module in sorted(by_module.items())
    ]
    return tuple(sorted(found, key=lambda module: not module.collapse))


class _Sums:
    """The total of one metric's values over all modules, so that the rest of each is one subtraction away."""

    def __init__(self, pairs: Sequence[Pair], metric: str) -> None:
        self._metric = metric
        self._all = self._differences([pair for pair in pairs if pair.after.doc_id is not None])

    def _values(self, pairs: Sequence[Pair]) -> list[tuple[float, float]]:
        return [values for pair in pairs if (values := pair.values(self._metric)) is not None]

    def _differences(self, pairs: Sequence[Pair]) -> list[float]:
        return [after - before for before, after in self._values(pairs)]

    def means(self, module: Sequence[Pair]) -> Means:
        values = self._values(module)
        return mean(before for before, _ in values), mean(after for _, after in values)

    def collapsed(self, module: Sequence[Pair]) -> bool:
        own = self._differences(module)
        others = len(self._all) - len(own)
        if not own or not others or sum(own) / len(own) > -DROP + 1e-9:
            return False
        rest = (sum(self._all) - sum(own)) / others
        return abs(rest) < REST - 1e-9
