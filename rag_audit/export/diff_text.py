"""A diff as text for a terminal: what matters first, every list complete."""

from collections.abc import Iterator, Sequence

from rag_audit.diff.claims import flip_counts, flip_name
from rag_audit.export.diff_report import (
    DiffReport,
    cause_text,
    change_line,
    change_text,
    corpus_figures,
    evidence_lines,
    figure,
    headline,
    interval_text,
    own_mean_note,
    p_text,
    question_text,
    reasons_by_metrics,
    run_name,
    value_text,
    verdict_text,
    weaker_corpora,
)
from rag_audit.model import QuestionDelta
from rag_audit.text.table import table
from rag_audit.text.visible import visible_line

FLIPS_SHOWN = 20
"""Claim flips that are written out; the JSON has all."""


def diff_text(report: DiffReport) -> str:
    """The whole report; untrusted text in it is made visible."""
    changed = report.diff.questions.changed
    sections = [
        [f"{run_name(report.before)} → {run_name(report.after)}", *headline(report)],
        _context(report),
        _metrics(report),
        _questions("Regressed", report.diff.questions.regressed, report),
        _questions("Improved", report.diff.questions.improved, report),
        _questions("Changed, neither better nor worse", [delta for delta in changed if delta.metrics], report),
        _same_scores([delta for delta in changed if not delta.metrics]),
        _still_failing(report),
        _apart(report),
        _modules(report),
        _corpora(report),
        _flips(report),
        _noise(report),
        _gate(report),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _context(report: DiffReport) -> list[str]:
    changes = report.diff.context_changes
    if not changes:
        return ["Nothing that is recorded of the two contexts differs."]
    return [
        "What differs between the contexts, likeliest cause first",
        *(f"  {visible_line(change_line(change))}" for change in changes),
    ]


def _metrics(report: DiffReport) -> list[str]:
    diff = report.diff
    if not diff.metrics:
        return ["Neither run has a score."]
    rows = [
        [
            name,
            figure(delta.before),
            figure(delta.after),
            change_text(delta),
            interval_text(delta),
            p_text(delta.p_adjusted),
            str(delta.n_paired),
            verdict_text(name, diff),
        ]
        for name, delta in diff.metrics.items()
    ]
    header = ["metric", "before", "after", "change", "95 % interval", "adj. p", "n", "verdict"]
    lines = [
        f"Metrics, over the questions that both runs scored (intervals over {_units(report)})",
        table(header, rows, right=range(1, 7), indent=2),
        *(f"  {visible_line(names)}: {visible_line(why)}" for names, why in reasons_by_metrics(diff).items()),
    ]
    note = own_mean_note(diff)
    return [*lines, f"  {note}"] if note else lines


def _units(report: DiffReport) -> str:
    units = sorted({f"{delta.unit}s" for delta in report.diff.metrics.values()})
    return " or ".join(units)


def _questions(title: str, deltas: Sequence[QuestionDelta], report: DiffReport) -> list[str]:
    if not deltas:
        return []
    lines = [f"{title} ({len(deltas)})"]
    for delta in deltas:
        lines.append(f"  {visible_line(delta.id)}  {visible_line(question_text(delta))}  [{cause_text(delta)}]")
        lines += [f"      {visible_line(line)}" for line in evidence_lines(report.evidence.get(delta.id))]
    return lines


def _same_scores(deltas: Sequence[QuestionDelta]) -> list[str]:
    """The questions whose text or route alone changed, by cause."""
    by_cause: dict[str, list[str]] = {}
    for delta in deltas:
        by_cause.setdefault(cause_text(delta), []).append(delta.id)
    return [
        f"Same scores, other text or route ({len(ids)}) [{cause}]: {visible_line(', '.join(ids))}"
        for cause, ids in by_cause.items()
    ]


def _still_failing(report: DiffReport) -> list[str]:
    failing = report.diff.still_failing
    if not failing:
        return []
    lines = [f"  {visible_line(name)}  {', '.join(metrics)}" for name, metrics in failing.items()]
    return [f"Still failing: at 0 in both runs ({len(failing)})", *lines]


def _apart(report: DiffReport) -> list[str]:
    questions = report.diff.questions
    lines: list[str] = []
    if questions.unscored:
        lines.append(f"Unscored on one side ({len(questions.unscored)}): neither better nor worse")
        for name in questions.unscored:
            why = ", ".join(f"{metric}: {reason}" for metric, reason in report.unscored_why.get(name, {}).items())
            lines.append(f"  {visible_line(name)}  {visible_line(why)}".rstrip())
    for word, found in (("Edited", questions.edited), ("Added", questions.added), ("Removed", questions.removed)):
        if found:
            lines.append(f"{word} ({len(found)}), not compared: {visible_line(', '.join(found))}")
    return lines


def _modules(report: DiffReport) -> list[str]:
    collapsed = [module for module in report.diff.modules if module.collapse]
    if not collapsed:
        return []
    lines = ["Collapsed modules: they fell by 0.2 or more while the rest moved by less than 0.05"]
    for module in collapsed:
        coverage = " → ".join(value_text(value) for value in module.keyword_coverage)
        hits = " → ".join(value_text(value) for value in module.hit_at_1)
        lines.append(f"  {visible_line(module.doc_id)}  keyword coverage {coverage}, hit@1 {hits}")
        lines.append(f"      questions: {visible_line(', '.join(module.questions))}")
        for name in module.questions:
            sank = [line for line in evidence_lines(report.evidence.get(name)) if line.startswith("sank")]
            lines += [f"      {visible_line(name)} {visible_line(line)}" for line in sank]
    return lines


def _corpora(report: DiffReport) -> list[str]:
    figures = corpus_figures(report)
    if not figures:
        return []
    rows = [
        [
            found.metric,
            found.corpus,
            f"{figure(found.before.mean)} ({found.before.n})" if found.before else "–",
            f"{figure(found.after.mean)} ({found.after.n})" if found.after else "–",
        ]
        for found in figures
    ]
    return [
        "By corpus, each run's own mean (n)",
        table(["metric", "corpus", "before", "after"], rows, right=(2, 3), indent=2),
        *(f"  {visible_line(line)}" for line in weaker_corpora(figures)),
    ]


def _flips(report: DiffReport) -> list[str]:
    flips = report.diff.claim_flips
    if not flips:
        return []
    counts = ", ".join(f"{count} {name}" for name, count in flip_counts(flips).items())
    lines = [f"Claims: {counts}"]
    for flip in flips[:FLIPS_SHOWN]:
        lines.append(f"  {visible_line(flip.question_id)}  {flip_name(flip)}")
        lines += [f"      {side} {visible_line(text)}" for side, text in _sides(flip.before_claim, flip.after_claim)]
    if len(flips) > FLIPS_SHOWN:
        lines.append(f"  … and {len(flips) - FLIPS_SHOWN} more: --json lists all.")
    return lines


def _sides(before: str | None, after: str | None) -> Iterator[tuple[str, str]]:
    if before is not None and before == after:
        yield "  ", before
        return
    if before is not None:
        yield "- ", before
    if after is not None:
        yield "+ ", after


def _noise(report: DiffReport) -> list[str]:
    floors = report.diff.noise_floor
    if not floors:
        return []
    listed = ", ".join(f"{name} {value:.3g}" for name, value in floors.items())
    return [f"Noise: repeats of one question spread by (standard deviation) {listed}."]


def _gate(report: DiffReport) -> list[str]:
    if not report.diff.gate.tripped:
        return []
    return [
        "GATE FAILED",
        *(
            f"  {reason.kind}  {reason.metric or ''}  {visible_line(reason.detail)}".rstrip()
            for reason in report.diff.gate.reasons
        ),
    ]
