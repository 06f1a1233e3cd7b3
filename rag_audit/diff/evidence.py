"""Where each retrieved passage went between two runs: the evidence behind a changed retrieval score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_audit.model import RetrievedChunk


@dataclass(frozen=True, slots=True)
class ChunkMove:
    """One passage in both retrieved lists; a side is None where it was not retrieved."""

    before: RetrievedChunk | None
    after: RetrievedChunk | None

    @property
    def chunk(self) -> RetrievedChunk:
        """The passage as one of the runs retrieved it."""
        found = self.before or self.after
        if found is None:
            raise ValueError("a move has at least one side")
        return found

    @property
    def ranks(self) -> tuple[int | None, int | None]:
        """Rank before and after, 1 is first."""
        return self.before.rank if self.before else None, self.after.rank if self.after else None

    @property
    def relevant(self) -> bool:
        """Whether either run counts it as relevant."""
        return any(side is not None and bool(side.relevant) for side in (self.before, self.after))


def chunk_moves(before: Sequence[RetrievedChunk], after: Sequence[RetrievedChunk]) -> tuple[ChunkMove, ...]:
    """Pair the passages of two retrieved lists, each once, in the order of their best rank.

    Equal text of the same document first; then, since other chunk sizes cut the same passage differently, the
    passages of one document that overlap, largest overlap first.
    """
    moves: list[ChunkMove] = []
    left, right = list(before), list(after)
    for overlap in (_equal, _overlap):
        candidates = sorted(
            (
                (-shared, earlier.rank, later.rank, at, to)
                for at, earlier in enumerate(left)
                for to, later in enumerate(right)
                if (shared := _shared(overlap, earlier, later)) > 0
            ),
        )
        used_left: set[int] = set()
        used_right: set[int] = set()
        for *_, at, to in candidates:
            if at not in used_left and to not in used_right:
                moves.append(ChunkMove(left[at], right[to]))
                used_left.add(at)
                used_right.add(to)
        left = [found for at, found in enumerate(left) if at not in used_left]
        right = [found for at, found in enumerate(right) if at not in used_right]
    moves += [ChunkMove(found, None) for found in left] + [ChunkMove(None, found) for found in right]
    return tuple(sorted(moves, key=lambda move: min(rank for rank in move.ranks if rank is not None)))


def sunk_passage(moves: Sequence[ChunkMove]) -> ChunkMove | None:
    """The relevant passage that stood highest before and stands lower, or nowhere, now; None where none sank."""
    sunk = [
        move
        for move in moves
        if move.before is not None
        and move.before.relevant
        and (move.after is None or move.after.rank > move.before.rank)
    ]
    return min(sunk, key=lambda move: move.before.rank if move.before else 0, default=None)


Overlap = Callable[[RetrievedChunk, RetrievedChunk], int]


def _shared(overlap: Overlap, before: RetrievedChunk, after: RetrievedChunk) -> int:
    same_document = (before.chunk.corpus, before.chunk.doc_id) == (after.chunk.corpus, after.chunk.doc_id)
    return overlap(before, after) if same_document else 0


def _equal(before: RetrievedChunk, after: RetrievedChunk) -> int:
    return int(before.chunk.text == after.chunk.text)


def _overlap(before: RetrievedChunk, after: RetrievedChunk) -> int:
    """Characters that two passages of one document share: one text holds the other, or their slices overlap.

    The text comes first, because offsets move when a document is edited.
    """
    earlier, later = before.chunk, after.chunk
    shorter, longer = sorted((earlier.text, later.text), key=len)
    if shorter and shorter in longer:
        return len(shorter)
    if earlier.start is None or later.start is None:
        return 0
    end = min(earlier.start + len(earlier.text), later.start + len(later.text))
    return max(0, end - max(earlier.start, later.start))
