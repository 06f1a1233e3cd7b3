"""A run whose every text attacks the terminal or the toolkit, and the keys that lead through every screen."""

from dataclasses import replace
from pathlib import Path

from rag_audit.history import History
from rag_audit.model import Chunk, Claim, Flag, FlagName, QuestionResult, RetrievedChunk, Route, Span, Support, Verdict
from tests.builders import archive, result, run

ESC = "\x1b"
HOSTILE = (
    "[/foo] a[/] b [link=http://x]c[/link] [@click=app.quit]quit[/] list[0] [a-z]+ [TODO] [not found] [bold]loud",
    f"{ESC}]52;c;aGFjaw=={ESC}\\ {ESC}[2J{ESC}[31mred \x9b2J \x07 \x08\x0b\x0c\x00 \x7f \x85",
    "\u202egnp.exe\u202c \u2066hidden\u2069 zero\u200bwidth \ufeffbom \U000e0041tag soft\u00adhyphen",
    "漢字かな交じり文 👨‍👩‍👧‍👦 ❤️ 🇯🇵 e\u0301\u0301 ﷽ ไทย العربية",
    "x" * 100_000,
    "tab\there\r\nand\rthere\u2028line\u2029para",
)
ALL = " ".join(text if len(text) < 1000 else text[:40] for text in HOSTILE)


def hostile_result(number: int, *, verdict: Verdict = Verdict.CONTRADICTED) -> QuestionResult:
    """One result made of hostile text only."""
    text = HOSTILE[number % len(HOSTILE)]
    plain = result(f"Q-{number} {ALL}"[:80], text=text, answer=f"{ALL}\n{text}", source=f"{text}\n{ALL}", flags=())
    chunk = Chunk(f"doc {ALL}", f"corpus {ALL}", text, 0, (ALL,))
    judgment = plain.claim_judgment
    assert judgment is not None
    assert judgment.identity is not None
    claim = Claim("c1", f"{ALL} {text}", verdict, text[:200], (Span("reference", 0, 5),), Support.REFERENCE, ALL)
    return replace(
        plain,
        route=Route((f"corpus {ALL}",), ALL, (f"home {ALL}",)),
        retrieved=(RetrievedChunk(chunk, 1, 0.5, {ALL: 1.0}, True),),
        claim_judgment=replace(judgment, claims=(claim,), identity=replace(judgment.identity, model=ALL)),
        flags=(Flag(FlagName.CONTRADICTED_CITES_SOURCE, ALL, "c1", (ALL,)), Flag(FlagName.MISROUTED, ALL)),
        notes=(ALL,),
        measurements={ALL: 1.0},
        scores={**plain.scores, f"tool.{ALL}": 0.5},
    )


def hostile_history(project: Path) -> History:
    """Three hostile runs; the second differs from both others in answers and verdicts."""
    before = run("r1", [hostile_result(n) for n in range(len(HOSTILE))], label=ALL)
    after = [hostile_result(n + 6, verdict=Verdict.VERIFIED) for n in range(len(HOSTILE))]
    renamed = [
        replace(one, question=replace(one.question, id=other.question.id))
        for one, other in zip(after, before[1], strict=True)
    ]
    later = run("r2", renamed, label=f"{ALL} 2", started_at="2026-11-30T08:00:00Z")
    return archive(project, before, later, run("r3", before[1], label=f"{ALL} 3", started_at="2026-12-01T08:00:00Z"))
