"""The audit report as sections that fit 80 columns: verdict, sample, each metric three ways, agreement, people."""

from collections.abc import Iterator, Mapping

from rag_audit.audit.report import AuditReport, SampleState
from rag_audit.audit.report_text import figure, metric_notes, span
from rag_audit.audit.verdict import counted, release_verdict
from rag_audit.statistics.agreement import CLASSES
from rag_audit.statistics.clustered import ClaimAgreement
from rag_audit.text.width import pad
from rag_audit.tui import wording
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.theme import VERDICTS
from rag_audit.tui.widgets.passage import Section


def report_sections(report: AuditReport) -> list[Section]:
    """Everything the report says, the sentence for a manager first."""
    sections = [
        section_of([[(release_verdict(report).sentence, "strong")]], title=_title("verdict")),
        section_of(_sample(report.sample), title=_title("sample")),
        section_of(_metrics(report), title=_title("each metric three ways")),
    ]
    blind, other = report.agreement, report.unblinded
    if blind is not None:
        sections.append(section_of(_agreement(blind), title=_title("judge and people, blind decisions of the draw")))
    if report.leanings:
        sections.append(section_of(_leanings(report), title=_title("direction of the judge's errors")))
    if other is not None:
        sections.append(section_of(_agreement(other), title=_title("unblinded decisions, never merged with the above")))
    for name, parts in (("corpus", report.by_corpus), ("judge", report.by_judge), ("flag", report.by_flag)):
        if len(parts) > 1 or (parts and name == "flag"):
            sections.append(section_of(_parts(parts), title=_title(f"agreement by {name}")))
    if report.by_reviewer:
        sections.append(section_of(_people(report), title=_title("reviewers")))
    queues = list(_queues(report))
    if queues:
        sections.append(section_of(queues, title=_title("beside the sample")))
    if len(report.over_time) > 1:
        moments = {f"{run.started_at[:10]} {wording.run_name(run)}": found for run, found in report.over_time}
        sections.append(section_of(_parts(moments), title=_title("agreement over time")))
    return sections


def _title(text: str) -> list[Piece]:
    return [(text, "title")]


def _sample(state: SampleState | None) -> Iterator[Line]:
    if state is None:
        yield [("None drawn: a on this run draws one. Corrected values need it.", "warn")]
        return
    drawn = state.sample
    yield [
        (f"{counted(len(drawn.questions), 'question')} of {drawn.population}", "plain"),
        (f", seed {drawn.seed}, spread by {drawn.stratify}, for {' and '.join(drawn.target)}", "quiet"),
    ]
    tone = "warn" if state.provisional else "good"
    yield [
        (f"{state.decided_questions} of {len(drawn.questions)} questions decided", tone),
        (f", {state.decided_claims} of {counted(state.claims, 'claim')}", "plain"),
        ("; the estimates are provisional" if state.provisional else "", "warn"),
    ]


def _metrics(report: AuditReport) -> Iterator[Line]:
    if not report.metrics:
        yield [("No metric of this run rests on claims or on the judge's scores.", "quiet")]
        return
    yield [(f"{'':<16} {'judge':>7} {'adjusted':>9} {'corrected':>9}  {'95 % interval':<16} checked", "quiet")]
    for name, metric in report.metrics.items():
        correction = metric.correction
        interval = correction.interval
        yield [
            (pad(name, 16) + " ", "strong"),
            (f"{figure(metric.judge.mean):>7} ", "plain"),
            (f"{figure(metric.adjusted.mean):>9} ", "plain"),
            (f"{figure(interval.estimate):>9}  ", "strong"),
            (pad(span((interval.low, interval.high)), 16) + " ", "plain"),
            (f"{interval.n}", "quiet"),
        ]
        yield [
            (f"  judge {metric.judge.n} of {metric.judge.total} scored", "quiet"),
            *_touched(metric.adjusted_questions),
        ]
        for note in metric_notes(metric):
            yield [(f"  {note}", "quiet")]


def _touched(questions: int) -> list[Piece]:
    if not questions:
        return []
    return [(f"; adjusted: people changed {counted(questions, 'question')}, a description, no estimate", "quiet")]


def _agreement(found: ClaimAgreement) -> Iterator[Line]:
    yield [(f"{counted(found.n, 'claim')} of {counted(found.n_questions, 'question')}", "plain")]
    for name, value, bounds in (
        ("raw", found.raw, found.raw_bounds),
        ("kappa", found.kappa, found.kappa_bounds),
        ("AC1", found.ac1, found.ac1_bounds),
    ):
        yield [(pad(name, 7), "quiet"), (f"{figure(value)}  ", "strong"), (span(bounds), "plain")]
    yield [(pad("judge ↓ people →", 18), "quiet"), *((f"{word:>13}", "quiet") for word in CLASSES)]
    for judge in CLASSES:
        sign = VERDICTS[judge]
        cells = [
            (
                f"{found.table[judge][human]:>13g}",
                "good" if human == judge else "warn" if found.table[judge][human] else "quiet",
            )
            for human in CLASSES
        ]
        yield [(pad(sign.text, 18), sign.tone), *cells]
    for note in found.notes:
        yield [(note, "quiet")]


def _leanings(report: AuditReport) -> Iterator[Line]:
    for leaning in report.leanings:
        sign = VERDICTS[leaning.verdict]
        against = f"judge {leaning.judge:g} times, people {leaning.people:g} times"
        clear = leaning.direction != "unclear"
        words = f"the judge says it {leaning.direction}: " if clear else "no direction can be told: "
        p_value = "" if leaning.p_value is None else f", p {leaning.p_value:.3g}"
        yield [(pad(sign.text, 16), sign.tone), (words, "warn" if clear else "quiet"), (against + p_value, "plain")]


def _parts(parts: Mapping[str, ClaimAgreement]) -> Iterator[Line]:
    for name, found in parts.items():
        yield [
            (pad(name, 34) + " ", "plain"),
            (f"{figure(found.raw)}  {span(found.raw_bounds)}  ", "strong"),
            (f"{counted(found.n, 'claim')} of {counted(found.n_questions, 'question')}", "quiet"),
        ]


def _people(report: AuditReport) -> Iterator[Line]:
    for name, reviewer in report.by_reviewer.items():
        agreement = reviewer.agreement
        pace = "" if reviewer.seconds is None else f", {wording.duration(reviewer.seconds)} a decision"
        yield [
            (pad(name, 16) + " ", "strong"),
            (
                f"{counted(reviewer.decisions, 'decision')} ({reviewer.blind} blind, {reviewer.skipped} cannot judge)",
                "plain",
            ),
            (f", agrees with the judge {figure(agreement.raw)} (n {agreement.n:g})" if agreement else "", "plain"),
            (pace, "quiet"),
        ]
    between = report.between
    if between.claims:
        yield [
            (f"between reviewers: alpha {figure(between.alpha)} over {counted(between.claims, 'claim')}", "plain"),
            (f", {len(between.differences)} decided differently", "warn" if between.differences else "quiet"),
        ]
    for found in between.differences:
        said = ", ".join(f"{reviewer} {verdict}" for reviewer, verdict in found.said.items())
        yield [(f"≠ {found.question_id} {found.claim_id}: ", "warn"), (said, "plain")]


def _queues(report: AuditReport) -> Iterator[Line]:
    decided, overturned = report.flagged
    for count, words in (
        (decided, f"flagged claims decided, {overturned} overturned: a targeted sample, in no estimate"),
        (len(report.disputed), "disputed claims, as judged until they are adjudicated"),
        (report.missed, "claims that the judge missed"),
        (report.cannot_judge, "claims that a reviewer could not judge"),
    ):
        if count:
            yield [(f"{count} ", "strong"), (words, "plain")]
