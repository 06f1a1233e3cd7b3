"""Stories that a diff must tell right: the words and numbers a person reads."""

from dataclasses import replace

from rag_audit.model import QuestionResult
from tests.diff.archive import Shell, archive
from tests.diff.made import CONTEXT, result


def test_larger_chunks_bury_two_short_tables_though_the_total_is_inconclusive(shell: Shell) -> None:
    def results(after: bool) -> list[QuestionResult]:
        made = []
        for at in range(60):
            table = at in (7, 23)
            prose = [f"Prose about topic {at}.", f"More about {at}."]
            chunks = [f"| limit {at} | {at * 10} ms |", *prose] if table else prose
            if after and table:
                chunks = [*prose, f"Long prose. | limit {at} | {at * 10} ms |"]
            made.append(
                result(
                    f"LIM-{at:02}",
                    scores={"hit_at_1": float(not (after and table)), "mrr": 1 / 3 if after and table else 1.0},
                    chunks=chunks,
                    answer=f"{at * 10} ms" if not (after and table) else "not stated",
                    doc_id=f"docs/m{at % 5}",
                )
            )
        return made

    archive(shell.project, "size-800", results(False))
    archive(shell.project, "size-1200", results(True), chunking={"docs": {"size": 1200}})
    found = shell.json("diff", "size-800", "size-1200")
    assert round(found["metrics"]["hit_at_1"]["delta"], 3) == -0.033
    assert found["metrics"]["hit_at_1"]["verdict"] == "inconclusive"
    assert [delta["id"] for delta in found["questions"]["regressed"]] == ["LIM-07", "LIM-23"]
    text = shell.run("diff", "size-800", "size-1200")
    assert "No metric's total moved" in text
    assert "Regressed (2)" in text
    assert text.index("chunking.docs.size: 800 → 1200") < text.index("Metrics")
    assert "sank: rank 1 → 3  docs/m2 “| limit 7 | 70 ms |”" in text
    assert "sank: rank 1 → 3  docs/m3 “| limit 23 | 230 ms |”" in text


def test_fixed_routing_is_the_cause_and_the_question_that_still_fails_is_named(shell: Shell) -> None:
    def results(fixed: bool) -> list[QuestionResult]:
        made = []
        for at in range(16):
            still = at == 5
            good = fixed and not still
            made.append(
                result(
                    f"EVT-{at:02}",
                    scores={"hit_at_1": float(good), "faithfulness": 9.0 if good else 3.0},
                    route=["mss54"] if fixed else ["mss60"],
                    home=["mss54"],
                    chunks=["right"] if good else ["wrong"],
                    answer="right" if good else "wrong",
                )
            )
        return made

    archive(shell.project, "routed-wrong", results(False), routing={"enabled": False})
    archive(shell.project, "routed-right", results(True))
    found = shell.json("diff", "routed-wrong", "routed-right")
    assert found["metrics"]["hit_at_1"]["verdict"] == "improved"
    assert found["metrics"]["faithfulness"]["verdict"] == "improved"
    assert found["context_changes"][0] == {"key": "routing.enabled", "before": False, "after": True}
    assert len(found["questions"]["improved"]) == 15
    assert {delta["cause"] for delta in found["questions"]["improved"]} == {"routing"}
    assert found["still_failing"] == {"EVT-05": ["hit_at_1"]}
    text = shell.run("diff", "routed-wrong", "routed-right")
    assert "Improved: hit_at_1, faithfulness." in text
    assert "route: mss60 → mss54" in text
    assert "Still failing: at 0 in both runs (1)\n  EVT-05  hit_at_1" in text


def test_the_weaker_corpus_is_named_where_one_configuration_meets_two(shell: Shell) -> None:
    def results(corpus: str, hits: int) -> list[QuestionResult]:
        return [
            result(
                f"{corpus}-{at}",
                scores={"hit_at_1": float(at < hits)},
                route=[corpus],
                home=[corpus],
                doc_id=f"{corpus}/a",
            )
            for at in range(20)
        ]

    archive(shell.project, "one", results("mss54", 18))
    archive(shell.project, "two", results("mss60", 11))
    text = shell.run("diff", "one", "two")
    assert "no unedited question in common" in text
    assert "hit_at_1: mss60 is weaker, 0.550 (n 20) against 0.900 (n 20) for mss54" in text
    both = [*results("mss54", 18), *results("mss60", 11)]
    archive(shell.project, "both", both)
    archive(shell.project, "again", both)
    found = shell.json("diff", "both", "again")
    assert found["by_corpus"]["mss60"]["hit_at_1"] == {"before": 0.55, "after": 0.55, "n_paired": 20}
    assert "mss60 is weaker" in shell.run("diff", "both", "again")


def test_another_judge_of_the_same_answers_is_behind_every_difference(shell: Shell) -> None:
    def results(judge: str, score: float, verdict: str) -> list[QuestionResult]:
        return [
            result(
                f"q{at:02}",
                scores={"faithfulness": score - at % 2, "hit_at_1": 1.0},
                claims=[("It is so.", verdict)],
                judge=(judge, "p1"),
                score_judge=(judge, "p2"),
            )
            for at in range(14)
        ]

    other = replace(CONTEXT, judges={"claims": "strict", "scores": "strict"})
    archive(shell.project, "lenient", results("offline", 9, "verified"))
    archive(shell.project, "strict", results("strict", 6, "contradicted"), context=other)
    found = shell.json("diff", "lenient", "strict")
    questions = found["questions"]
    assert questions["regressed"] == []
    assert {delta["cause"] for delta in questions["changed"]} == {"judge"}
    assert len(questions["changed"]) == 14
    assert [found["metrics"][name]["verdict"] for name in ("faithfulness", "no_fabrication")] == ["not_comparable"] * 2
    assert found["metrics"]["hit_at_1"]["verdict"] == "unchanged"
    assert {change["key"] for change in found["context_changes"][:2]} == {"judges.claims", "judges.scores"}
    text = shell.run("diff", "lenient", "strict")
    assert "Not comparable: faithfulness, no_fabrication, claim_precision." in text
    assert "rag-audit rejudge" in text
    assert "scores judge: model offline → strict" in text


def test_edited_removed_and_unequal_repeats_are_not_averaged_in(shell: Shell) -> None:
    same = [result(f"q{at}", scores={"faithfulness": 8.0}) for at in range(8)]
    before = [
        *same,
        result("edited", scores={"faithfulness": 10.0}),
        result("removed", scores={"faithfulness": 0.0}),
        *(result("twice", scores={"faithfulness": v}, repeat=n) for n, v in enumerate((7.0, 9.0), 1)),
    ]
    after = [
        *same,
        result("edited", scores={"faithfulness": 1.0}, text="Something else?"),
        *(result("twice", scores={"faithfulness": v}, repeat=n) for n, v in enumerate((8.0, 7.0, 9.0), 1)),
    ]
    archive(shell.project, "before", before)
    archive(shell.project, "after", after)
    found = shell.json("diff", "before", "after")
    faithfulness = found["metrics"]["faithfulness"]
    assert (faithfulness["n_paired"], faithfulness["before"], faithfulness["after"]) == (9, 8.0, 8.0)
    assert (found["questions"]["edited"], found["questions"]["removed"]) == (["edited"], ["removed"])
    assert found["questions"]["unchanged"] == 9
    assert found["noise_floor"]["faithfulness"] > 1
    text = shell.run("diff", "before", "after")
    assert "Edited (1), not compared: edited" in text
    assert "Removed (1), not compared: removed" in text
    assert "(1 edited, 1 removed): faithfulness 7.500 (n 12) → 7.417 (n 12)" in text
    assert "Noise: repeats of one question spread" in text
