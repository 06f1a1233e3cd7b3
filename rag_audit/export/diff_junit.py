"""A diff as JUnit XML: what a build server shows as failed is exactly what the gate says."""

from collections.abc import Iterator

from rag_audit.export.diff_report import (
    DiffReport,
    cause_text,
    figure,
    question_text,
    reason_text,
    run_name,
    verdict_text,
)
from rag_audit.export.markup import xml_text
from rag_audit.model import MetricVerdict


def diff_junit(report: DiffReport) -> str:
    """One suite of metrics and one of questions.

    A metric fails where the gate names it, and is skipped where it cannot be compared. A regressed question fails only
    where the gate tripped on a regression; otherwise its case passes and its output says how it moved.
    """
    suites = [_suite("metrics", list(_metrics(report))), _suite("questions", list(_questions(report)))]
    name = xml_text(f"{run_name(report.before)} → {run_name(report.after)}")
    body = "".join(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{name}">\n{body}</testsuites>\n'


def _suite(name: str, cases: list[str]) -> str:
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    head = f'<testsuite name="{name}" tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}">'
    return f"{head}\n{''.join(cases)}</testsuite>\n"


def _metrics(report: DiffReport) -> Iterator[str]:
    diff = report.diff
    by_metric: dict[str | None, list[str]] = {}
    for reason in diff.gate.reasons:
        by_metric.setdefault(reason.metric, []).append(f"{reason.kind}: {reason.detail}")
    for name, delta in diff.metrics.items():
        said = f"{figure(delta.before)} → {figure(delta.after)}, {verdict_text(name, diff)}; {reason_text(name, diff)}"
        inner = f"<system-out>{xml_text(said)}</system-out>"
        if name in by_metric:
            inner = f'<failure message="{xml_text("; ".join(by_metric[name]))}"/>{inner}'
        elif delta.verdict is MetricVerdict.NOT_COMPARABLE:
            inner = f'<skipped message="{xml_text(delta.reason)}"/>{inner}'
        yield _case("metrics", name, inner)
    for why in by_metric.get(None, ()):
        yield _case("metrics", "gate", f'<failure message="{xml_text(why)}"/>')


def _questions(report: DiffReport) -> Iterator[str]:
    questions = report.diff.questions
    regressed = {reason.metric for reason in report.diff.gate.reasons if reason.kind == "regression"}
    for delta in (*questions.regressed, *questions.improved, *questions.changed):
        said = f"{question_text(delta) or 'same scores'}; cause: {cause_text(delta)}"
        fails = delta in questions.regressed and bool(regressed & delta.metrics.keys())
        inner = f'<failure message="{xml_text(said)}"/>' if fails else f"<system-out>{xml_text(said)}</system-out>"
        yield _case("questions", delta.id, inner)
    for word, ids in (("unscored on one side", questions.unscored), ("edited", questions.edited)):
        for name in ids:
            yield _case("questions", name, f'<skipped message="{word}"/>')


def _case(suite: str, name: str, inner: str) -> str:
    return f'<testcase classname="{suite}" name="{xml_text(name)}">{inner}</testcase>\n'
