"""One question in two runs, as sections: answers with word-level changes, rank moves, claims, scores."""

from collections.abc import Sequence

from rag_audit.diff.claims import align_claims
from rag_audit.diff.evidence import ChunkMove, chunk_moves
from rag_audit.model import UNKNOWN, Claim, QuestionDelta, QuestionResult
from rag_audit.text.width import pad, width
from rag_audit.text.worddiff import word_changes
from rag_audit.tui import wording
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.theme import CHANGES, VERDICTS
from rag_audit.tui.widgets.passage import Mark, Section

Sides = tuple[list[Section], list[Section]]


def answer_of(result: QuestionResult | None) -> str:
    """The answer, or why there is none."""
    if result is None:
        return "this run does not have the question"
    return result.generation.answer if result.generation else f"no answer: {result.error or 'unknown reason'}"


def answer_sides(before: QuestionResult | None, after: QuestionResult | None) -> Sides:
    """Both answers, what changed marked in each."""
    left, right = answer_of(before), answer_of(after)
    gone: list[Mark] = []
    new: list[Mark] = []
    for change in word_changes(left, right):
        if change.kind != "same":
            gone.append(Mark(*change.before, "removed"))
            new.append(Mark(*change.after, "added"))
    titles = _same_title(left == right)
    return [Section(left, (("before", "title"), titles), tuple(gone))], [
        Section(right, (("after", "title"), titles), tuple(new))
    ]


def answer_unified(before: QuestionResult | None, after: QuestionResult | None) -> list[Section]:
    """Both answers as one text: what went struck out, what came underlined."""
    left, right = answer_of(before), answer_of(after)
    text = ""
    marks: list[Mark] = []
    for change in word_changes(left, right):
        old, new = left[slice(*change.before)], right[slice(*change.after)]
        if change.kind == "same":
            text += new
            continue
        if old:
            marks.append(Mark(len(text), len(text) + len(old), "removed"))
            text += old + ("" if not new or old[-1:].isspace() else " ")
        if new:
            marks.append(Mark(len(text), len(text) + len(new), "added"))
            text += new
    legend: tuple[Piece, ...] = (("removed", "removed"), (" ", "plain"), ("added", "added"))
    return [Section(text, (("answer  ", "title"), *(legend if left != right else (_same_title(True),))), tuple(marks))]


def _same_title(same: bool) -> Piece:
    return ("  identical", "quiet") if same else ("", "quiet")


def reference_section(result: QuestionResult) -> Section:
    """The reference answer, to read both answers against."""
    return Section(result.question.reference_answer or "–", (("reference answer", "title"),))


def retrieved_lines(before: QuestionResult | None, after: QuestionResult | None) -> list[Section]:
    """Every passage either run retrieved, with its rank in both."""
    moves = chunk_moves(before.retrieved if before else (), after.retrieved if after else ())
    if not moves:
        return [Section("Neither run retrieved anything.", tone="quiet")]
    sections = []
    for move in moves:
        chunk = move.chunk.chunk
        relevant: Piece = ("  ✓ relevant", "good") if move.relevant else ("", "quiet")
        corpus: Piece = (f"[{chunk.corpus}] " if chunk.corpus != UNKNOWN else "", "info")
        title = (*_rank_move(move), corpus, (chunk.doc_id, "strong"), relevant)
        sections.append(Section(_cut_text(chunk.text), title, tone="plain" if move.after else "quiet"))
    return sections


def _rank_move(move: ChunkMove) -> list[Piece]:
    earlier, later = move.ranks
    if earlier is None:
        return [(f"+ new at {later}  ", "added")]
    if later is None:
        return [(f"- gone from {earlier}  ", "removed")]
    if earlier == later:
        return [(f"= {earlier}  ", "quiet")]
    return [(f"▲ {earlier} → {later}  ", "good") if later < earlier else (f"▼ {earlier} → {later}  ", "bad")]


def _cut_text(text: str, longest: int = 600) -> str:
    return text if len(text) <= longest else text[:longest] + f" … {len(text) - longest:,} more characters"


def claim_lines(before: QuestionResult | None, after: QuestionResult | None) -> list[Section]:
    """The claims of both answers, paired, with what happened to their verdicts."""
    left, right = _claims(before), _claims(after)
    if not left and not right:
        return [Section("Neither answer has judged claims.", tone="quiet")]
    aligned = align_claims(left, right)
    lines: list[Line] = []
    for at, to in aligned.matched:
        lines += _claim(left[at], right[to])
    for at in aligned.gone:
        lines += _claim(left[at], None)
    for to in aligned.new:
        lines += _claim(None, right[to])
    return [section_of(lines, title=[("claims  before → after", "title")])]


def _claims(result: QuestionResult | None) -> Sequence[Claim]:
    return result.claim_judgment.claims if result and result.claim_judgment else ()


def _claim(before: Claim | None, after: Claim | None) -> list[Line]:
    earlier, later = _sign(before), _sign(after)
    flipped: Piece = ("≠ ", "warn") if before and after and before.verdict is not after.verdict else ("  ", "plain")
    text = after.text if after else before.text if before else ""
    lines: list[Line] = [[flipped, earlier, (" → ", "quiet"), later, ("  ", "plain"), (text, "plain")]]
    if before and after and before.text != after.text:
        lines.append([("    was: ", "quiet"), (before.text, "quiet")])
    return lines


def _sign(claim: Claim | None) -> Piece:
    if claim is None:
        return ("– none", "quiet")
    sign = VERDICTS[claim.verdict.value]
    return (sign.text, sign.tone)


def score_lines(
    before: QuestionResult | None,
    after: QuestionResult | None,
    delta: QuestionDelta | None,
    names: Sequence[str],
    *,
    blind: bool,
) -> list[Section]:
    """The named scores of both runs, with the cause of each difference; while `blind` without the judge's words."""
    lines: list[Line] = []
    labels = wording.headings(names)
    cells = max((width(label) for label in labels.values()), default=0)
    for name in names:
        earlier = before.scores.get(name) if before else None
        later = after.scores.get(name) if after else None
        cause = delta.causes.get(name) if delta else None
        reasons = [r.missing[name].replace("_", " ") for r in (before, after) if r and name in r.missing]
        lines.append(
            [
                (pad(labels[name], cells) + " ", "plain"),
                (
                    f"{wording.score(earlier):>6} → {wording.score(later):<6} ",
                    "plain" if earlier == later else "strong",
                ),
                _direction(earlier, later),
                (f"  cause {cause.value}" if cause else "", "info"),
                (f"  {'; '.join(dict.fromkeys(reasons))}" if reasons else "", "quiet"),
            ]
        )
    sections = [section_of(lines, title=[("scores", "title")])]
    for title, result in (("before", before), ("after", after)):
        route = wording.route(result.route if result else None)
        judgment = result.score_judgment if result else None
        said = f"\n{judgment.justification}" if judgment and judgment.justification and not blind else ""
        sections.append(Section(f"{route}{said}", ((title, "title"),)))
    return sections


def _direction(before: float | None, after: float | None) -> Piece:
    if before is None or after is None or before == after:
        return (CHANGES["unchanged"].glyph if before == after else " ", "quiet")
    return ("▲", "info") if after > before else ("▼", "info")
