"""A run as JUnit XML: one test case a question, for a build server's list."""

from typing import TextIO

from rag_audit.diff.facts import differs
from rag_audit.export.markup import xml_text
from rag_audit.export.run_report import ExportedQuestion, RunReport
from rag_audit.model import Verdict, is_failed


def write_junit(report: RunReport, out: TextIO) -> None:
    """Write one test case a question.

    An *error* lacks a score that was asked for; a *failure* has a claim that its source contradicts (as the judge says:
    human corrections belong to the audit, and effort differs from run to run).
    """
    cases = [_case(question) for question in report.questions()]
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    name = xml_text(report.summary.label or report.summary.id)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<testsuites><testsuite name="{name}" tests="{len(cases)}" failures="{failures}" errors="{errors}">\n')
    out.write(_properties(report))
    out.writelines(cases)
    out.write("</testsuite></testsuites>\n")


def _properties(report: RunReport) -> str:
    values = {
        "run": report.summary.id,
        "history_head": report.head or "",
        **{name: "" if metric.mean is None else repr(metric.mean) for name, metric in report.summary.metrics.items()},
    }
    inner = "".join(f'<property name="{xml_text(name)}" value="{xml_text(value)}"/>' for name, value in values.items())
    return f"<properties>{inner}</properties>\n"


def _case(question: ExportedQuestion) -> str:
    result = question.result
    name = result.question.id if result.repeat is None else f"{result.question.id} #{result.repeat}"
    head = f'<testcase classname="{xml_text(result.question.doc_id or "questions")}" name="{xml_text(name)}">'
    failed = {metric: reason for metric, reason in result.missing.items() if is_failed(reason)}
    inner = ""
    if failed or result.error:
        why = ", ".join(f"{metric}: {reason}" for metric, reason in failed.items()) or str(result.error)
        inner = f'<error message="{xml_text(why)}"/>'
    else:
        contradicted = [item.claim.text for item in question.claims if item.claim.verdict is Verdict.CONTRADICTED]
        value = result.scores.get("no_fabrication")
        if contradicted or (value is not None and not differs(value, 0.0)):
            message = f"{len(contradicted) or 'some'} of the answer's claims contradicted"
            inner = f'<failure message="{message}">{xml_text(chr(10).join(contradicted))}</failure>'
    return f"{head}{inner}</testcase>\n"
