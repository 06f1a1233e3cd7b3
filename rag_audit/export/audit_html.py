"""The audit as one page: the verdict first, then the figures, then every decision beside the text it rests on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TextIO

from rag_audit.audit.report_text import figure, metric_notes, span
from rag_audit.audit.verdict import counted, release_verdict
from rag_audit.export.auditpack import AuditPack, Place, find_claim, judged_claims, standing_of
from rag_audit.export.markup import html_text
from rag_audit.export.page import html_table, page_end, page_start, tagged
from rag_audit.model import Claim, ClaimJudgment, Decision, QuestionResult
from rag_audit.statistics.agreement import CLASSES
from rag_audit.statistics.clustered import ClaimAgreement


def write_audit_html(pack: AuditPack, out: TextIO) -> None:
    """Write the page: self-contained, without script, every text escaped."""
    run = pack.report.run
    out.write(page_start(f"Audit of run {run.label or run.id}"))
    out.write(f"<p><strong>{html_text(release_verdict(pack.report).sentence)}</strong></p>\n")
    out.writelines(_design(pack))
    out.writelines(_metrics(pack))
    out.writelines(_agreement("Judge and people: blind decisions of the draw", pack.report.agreement))
    out.writelines(_agreement("Unblinded decisions: they describe, and estimate nothing", pack.report.unblinded))
    out.write("<h2>Decisions</h2>\n")
    by_place: defaultdict[Place, list[Decision]] = defaultdict(list)
    for decision in pack.decisions.standing.ordered:
        by_place[decision.question_id, decision.repeat].append(decision)
    for place in sorted(by_place, key=lambda place: (place[0], place[1] or 0)):
        out.writelines(_answer(pack, place, by_place[place]))
    out.write(page_end(pack.head))


def _design(pack: AuditPack) -> Iterator[str]:
    run, state = pack.report.run, pack.report.sample
    judges = ", ".join(f"{role}: {name}" for role, name in run.context.judges.items())
    facts = [
        ("run", run.id),
        ("started", run.started_at),
        ("judges", judges),
        ("evaluated by version", run.context.version),
    ]
    if state is None:
        facts.append(("sample", "none drawn: nothing is estimated"))
    else:
        sample = state.sample
        strata = ", ".join(f"{name} {drawn} of {size}" for name, (drawn, size) in sample.strata.items())
        facts += [
            (
                "sample",
                f"{len(sample.questions)} of {counted(sample.population, 'question')}, "
                f"{counted(state.claims, 'claim')}",
            ),
            ("design", f"seed {sample.seed}, fraction {sample.fraction:g}, {sample.stratify}: {strata}"),
            ("targets", ", ".join(sample.target)),
            ("decided", f"{state.decided_questions} questions, {state.blind_questions} of them blind"),
            ("standing", "provisional: drawn questions are undecided" if state.provisional else "complete"),
        ]
    report = pack.report
    facts += [
        ("flagged queue", f"{report.flagged[0]} claims decided, {report.flagged[1]} overturned; in no estimate"),
        ("disputed", str(len(report.disputed))),
        ("missed by the judge", str(report.missed)),
    ]
    yield html_table(["", ""], [[html_text(name), html_text(value)] for name, value in facts])


def _metrics(pack: AuditPack) -> Iterator[str]:
    rows, notes = [], []
    for name, metric in pack.report.metrics.items():
        correction, interval = metric.correction, metric.correction.interval
        corrected = span(correction.bounds) if correction.bounds else figure(interval.estimate)
        cells = (
            *(name, figure(metric.judge.mean), figure(metric.adjusted.mean), corrected),
            *(span((interval.low, interval.high)), span(correction.wilson), str(interval.n), interval.method),
        )
        rows.append([html_text(cell) for cell in cells])
        notes += [f"{name}: {note}" for note in metric_notes(metric)]
    header = ["metric", "judge's", "adjusted", "corrected", "95 % interval", "Wilson", "checked", "method"]
    yield "<h2>Metrics</h2>\n" + html_table(header, rows, numbers=(1, 2, 3, 6))
    yield "".join(f'<p class="dim">{html_text(note)}</p>\n' for note in notes)


def _agreement(title: str, found: ClaimAgreement | None) -> Iterator[str]:
    if found is None:
        return
    yield f"<h2>{html_text(title)}</h2>\n<p>{counted(found.n, 'claim')} of {counted(found.n_questions, 'question')}: "
    yield f"raw agreement {figure(found.raw)} ({span(found.raw_bounds)}), kappa {figure(found.kappa)} "
    yield f"({span(found.kappa_bounds)}), AC1 {figure(found.ac1)} ({span(found.ac1_bounds)}). "
    yield f'<span class="dim">{html_text(found.method)}</span></p>\n'
    rows = [[tagged(judge), *(f"{found.table[judge][human]:g}" for human in CLASSES)] for judge in CLASSES]
    yield html_table(["judge \\ people", *CLASSES], rows, numbers=(1, 2, 3))
    yield "".join(f'<p class="dim">{html_text(note)}</p>\n' for note in found.notes)


def _answer(pack: AuditPack, place: Place, decisions: Sequence[Decision]) -> Iterator[str]:
    result = pack.evidence.get(place)
    name = place[0] if place[1] is None else f"{place[0]}, repeat {place[1]}"
    yield f'<section class="question"><h3>{html_text(name)}</h3>\n'
    if result is not None:
        yield f"<p>{html_text(result.question.question)}</p>\n"
        yield f"<pre>{html_text(result.generation.answer if result.generation else '–')}</pre>\n"
    header = ["claim", "judge", "reviewer", "effective", "who and when", "how", "reason", "evidence"]
    yield html_table(header, (_decision(pack, result, decision) for decision in decisions))
    if result is not None and result.claim_judgment is not None:
        yield from _excerpt(result.claim_judgment)
    yield "</section>\n"


def _decision(pack: AuditPack, result: QuestionResult | None, decision: Decision) -> list[str]:
    claim = find_claim(pack, decision)
    judged = next((c for c in judged_claims(result) if claim and c.id == claim.id), None)
    about = decision.text or (claim.text if claim else decision.metric or "")
    said = decision.verdict or (
        "undo" if decision.kind == "undo" else f"{decision.value:g}" if decision.value is not None else ""
    )
    standing = standing_of(pack, decision)
    how = [
        decision.kind.replace("_", " "),
        decision.queue.value,
        "blind" if decision.blind else "not blind",
        *(["informed"] if decision.informed else []),
        *(["counts in agreement and corrected values"] if standing["counted"] else []),
        *([] if standing["in_force"] or decision.kind == "undo" else ["no longer in force"]),
    ]
    seen = decision.judge_verdict
    return [
        f"{html_text(decision.claim_id or '')} {html_text(about)}",
        tagged(seen) if seen else '<span class="dim">missed</span>' if claim and claim.missed else "–",
        tagged(said) if said else "–",
        tagged(claim.verdict.value) if claim and claim.verdict else "–",
        f"{html_text(decision.reviewer)}<br>{html_text(decision.time)}",
        html_text(", ".join(how)) + f'<br><code class="dim">{html_text(decision.id)}</code>',
        html_text(decision.reason or ""),
        _quote(judged),
    ]


def _quote(claim: Claim | None) -> str:
    if claim is None or not claim.evidence:
        return ""
    found = "" if claim.evidence_spans else ' <span class="dim">(not in the excerpt)</span>'
    return html_text(claim.evidence) + found


def _excerpt(judgment: ClaimJudgment) -> Iterator[str]:
    for part in ("reference", "context"):
        text = judgment.excerpt.text(part)
        if not text:
            continue
        spans = sorted(
            (found.start, found.end)
            for claim in judgment.claims
            for found in claim.evidence_spans
            if found.part == part and 0 <= found.start < found.end <= len(text)
        )
        yield f"<details><summary>What the judge saw: {part}</summary><pre>{_marked(text, spans)}</pre></details>\n"


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with the judge's evidence marked; overlapping spans become one."""
    pieces, at = [], 0
    for start, end in spans:
        if end <= at:
            continue
        start = max(start, at)
        pieces += [html_text(text[at:start]), f"<mark>{html_text(text[start:end])}</mark>"]
        at = end
    return "".join([*pieces, html_text(text[at:])])
