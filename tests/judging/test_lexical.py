"""The offline claim judge: every rule with what it must catch and what it must leave alone."""

import pytest

from benchmarks.offline_judge import MORE_CLAIMS, measure, read_claims
from rag_audit.judging.lexical import judge_claim
from rag_audit.providers.offline.measured import macro_f1, offline_judge_figures, offline_judge_report
from tests.cases import CASES

CLIENT = """### HTTP client

The client opens at most 20 connections per host and keeps idle ones for 60 seconds. Redirects are not followed
unless `follow_redirects` is `True`. A failed request usually is caused by a lost connection.

- `mode` - How bodies are read. (Values: `stream`, `full`, Default: `stream`, Optional)
- `proxy` - Address of the proxy. (Required)

| Option | Default | Description |
|---|---|---|
| `retries` | 2 | How often a failed request is sent again |
| `verify` | True | Whether certificates are checked |

### Authentication

Not supported yet.
"""
ENGINE = """Die Leerlaufdrehzahl beträgt 850 U/min. Der Öldruck wird nicht gespeichert.

| Signal | Zykluszeit |
|---|---|
| `EVT_ANGLE` | 12 ms |
| `MSS_TORQUE` | 10 ms |
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Redirects are not followed unless `follow_redirects` is `True`.", "verified"),  # the same words
        ("Idle connections are kept for a minute.", "verified"),  # another unit
        ("There are never more than 20 connections per host.", "verified"),
        ("The client opens at most 50 connections per host.", "contradicted"),  # wrong number
        ("Idle connections are kept for 30 seconds.", "contradicted"),
        ("Redirects are followed by default.", "contradicted"),  # negation
        ("`retries` defaults to 2.", "verified"),  # stated default
        ("`retries` is 5 by default.", "contradicted"),
        ("`mode` is `full` unless it is set.", "contradicted"),
        ("Certificates are not checked by default.", "contradicted"),
        ("`stream` is one of the values of `mode`.", "verified"),  # closed list
        ("`mode` can be `chunked`.", "contradicted"),
        ("`proxy` is optional.", "contradicted"),  # required
        ("`proxy` is required.", "verified"),
        ("`retry_count` says how often a failed request is sent again.", "contradicted"),  # another name
        ("`backoff` sets the pause between two requests.", "absent"),  # a plausible name
        ("Authentication with a token is supported.", "contradicted"),  # not supported
        ("A failed request usually is caused by a full disk.", "contradicted"),  # another cause
        ("HTTP/3 runs over QUIC.", "absent"),  # true, but not said
        ("The client was written in 2019.", "absent"),
        ("It defaults to 7.", "absent"),  # says nothing of what it is about
    ],
)
def test_english_claims(claim: str, verdict: str) -> None:
    assert judge_claim(claim, CLIENT).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Die Leerlaufdrehzahl ist 850 U/min.", "verified"),
        ("Die Leerlaufdrehzahl beträgt 750 U/min.", "contradicted"),
        ("`EVT_ANGLE` hat eine Zykluszeit von 12 ms.", "verified"),
        ("`EVT_ANGLE` hat eine Zykluszeit von 20 ms.", "contradicted"),
        ("Der Öldruck wird gespeichert.", "contradicted"),
        ("Der Motor hat sechs Zylinder.", "absent"),
    ],
)
def test_german_claims(claim: str, verdict: str) -> None:
    assert judge_claim(claim, ENGINE).verdict == verdict


def test_the_finding_is_the_sentence_that_decides() -> None:
    finding = judge_claim("`retries` is 5 by default.", CLIENT)
    assert CLIENT[finding.start : finding.end] == "| `retries` | 2 | How often a failed request is sent again |"
    assert finding.reason == "the stated default is 2, not 5"


def test_an_empty_text_supports_nothing() -> None:
    assert judge_claim("`retries` is 5 by default.", "").verdict == "absent"


@pytest.mark.skipif(CASES is None, reason="the reference cases are not here")
def test_the_published_figures_are_those_of_the_rules_that_judge_now() -> None:
    assert CASES is not None
    claims, *more = read_claims(CASES / "keda" / "claims.jsonl", *MORE_CLAIMS)
    figures = offline_judge_figures()
    assert figures is not None
    assert figures.current, "run: python -m benchmarks.offline_judge CLAIMS.jsonl --record"
    table, _ = measure(claims)
    assert table == figures.table
    assert round(macro_f1(table), 4) == figures.macro_f1 > 0.95
    assert all(macro_f1(measure(further)[0]) > 0.8 for further in more)
    report = offline_judge_report()
    assert f"macro-F1 {figures.macro_f1:.3f} on 81 labelled claims" in report["agreement"]
    assert report["labelled absent"] == "0 verified, 0 contradicted, 27 absent"


def test_macro_f1_is_the_mean_over_the_verdicts() -> None:
    table = {
        "verified": {"verified": 2, "contradicted": 0, "absent": 0},
        "contradicted": {"verified": 0, "contradicted": 1, "absent": 1},
        "absent": {"verified": 0, "contradicted": 0, "absent": 0},
    }
    assert macro_f1(table) == pytest.approx((1 + 2 / 3 + 0) / 3)


@pytest.mark.parametrize(
    ("claim", "text", "verdict"),
    [
        ("`recycle` is enabled by default.", "- `recycle` - Reuse of connections. (Default: `false`)", "contradicted"),
        ("`recycle` is not enabled by default.", "- `recycle` - Reuse of connections. (Default: `false`)", "verified"),
        (
            "By default `recycle` is turned off.",
            "- `recycle` - Reuse of connections. (Default: `true`)",
            "contradicted",
        ),
        ("`recycle` is on by default.", "- `recycle` - Reuse of connections. (Default: `true`)", "verified"),
    ],
)
def test_a_switch_is_on_or_off_by_default(claim: str, text: str, verdict: str) -> None:
    assert judge_claim(claim, text).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Messages are logged to stdout if `echo` is true.", "Messages are logged to stderr if `echo` is true."),
        ("Data is written to disk when `sync` is on.", "Data is written to memory when `sync` is on."),
    ],
)
def test_a_sentence_with_another_word_in_its_place_supports_nothing(claim: str, text: str) -> None:
    assert judge_claim(claim, text).verdict == "absent"
    assert judge_claim(claim, claim).verdict == "verified"
