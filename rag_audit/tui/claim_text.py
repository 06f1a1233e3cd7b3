"""What the claim screen says of a claim, a decision and a question without claims; hidden while blind."""

from collections.abc import Mapping

from rag_audit.audit.standing import subject
from rag_audit.model import Decision, QuestionResult, Queue
from rag_audit.tui import wording
from rag_audit.tui.blindness import SCORES
from rag_audit.tui.content import Piece
from rag_audit.tui.desk import Desk, Item
from rag_audit.tui.layout import Line
from rag_audit.tui.theme import VERDICTS
from rag_audit.tui.widgets.record_table import Column

FLAG_WORDS: Mapping[str, str] = {
    "contradicted_cites_source": "cites the source",
    "absent_but_present": "is in the source",
    "blind_spot": "judge could not see it",
    "quote_not_found": "quote not found",
    "skipped_lookup": "skipped lookup",
    "score_claims_disagree": "scores disagree",
    "self_judged": "self-judged",
    "misrouted": "misrouted",
    "context_conflicts_reference": "context conflicts",
    "truncated": "truncated",
    "judge_directed_text": "addresses the judge",
    "empty_or_refused": "empty or refused",
    "scores_repeat_mean": "scores repeat a mean",
}
"""Flag to a few words for narrow places."""


def item_columns(*, wide: bool = False) -> list[Column[Item]]:
    """The columns of the list of claims."""
    return [
        Column("", lambda item: (item.claim.id, "quiet"), 3),
        Column("judge", _judge, 14),
        Column("you", lambda item: _own(item, wide=wide), 14 if wide else 3),
        Column("", lambda item: ("!" * min(len(item.flags), 2), "warn"), 2, 2),
        Column("claim", lambda item: (" ".join(item.claim.text.split()), "plain"), 8, flexible=True),
    ]


def _judge(item: Item) -> Piece:
    if item.added:
        return ("+ missed", "info")
    if not item.open:
        return ("◌ blind", "quiet")
    sign = VERDICTS[item.claim.verdict.value]
    return (sign.text, sign.tone)


def _own(item: Item, *, wide: bool) -> Piece:
    if item.decision is None or item.decision.verdict is None:
        return ("·", "quiet")
    sign = VERDICTS[item.decision.verdict]
    return (sign.text if wide else sign.glyph, sign.tone)


def claim_lines(item: Item, desk: Desk, reason: str | None) -> list[Line]:
    """The claim in full, the decision or the `reason` given before it, and the judge's side where it is open."""
    claim = item.claim
    again = f" (listed {claim.count} times)" if claim.count > 1 and item.open else ""
    lines: list[Line] = [[(f"{claim.id} ", "title"), (claim.text + again, "strong")], _decision_line(item, reason)]
    if desk.targets_scores:
        lines.append(_score_line(desk))
    for other in item.others:
        sign = VERDICTS[other.verdict or "skip"]
        said = f"  {other.reason}" if other.reason else ""
        lines.append([(f"{other.reviewer}  ", "quiet"), (sign.text, sign.tone), (said, "plain")])
    if item.offer is not None:
        sign = VERDICTS[item.offer.verdict]
        rest = "  stale: the excerpt is another one" if item.offer.stale else "  K keeps it"
        lines.append([(f"you, in {item.offer.decision.run_id}  ", "quiet"), (sign.text, sign.tone), (rest, "quiet")])
    if item.disputed:
        lines.append([("≠ disputed  ", "warn"), ("D settles it as an adjudication", "quiet")])
    if not item.open:
        lines.append([("judge  ", "quiet"), ("opens after your decision", "quiet")])
        return lines
    if item.added:
        lines.append([("judge  ", "quiet"), ("did not list this claim", "info")])
        return lines
    sign = VERDICTS[claim.verdict.value]
    where = {"none": "no support found", "both": "support in reference and context"}.get(
        claim.support.value, f"support in the {claim.support.value}"
    )
    lines.append(
        [("judge  ", "quiet"), (sign.text, sign.tone), (f"  {where}  ", "quiet"), (claim.reason or "", "plain")]
    )
    if claim.evidence:
        missing = "" if claim.evidence_spans else "  ! not in the excerpt"
        lines.append([("quote  ", "quiet"), (f"“{claim.evidence}”", "plain"), (missing, "warn")])
    for flag in item.flags:
        lines.append([(f"! {FLAG_WORDS.get(flag.flag.value, flag.flag.value)}  ", "warn"), (flag.why, "plain")])
    return lines


def _decision_line(item: Item, waiting: str | None) -> Line:
    decision = item.decision
    if decision is None or decision.verdict is None:
        rest = f"  reason kept: {waiting}" if waiting else ""
        return [("you    ", "quiet"), ("not decided", "plain"), (rest, "quiet")]
    sign = VERDICTS[decision.verdict]
    how = "  blind" if decision.blind else "  informed" if decision.informed else ""
    how += ", settles the dispute" if decision.kind == "adjudication" else ""
    reason = f"  {decision.reason}" if decision.reason else ""
    return [("you    ", "quiet"), (sign.text, sign.tone), (how, "quiet"), (reason, "plain")]


def _score_line(desk: Desk) -> Line:
    given = desk.scores()
    line: list[Piece] = [("scores ", "quiet")]
    for name in SCORES:
        decision = given.get(name)
        judged = desk.result.scores.get(name)
        line += [
            (f"{wording.short_name(name)} ", "quiet"),
            (wording.score(decision.value) if decision else "·", "strong"),
        ]
        if desk.is_open(desk.key(f"score {name}")):
            line.append((f" (judge {wording.score(judged)})", "quiet"))
        line.append(("   ", "plain"))
    return line


def last_line(desk: Desk, previous: Decision | None, undone: Decision | None) -> list[Piece]:
    """What was done last, and what the judge had said once that may be seen."""
    if undone is not None:
        return [("taken back: ", "quiet"), (f"{undone.question_id} {undone.claim_id or undone.metric or ''}", "plain")]
    if previous is None:
        return sample_line(desk)
    where = f"{previous.question_id} {previous.claim_id or previous.metric or ''}"
    line: list[Piece] = [(f"{where}  you ", "quiet")]
    if previous.verdict is not None:
        sign = VERDICTS[previous.verdict]
        line.append((sign.text, sign.tone))
    elif previous.value is not None:
        line.append((wording.score(previous.value), "strong"))
    line += _judge_said(desk, previous)
    line.append(("  u undo", "quiet"))
    return [*line, ("   ", "quiet"), *_progress(desk)] if _is_in_sample(desk) else line


def sample_line(desk: Desk) -> list[Piece]:
    """How far the sample is, at what pace, and how long it will take."""
    sample = desk.notebook.sample
    if sample is None or not _is_in_sample(desk):
        return [("not in the sample: these decisions move adjusted numbers only", "quiet")]
    return [(f"sample of {wording.plural(len(sample.questions), 'question')}: ", "quiet"), *_progress(desk)]


def _is_in_sample(desk: Desk) -> bool:
    return desk.notebook.sample is not None and desk.queue is Queue.SAMPLE


def _progress(desk: Desk) -> list[Piece]:
    notebook = desk.notebook
    total, left = sum(notebook.asked.values()), notebook.left()
    line: list[Piece] = [(f"{total - left}/{wording.plural(total, 'claim')} decided", "plain")]
    pace = notebook.pace_s()
    if pace is not None and left:
        line.append((f"  {wording.duration(pace)} a claim, {wording.time_left(pace * left)}", "quiet"))
    return line


def _judge_said(desk: Desk, previous: Decision) -> list[Piece]:
    if previous.judge_verdict is None:
        return []
    if previous.blind and subject(previous) not in desk.notebook.seen:
        return [("  judge opens in a moment", "quiet")]
    sign = VERDICTS.get(previous.judge_verdict)
    if sign is None:
        return [(f"  judge {previous.judge_verdict}", "quiet")]
    agrees = previous.judge_verdict == previous.verdict
    word: Piece = ("  = agrees", "good") if agrees else ("  ≠ differs", "warn")
    return [("  judge ", "quiet"), (sign.text, sign.tone), word]


def no_claim_lines(desk: Desk) -> list[Line]:
    """Why there is no claim to decide, and the scores where the draw asks for them."""
    lines: list[Line] = [[(_why_no_claims(desk.result), "quiet")]]
    return [*lines, _score_line(desk)] if desk.targets_scores else lines


def _why_no_claims(result: QuestionResult) -> str:
    judgment = result.claim_judgment
    if judgment is None:
        return "No claim judge was asked (rejudge fills this in)."
    if judgment.error:
        return f"The claim judge failed: {judgment.error}."
    return "The judge listed no claims; + adds one that it missed."


def reference_of(run: str, item: Item, result: QuestionResult) -> str:
    """A claim with its evidence and where both come from, as a person would paste it."""
    lines = [f"{run} {result.question.id} {item.claim.id}: {item.claim.text}"]
    if item.decision is not None and item.decision.verdict:
        lines.append(f"reviewer {item.decision.reviewer}: {item.decision.verdict}")
    if item.open and not item.added:
        lines.append(f"judge: {item.claim.verdict.value}")
        if item.claim.evidence:
            lines.append(f"evidence: {item.claim.evidence}")
    judgment = result.claim_judgment
    sources = [p for p in judgment.excerpt.reference if p.doc_id] if judgment else []
    lines += [f"source: {p.doc_id}" + (f":{p.line}" if p.line is not None else "") for p in sources]
    return "\n".join(lines)
