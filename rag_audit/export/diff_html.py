"""A diff as one HTML page: what moved, and each question side by side."""

from collections.abc import Iterator, Sequence

from rag_audit.diff.claims import flip_counts, flip_name
from rag_audit.export.diff_report import (
    DiffReport,
    QuestionPair,
    cause_text,
    change_text,
    change_value,
    corpus_figures,
    figure,
    headline,
    interval_text,
    own_mean_note,
    p_text,
    question_text,
    rank_text,
    reason_text,
    run_name,
    value_text,
    verdict_text,
    weaker_corpora,
)
from rag_audit.export.markup import html_text
from rag_audit.export.page import html_table, page_end, page_start, tagged
from rag_audit.model import ClaimFlip, QuestionDelta
from rag_audit.text.visible import visible
from rag_audit.text.worddiff import word_changes


def diff_html(report: DiffReport) -> str:
    """The whole page."""
    return "".join(_parts(report))


def _parts(report: DiffReport) -> Iterator[str]:
    diff = report.diff
    yield page_start(f"{run_name(report.before)} → {run_name(report.after)}")
    yield "".join(f"<p>{html_text(sentence)}</p>\n" for sentence in headline(report))
    if diff.gate.tripped:
        reasons = "".join(
            f"<li><code>{html_text(found.kind)}</code> {html_text(found.metric or '')} {html_text(found.detail)}</li>"
            for found in diff.gate.reasons
        )
        yield f'<div class="gate"><p class="regressed">The gate failed.</p><ul>{reasons}</ul></div>\n'
    yield from _metrics(report)
    yield from _context(report)
    flips = _by_question(diff.claim_flips)
    questions = diff.questions
    yield from _questions("Regressed", questions.regressed, report, flips)
    yield from _questions("Improved", questions.improved, report, flips)
    changed = [delta for delta in questions.changed if delta.metrics]
    yield from _questions("Changed, neither better nor worse", changed, report, flips)
    yield from _apart(report)
    yield from _modules(report)
    yield from _corpora(report)
    yield from _flips(report)
    yield page_end(report.head)


def _metrics(report: DiffReport) -> Iterator[str]:
    diff = report.diff
    yield "<h2>Metrics</h2>\n<p>Over the questions that both runs scored.</p>\n"
    rows = [
        [
            html_text(name),
            figure(delta.before),
            figure(delta.after),
            change_text(delta),
            interval_text(delta),
            html_text(p_text(delta.p_adjusted)),
            f"{delta.n_paired}",
            tagged(delta.verdict.value, verdict_text(name, diff)),
            html_text(reason_text(name, diff)),
        ]
        for name, delta in diff.metrics.items()
    ]
    header = ["metric", "before", "after", "change", "95 % interval", "adjusted p", "n", "verdict", "why"]
    yield html_table(header, rows, numbers=range(1, 7))
    note = own_mean_note(diff)
    if note:
        yield f'<p class="dim">{html_text(note)}</p>\n'
    if diff.noise_floor:
        listed = ", ".join(f"{name} {value:.3g}" for name, value in diff.noise_floor.items())
        yield f'<p class="dim">Repeats of one question spread by (standard deviation) {html_text(listed)}.</p>\n'


def _context(report: DiffReport) -> Iterator[str]:
    yield "<h2>Context</h2>\n"
    changes = report.diff.context_changes
    if not changes:
        yield "<p>Nothing that is recorded of the two contexts differs.</p>\n"
        return
    yield "<p>What differs, likeliest cause first.</p>\n"
    rows = [
        [html_text(change.key), html_text(change_value(change.before)), html_text(change_value(change.after))]
        for change in changes
    ]
    yield html_table(["part", "before", "after"], rows)


Flips = dict[str, list[ClaimFlip]]


def _by_question(flips: Sequence[ClaimFlip]) -> Flips:
    found: Flips = {}
    for flip in flips:
        found.setdefault(flip.question_id, []).append(flip)
    return found


def _questions(title: str, deltas: Sequence[QuestionDelta], report: DiffReport, flips: Flips) -> Iterator[str]:
    if not deltas:
        return
    yield f"<h2>{title} ({len(deltas)})</h2>\n"
    for delta in deltas:
        yield f'<section class="question"><h3>{html_text(delta.id)}</h3>\n'
        cause = f'<span class="dim">cause: {html_text(cause_text(delta))}</span>'
        yield f"<p>{html_text(question_text(delta))} {cause}</p>\n"
        pair = report.evidence.get(delta.id)
        if pair is not None:
            yield from _side_by_side(pair, flips.get(delta.id, []))
        yield "</section>\n"


def _side_by_side(pair: QuestionPair, flips: Sequence[ClaimFlip]) -> Iterator[str]:
    yield f"<p>{html_text(pair.after.question.question)}</p>\n"
    before, after = (side.generation.answer if side.generation else "–" for side in (pair.before, pair.after))
    left, right = marked_words(before, after)
    yield f'<div class="sides"><div><h3>Answer before</h3><pre>{left}</pre></div>'
    yield f"<div><h3>Answer after</h3><pre>{right}</pre></div></div>\n"
    routes = [", ".join(side.route.corpora) or "–" for side in (pair.before, pair.after)]
    route = routes[0] if routes[0] == routes[1] else " → ".join(routes)
    if pair.moves:
        yield f"<h3>Retrieved from {html_text(route)}</h3>\n"
        rows = [
            [
                rank_text(move.ranks[0]),
                rank_text(move.ranks[1]),
                html_text(move.chunk.chunk.doc_id) + (" · relevant" if move.relevant else ""),
                f"<pre>{html_text(move.chunk.chunk.text)}</pre>",
            ]
            for move in pair.moves
        ]
        yield html_table(["rank before", "after", "document", "text"], rows, numbers=(0, 1))
    if flips:
        yield html_table(["claim", "before", "claim after", "after"], map(_flip, flips))


def marked_words(before: str, after: str) -> tuple[str, str]:
    """Both texts as HTML with what was removed and added marked, word by word."""
    earlier, later = visible(before), visible(after)
    left, right = [], []
    for change in word_changes(earlier, later):
        old, new = html_text(earlier[slice(*change.before)]), html_text(later[slice(*change.after)])
        left.append(old if change.kind == "same" or not old else f"<del>{old}</del>")
        right.append(new if change.kind == "same" or not new else f"<ins>{new}</ins>")
    return "".join(left), "".join(right)


def _flip(flip: ClaimFlip) -> list[str]:
    return [
        html_text(flip.before_claim or "–"),
        tagged(flip.before) if flip.before else '<span class="dim">new</span>',
        html_text(flip.after_claim or "–"),
        tagged(flip.after) if flip.after else '<span class="dim">gone</span>',
    ]


def _apart(report: DiffReport) -> Iterator[str]:
    questions = report.diff.questions
    same_scores = [delta.id for delta in questions.changed if not delta.metrics]
    for title, ids in (
        ("Same scores, other text or route", same_scores),
        ("Still failing: at 0 in both runs", list(report.diff.still_failing)),
        ("Unscored on one side", questions.unscored),
        ("Edited", questions.edited),
        ("Added", questions.added),
        ("Removed", questions.removed),
    ):
        if ids:
            yield f"<h2>{title} ({len(ids)})</h2>\n<p>{html_text(', '.join(map(str, ids)))}</p>\n"


def _modules(report: DiffReport) -> Iterator[str]:
    collapsed = [module for module in report.diff.modules if module.collapse]
    if collapsed:
        yield "<h2>Collapsed modules</h2>\n"
        rows = [
            [
                html_text(module.doc_id),
                " → ".join(value_text(value) for value in module.keyword_coverage),
                " → ".join(value_text(value) for value in module.hit_at_1),
                html_text(", ".join(module.questions)),
            ]
            for module in collapsed
        ]
        yield html_table(["module", "keyword coverage", "hit@1", "questions"], rows)


def _corpora(report: DiffReport) -> Iterator[str]:
    figures = corpus_figures(report)
    if figures:
        yield "<h2>By corpus</h2>\n<p>Each run's own mean (n).</p>\n"
        rows = [
            [
                html_text(one.metric),
                html_text(one.corpus),
                *(f"{figure(side.mean)} ({side.n})" if side else "–" for side in (one.before, one.after)),
            ]
            for one in figures
        ]
        yield html_table(["metric", "corpus", "before", "after"], rows, numbers=(2, 3))
        yield "".join(f"<p>{html_text(line)}</p>\n" for line in weaker_corpora(figures))


def _flips(report: DiffReport) -> Iterator[str]:
    flips = report.diff.claim_flips
    if flips:
        counts = ", ".join(f"{count} {name}" for name, count in flip_counts(flips).items())
        yield f"<h2>Claims ({len(flips)})</h2>\n<p>{html_text(counts)}</p>\n"
        rows = [[html_text(flip.question_id), html_text(flip_name(flip)), *_flip(flip)[::2]] for flip in flips]
        yield html_table(["question", "flip", "before", "after"], rows)
