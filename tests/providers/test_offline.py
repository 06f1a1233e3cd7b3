import pytest

from rag_audit.judging.answers import NO_ANSWER, refusal_of
from rag_audit.model import Chunk, Claim, Excerpt, Passage, Question, RetrievedChunk, Support, Verdict
from rag_audit.model.settings import Settings
from rag_audit.providers.offline.claim_judge import OfflineClaimJudge
from rag_audit.providers.offline.generator import OfflineGenerator, extract_answer
from rag_audit.providers.offline.score_judge import OfflineScoreJudge
from rag_audit.providers.open import open_claim_judge, open_generator, open_score_judge

TABLE = "Delays of the bus.\n\n| Signal | Delay |\n|---|---|\n| intake angle | 12 ms |\n| outlet angle | 15 ms |\n"
QUESTION = Question("q", "What is the delay of the intake angle?", "The intake angle has a delay of 12 ms.")


def chunks(*texts: str) -> tuple[RetrievedChunk, ...]:
    return tuple(RetrievedChunk(Chunk("d", "c", text), rank) for rank, text in enumerate(texts, start=1))


async def test_the_generator_quotes_the_best_sentence_with_its_citation() -> None:
    answer = await OfflineGenerator().generate(QUESTION, chunks("Nothing of use here.", TABLE))
    assert answer.answer == "intake angle | 12 ms. [2]"
    assert answer.prompt is not None
    assert "12 ms" in answer.prompt


async def test_german_questions_are_answered_from_german_text() -> None:
    text = "Die Leerlaufdrehzahl beträgt 850 U/min. Der Motor hat sechs Zylinder."
    question = Question("q", "Wie hoch ist die Leerlaufdrehzahl?")
    assert (await OfflineGenerator().generate(question, chunks(text))).answer == (
        "Die Leerlaufdrehzahl beträgt 850 U/min. [1]"
    )


def test_where_nothing_fits_it_says_so_and_that_counts_as_no_answer() -> None:
    assert extract_answer("Who wrote the anthem?", chunks(TABLE)) == NO_ANSWER
    assert extract_answer("Who?", ()) == NO_ANSWER
    assert refusal_of(NO_ANSWER) == NO_ANSWER


def test_nothing_in_an_answer_comes_from_outside_the_chunks() -> None:
    answer = extract_answer("delay of the outlet angle", chunks(TABLE))
    for word in answer.replace(":", " ").replace(";", " ").replace(".", " ").split():
        assert word in TABLE or word == "[1]"


async def test_the_claim_judge_lists_and_judges_the_sentences_of_the_answer() -> None:
    excerpt = Excerpt(reference=(Passage("The intake angle has a delay of 12 ms."),))
    judgment, calls = await OfflineClaimJudge().judge_claims(
        QUESTION, "The intake angle has a delay of 12 ms. [1] Whales sing at night. Whales sing at night.", excerpt
    )
    assert [(claim.id, claim.verdict, claim.count) for claim in judgment.claims] == [
        ("c1", Verdict.VERIFIED, 1),
        ("c2", Verdict.ABSENT, 2),
    ]
    assert judgment.claims[0].evidence == "The intake angle has a delay of 12 ms."
    assert judgment.claims[0].support is Support.REFERENCE
    assert calls == ()


@pytest.mark.parametrize(("doc_id", "verdict"), [("older/evt", "contradicted"), ("newer/evt", "verified")])
async def test_a_chunk_of_another_document_cannot_verify_what_the_reference_contradicts(
    doc_id: str, verdict: str
) -> None:
    """A misrouted answer is not verified by the wrong corpus's chunk; another passage of the same document counts."""
    excerpt = Excerpt(
        reference=(Passage("The delay of the intake angle is 4 ms.", "newer/evt"),),
        context=(Passage("The delay of the intake angle is 12 ms.", doc_id),),
    )
    judgment, _ = await OfflineClaimJudge().judge_claims(QUESTION, "The delay of the intake angle is 12 ms.", excerpt)
    assert [claim.verdict.value for claim in judgment.claims] == [verdict]


async def test_given_claims_keep_their_ids() -> None:
    judgment, _ = await OfflineClaimJudge().judge_claims(
        QUESTION, "ignored", Excerpt(), [Claim("c7", "The delay is 12 ms.", Verdict.VERIFIED)]
    )
    assert [(claim.id, claim.verdict) for claim in judgment.claims] == [("c7", Verdict.ABSENT)]


async def test_no_claims_of_a_refusal_are_no_failure() -> None:
    judgment, _ = await OfflineClaimJudge().judge_claims(QUESTION, NO_ANSWER, Excerpt())
    assert judgment.claims == ()
    assert judgment.error is None


async def test_the_score_judge_counts_supported_sentences_and_covered_facts() -> None:
    judge = OfflineScoreJudge()
    text = "The intake angle has a delay of 12 ms."
    full, _ = await judge.judge_scores(QUESTION, text, chunks(text))
    assert (full.faithfulness, full.completeness) == (10, 10)
    none, _ = await judge.judge_scores(QUESTION, "Whales sing at night.", chunks(text))
    assert (none.faithfulness, none.completeness) == (0, 0)
    refused, _ = await judge.judge_scores(QUESTION, NO_ANSWER, chunks(text))
    assert (refused.faithfulness, refused.completeness, refused.error) == (None, 0, "no_claims")


def test_the_settings_name_what_is_opened() -> None:
    assert open_generator(Settings()).model == "offline"
    judge = open_claim_judge(Settings())
    assert judge is not None
    assert judge.identity.model == "offline"
    assert open_score_judge(Settings({**Settings().values, "judge.scores": "none"})) is None


async def test_a_chunk_that_begins_inside_a_table_gives_its_rows_no_invented_head() -> None:
    inside = "| start angle | 25 ms |\n| intake angle | 12 ms |\n"
    answer = await OfflineGenerator().generate(QUESTION, chunks(inside))
    assert "intake angle | 12 ms. [1]" in answer.answer
    assert all(part.strip(" .") in inside for part in answer.answer.replace("[1]", "\n").splitlines())
