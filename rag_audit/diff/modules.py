"""Finds the modules whose retrieval or answers collapsed while the rest held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_audit.diff.columns import Column, module_codes
from rag_audit.diff.pairing import Pair
from rag_audit.model import ModuleDelta

if TYPE_CHECKING:
    from rag_audit.diff.columns import Places
    from rag_audit.diff.facts import Floats

DROP = 0.2
REST = 0.05

Means = tuple[float | None, float | None]


def module_deltas(pairs: Sequence[Pair], columns: Mapping[str, Column]) -> tuple[ModuleDelta, ...]:
    """Keyword coverage and hit@1 of each module (doc_id) in both runs, over the questions scored on both sides.

    A module collapses where either drops by 0.2 or more while the mean of all other modules' questions moves by less
    than 0.05. Collapsed ones come first.
    """
    names, codes = module_codes(pairs)
    if not names:
        return ()
    questions: list[list[str]] = [[] for _ in names]
    for pair, code in zip(pairs, codes.tolist(), strict=True):
        if code >= 0:
            questions[code].append(pair.id)
    coverage, hits = (_totals(columns.get(name), codes, len(names)) for name in ("keyword_coverage", "hit_at_1"))
    found = [
        ModuleDelta(
            doc_id=name,
            keyword_coverage=coverage.means(at),
            hit_at_1=hits.means(at),
            collapse=coverage.collapsed(at) or hits.collapsed(at),
            questions=tuple(questions[at]),
        )
        for at, name in enumerate(names)
    ]
    return tuple(sorted(found, key=lambda module: not module.collapse))


@dataclass(frozen=True, slots=True)
class _Totals:
    """One metric's sums by module, so that the rest of each is one subtraction away."""

    before: "Floats"
    after: "Floats"
    n: "Places"
    """Questions with both values."""

    def means(self, module: int) -> Means:
        n = self.n[module]
        return (float(self.before[module] / n), float(self.after[module] / n)) if n else (None, None)

    def collapsed(self, module: int) -> bool:
        own, others = self.n[module], self.n.sum() - self.n[module]
        gained = self.after - self.before
        if not own or not others or gained[module] / own > -DROP + 1e-9:
            return False
        return bool(abs((gained.sum() - gained[module]) / others) < REST - 1e-9)


def _totals(column: Column | None, codes: "Places", modules: int) -> _Totals:
    import numpy as np

    unscored = np.full(len(codes), np.nan)
    before, after = (column.before, column.after) if column else (unscored, unscored)
    scored = ~(np.isnan(before) | np.isnan(after)) & (codes >= 0)
    at = codes[scored]
    return _Totals(
        np.asarray(np.bincount(at, weights=before[scored], minlength=modules), dtype=np.float64),
        np.asarray(np.bincount(at, weights=after[scored], minlength=modules), dtype=np.float64),
        np.bincount(at, minlength=modules),
    )
