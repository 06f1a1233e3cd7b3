"""Aligns the claims of two answers to one question and lists the verdicts that flipped, worst first."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag_audit.model import Claim, ClaimFlip, Verdict

SIMILAR = 0.8
"""Lowest similarity (0-1) at which two differently worded claims count as the same one."""

_GOODNESS = {
    Verdict.VERIFIED.value: 3,
    None: 2,
    Verdict.UNPARSED.value: 2,
    Verdict.ABSENT.value: 1,
    Verdict.CONTRADICTED.value: 0,
}
"""How good it is that an answer makes a claim with this verdict; not making it (None) is neither good nor bad."""
_OUTER_MARKS = re.compile(r"^[\W_]+|[\s.!?;:,]+$")


class Alignment(NamedTuple):
    """Claims of two answers as positions in their lists, each used once."""

    matched: list[tuple[int, int]]
    gone: list[int]
    new: list[int]


def align_claims(before: Sequence[Claim], after: Sequence[Claim]) -> Alignment:
    """Pair claims one to one: equal normalised texts first (with equal verdict before others), then similar ones.

    Similar ones are taken from the most similar pair downwards; ties go to the nearer places in the answers. The
    result does not depend on which answer comes first: align_claims(b, a) is the mirror image.
    """
    matched: list[tuple[int, int]] = []
    left, right = list(range(len(before))), list(range(len(after)))

    def take(pairs: list[tuple[int, int]]) -> None:
        matched.extend(pairs)
        used_left, used_right = {at for at, _ in pairs}, {at for _, at in pairs}
        left[:] = [at for at in left if at not in used_left]
        right[:] = [at for at in right if at not in used_right]

    # Most claims of two runs are the same, letter by letter: those need no normalising.
    take(_equal(left, right, [(c.text, c.verdict) for c in before], [(c.text, c.verdict) for c in after]))
    if left and right:
        earlier = {at: normalised(before[at].text) for at in left}
        later = {at: normalised(after[at].text) for at in right}
        judged_before = {at: (text, before[at].verdict) for at, text in earlier.items()}
        judged_after = {at: (text, after[at].verdict) for at, text in later.items()}
        take(_equal(left, right, judged_before, judged_after))
        take(_equal(left, right, earlier, later))
        take(_similar(left, right, earlier, later))
    return Alignment(sorted(matched), left, right)


def normalised(text: str) -> str:
    """A claim's text without differences of case, spacing, Unicode form and outer punctuation."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _OUTER_MARKS.sub("", folded) or folded


Keys = Mapping[int, Hashable] | Sequence[Hashable]


def _equal(left: Sequence[int], right: Sequence[int], keys_left: Keys, keys_right: Keys) -> list[tuple[int, int]]:
    """Pair equal keys in their order: the first of one side with the first of the other."""
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for at in reversed(right):
        waiting[keys_right[at]].append(at)
    return [(at, waiting[key].pop()) for at in left if waiting.get(key := keys_left[at])]


def _similar(
    left: Sequence[int], right: Sequence[int], earlier: Mapping[int, str], later: Mapping[int, str]
) -> list[tuple[int, int]]:
    pairs_left = {at: _bigrams(earlier[at]) for at in left}
    pairs_right = {at: _bigrams(later[at]) for at in right}
    candidates = [
        (-similarity, abs(i - j), i + j, i, j)
        for i, grams_left in pairs_left.items()
        for j, grams_right in pairs_right.items()
        if (similarity := _dice(grams_left, grams_right)) >= SIMILAR
    ]
    matched: list[tuple[int, int]] = []
    used_left: set[int] = set()
    used_right: set[int] = set()
    for *_, i, j in sorted(candidates):
        if i not in used_left and j not in used_right:
            matched.append((i, j))
            used_left.add(i)
            used_right.add(j)
    return matched


def similarity(first: str, second: str) -> float:
    """Dice coefficient (0-1) of the character pairs of two normalised texts; symmetrical (Dice 1945)."""
    return _dice(_bigrams(first), _bigrams(second))


def _bigrams(text: str) -> Counter[str]:
    return Counter(map("".join, pairwise(text)))


def _dice(first: Counter[str], second: Counter[str]) -> float:
    total = first.total() + second.total()
    # Two texts of very different length cannot reach the threshold: spare the work.
    if not total or 2 * min(first.total(), second.total()) < SIMILAR * total:
        return 0.0
    return 2 * (first & second).total() / total


def claim_flips(question_id: str, before: Sequence[Claim], after: Sequence[Claim]) -> list[ClaimFlip]:
    """The aligned claims of one question whose verdict differs, and those that are gone or new."""
    if [(claim.text, claim.verdict) for claim in before] == [(claim.text, claim.verdict) for claim in after]:
        return []
    alignment = align_claims(before, after)
    flips = [
        _flip(question_id, before[i], after[j])
        for i, j in alignment.matched
        if before[i].verdict is not after[j].verdict
    ]
    flips += [_flip(question_id, before[i], None) for i in alignment.gone]
    flips += [_flip(question_id, None, after[j]) for j in alignment.new]
    return flips


def _flip(question_id: str, before: Claim | None, after: Claim | None) -> ClaimFlip:
    return ClaimFlip(
        question_id=question_id,
        before_claim=before.text if before else None,
        after_claim=after.text if after else None,
        before=before.verdict.value if before else None,
        after=after.verdict.value if after else None,
        before_id=before.id if before else None,
        after_id=after.id if after else None,
    )


def worst_first(flips: Iterable[ClaimFlip]) -> tuple[ClaimFlip, ...]:
    """Order flips from the deepest loss to the largest gain; real flips before claims that are only new or gone."""

    def badness(flip: ClaimFlip) -> tuple[int, bool, int, str, str]:
        change = _GOODNESS[flip.after] - _GOODNESS[flip.before]
        one_sided = flip.before is None or flip.after is None
        text = flip.after_claim or flip.before_claim or ""
        return change, one_sided, _GOODNESS[flip.after], flip.question_id, text

    return tuple(sorted(flips, key=badness))


def flip_counts(flips: Iterable[ClaimFlip]) -> dict[str, int]:
    """How often each flip occurs, as `verified → contradicted`, `new absent`, `gone verified`; worst first."""
    counts: Counter[str] = Counter()
    for flip in worst_first(flips):
        counts[flip_name(flip)] += 1
    return dict(counts)


def flip_name(flip: ClaimFlip) -> str:
    """A flip in words."""
    if flip.before is None:
        return f"new {flip.after}"
    return f"gone {flip.before}" if flip.after is None else f"{flip.before} → {flip.after}"
