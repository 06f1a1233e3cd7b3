"""A diff as Markdown that fits into one pull-request comment."""

from collections.abc import Sequence

from rag_audit.diff.claims import flip_counts, flip_name
from rag_audit.export.diff_report import (
    DiffReport,
    cause_text,
    change_text,
    change_value,
    evidence_lines,
    figure,
    headline,
    interval_text,
    own_mean_note,
    p_text,
    question_text,
    run_name,
    verdict_text,
)
from rag_audit.export.markup import code, code_cell
from rag_audit.model import QuestionDelta

LONGEST = 60_000
"""Characters; GitHub refuses a comment over 65,536."""
LISTED = 25
"""Entries of one list; the rest is counted."""


def diff_md(report: DiffReport) -> str:
    """The report; lists are cut with a count rather than the comment refused."""
    diff = report.diff
    gate = [f"- `{reason.kind}` {code(reason.metric or '–')} {code(reason.detail)}" for reason in diff.gate.reasons]
    sections = [
        [f"### {code(run_name(report.before))} → {code(run_name(report.after))}"],
        ["**The gate failed.**", "", *gate] if gate else [],
        [f"- {_escape(sentence)}" for sentence in headline(report)],
        _metrics(report),
        _context(report),
        _questions("Regressed", diff.questions.regressed, report),
        _questions("Improved", diff.questions.improved, report),
        _questions("Changed otherwise", [d for d in diff.questions.changed if d.metrics], report),
        [
            f"{title}: {_ids(ids)}"
            for title, ids in (
                ("Still failing", list(diff.still_failing)),
                ("Unscored on one side", diff.questions.unscored),
                ("Edited", diff.questions.edited),
                ("Added", diff.questions.added),
                ("Removed", diff.questions.removed),
                ("Collapsed modules", [module.doc_id for module in diff.modules if module.collapse]),
            )
            if ids
        ],
        _flips(report),
        [f"History head {code(report.head)}"] if report.head else [],
    ]
    kept, length = [], 0
    for section in sections:
        text = "\n".join(section)
        length += len(text) + 2
        if length > LONGEST:
            kept.append("The rest does not fit: `rag-audit diff` prints all of it.")
            break
        if text:
            kept.append(text)
    return "\n\n".join(kept) + "\n"


def _escape(sentence: str) -> str:
    """Own words with metric names in them: the only markup they could hold is underscores and brackets."""
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#~@" else character for character in sentence)


def _metrics(report: DiffReport) -> list[str]:
    lines = [
        "| metric | before | after | change | 95 % interval | adj. p | n | verdict |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for name, delta in report.diff.metrics.items():
        cells = [
            code_cell(name),
            figure(delta.before),
            figure(delta.after),
            change_text(delta),
            interval_text(delta),
            p_text(delta.p_adjusted),
            str(delta.n_paired),
            verdict_text(name, report.diff),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    note = own_mean_note(report.diff)
    return [*lines, "", _escape(note)] if note else lines


def _context(report: DiffReport) -> list[str]:
    changes = report.diff.context_changes
    lines = [
        f"- {code(change.key)} {code(change_value(change.before))} → {code(change_value(change.after))}"
        for change in changes[:LISTED]
    ]
    more = [f"- and {len(changes) - LISTED} more"] if len(changes) > LISTED else []
    return ["Context, likeliest cause first:", *lines, *more] if lines else []


def _questions(title: str, deltas: Sequence[QuestionDelta], report: DiffReport) -> list[str]:
    if not deltas:
        return []
    lines = [f"**{title} ({len(deltas)})**", ""]
    for delta in deltas[:LISTED]:
        lines.append(f"- {code(delta.id)} {code(question_text(delta))} ({_escape(cause_text(delta))})")
        lines += [f"  - {code(line)}" for line in evidence_lines(report.evidence.get(delta.id))]
    if len(deltas) > LISTED:
        lines.append(f"- and {len(deltas) - LISTED} more")
    return lines


def _ids(ids: Sequence[str]) -> str:
    listed = ", ".join(code(name) for name in ids[:LISTED])
    return f"{listed} and {len(ids) - LISTED} more" if len(ids) > LISTED else listed


def _flips(report: DiffReport) -> list[str]:
    flips = report.diff.claim_flips
    if not flips:
        return []
    counts = ", ".join(f"{count} {name}" for name, count in flip_counts(flips).items())
    lines = [f"**Claims:** {counts}", ""]
    lines += [
        f"- {code(flip.question_id)} {flip_name(flip)}: {code(flip.after_claim or flip.before_claim or '')}"
        for flip in flips[:LISTED]
    ]
    return lines
