"""Opening a queue of claims: the sample where you stopped, the flagged ones by flag, the disputed, the carried ones."""

from collections.abc import Sequence

from rag_audit.audit.carried import carried_offers
from rag_audit.audit.effective import Basis, Decisions, effective_claims
from rag_audit.audit.recording import Case
from rag_audit.model import AuditSample, QuestionRow, Queue, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.claim_text import FLAG_WORDS
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.screens.dialogs import AskChoice, Choice
from rag_audit.tui.source import Source

RowKey = tuple[str, int | None]
_SUSPICIOUS_FIRST = "contradicted_cites_source"


def open_sample(screen: ReviewScreen, run: RunSummary) -> None:
    """Open the sample at the first question that is not decided; offer to draw one where there is none."""
    source = screen.source

    def work() -> tuple[AuditSample | None, Sequence[QuestionRow], frozenset[str]]:
        return source.sample(run.id), source.run(run.id).rows, source.blind(run.id).questions

    def then(loaded: tuple[AuditSample | None, Sequence[QuestionRow], frozenset[str]]) -> None:
        sample, rows, waiting = loaded
        if sample is None:
            _offer_draw(screen, run, len({row.id for row in rows}))
            return
        keys = [(q, row.repeat) for q in sample.questions for row in rows if row.id == q]
        at = next((at for at, (question_id, _) in enumerate(keys) if question_id in waiting), 0)
        if not waiting:
            screen.say("The sample is decided; R shows the numbers.")
        _open(screen, run, keys, at, Queue.SAMPLE)

    screen.fetch(work, then, group="queue")


def _offer_draw(screen: ReviewScreen, run: RunSummary, questions: int) -> None:
    settings = screen.source.settings
    fraction, stratify = settings.number("audit.fraction"), settings.text("audit.stratify")
    text = f"{fraction:.0%} of {wording.plural(questions, 'question')}, seeded by the run's id, spread by {stratify}."

    def answered(answer: str | None) -> None:
        if answer == "draw":
            screen.fetch(lambda: screen.source.draw(run), lambda sample: open_sample(screen, run), group="queue")

    screen.app.push_screen(
        AskChoice("No sample was drawn for this run", [Choice("y", "draw", "draw it now")], text=text), answered
    )


def open_queues(screen: ReviewScreen, run: RunSummary) -> None:
    """Offer the queues of a run with their counts."""
    source = screen.source

    def work() -> tuple[frozenset[str], dict[str, list[RowKey]], list[RowKey], list[RowKey]]:
        rows, waiting = source.run(run.id).rows, source.blind(run.id).questions
        open_rows = [row for row in rows if row.id not in waiting]
        return (
            waiting,
            flagged_keys(open_rows),
            disputed_keys(source, run, open_rows),
            carried_keys(source, run, open_rows),
        )

    def then(loaded: tuple[frozenset[str], dict[str, list[RowKey]], list[RowKey], list[RowKey]]) -> None:
        waiting, flagged, disputed, carried = loaded
        choices = [Choice("s", "sample", "the sample, where you stopped")]
        queues: dict[str, list[RowKey]] = {}
        for number, (flag, keys) in enumerate(flagged.items(), start=1):
            if number <= 9:
                queues[flag] = keys
                choices.append(Choice(str(number), flag, f"{FLAG_WORDS.get(flag, flag)}: {len(keys)}", "warn"))
        if disputed:
            queues["disputed"] = disputed
            choices.append(Choice("d", "disputed", f"reviewers differ: {len(disputed)}", "warn"))
        if carried:
            queues["carried"] = carried
            choices.append(Choice("c", "carried", f"you decided the same in another run: {len(carried)}"))

        def chosen(name: str | None) -> None:
            if name == "sample":
                open_sample(screen, run)
            elif name is not None:
                _open(screen, run, queues[name], 0, Queue.OTHER if name in ("disputed", "carried") else Queue.FLAGGED)

        hidden = f"{wording.plural(len(waiting), 'question')} of the sample wait to be decided blind first."
        screen.app.push_screen(AskChoice("Which claims?", choices, text=hidden if waiting else ""), chosen)

    screen.fetch(work, then, group="queue")


def flagged_keys(rows: Sequence[QuestionRow]) -> dict[str, list[RowKey]]:
    """Flag to its questions, suspicious contradicted ones first."""
    found: dict[str, list[RowKey]] = {}
    for row in rows:
        for flag in row.flags:
            found.setdefault(flag, []).append((row.id, row.repeat))
    return dict(sorted(found.items(), key=lambda item: (item[0] != _SUSPICIOUS_FIRST, item[0])))


def disputed_keys(source: Source, run: RunSummary, rows: Sequence[QuestionRow]) -> list[RowKey]:
    """Questions with a claim on which reviewers differ."""
    decisions = Decisions(source.decisions(run.id))

    def is_disputed(row: QuestionRow) -> bool:
        judgment = source.result(run.id, row.id, row.repeat).claim_judgment
        claims = effective_claims(row.id, row.repeat, judgment.claims if judgment else (), decisions)
        return any(claim.basis is Basis.DISPUTED for claim in claims)

    decided = [row for row in rows if (row.id, row.repeat) in decisions.answers]
    return [(row.id, row.repeat) for row in decided if is_disputed(row)]


def carried_keys(source: Source, run: RunSummary, rows: Sequence[QuestionRow]) -> list[RowKey]:
    """Questions with a claim that this reviewer decided in another run, beside the same excerpt, and not yet here."""
    decisions, sample = source.decisions(), source.sample(run.id)
    here = Decisions(decision for decision in decisions if decision.run_id == run.id)
    earlier = Decisions(decision for decision in decisions if decision.run_id != run.id)
    known = {decision.question_id for decision in earlier.standing.in_force if decision.reviewer == source.reviewer}

    def is_offered(row: QuestionRow) -> bool:
        case = Case(run, source.result(run.id, row.id, row.repeat), here, sample)
        return any(not offer.stale for offer in carried_offers(case, earlier, source.reviewer))

    return [(row.id, row.repeat) for row in rows if row.id in known and is_offered(row)]


def _open(screen: ReviewScreen, run: RunSummary, keys: Sequence[RowKey], at: int, queue: Queue) -> None:
    from rag_audit.tui.screens.claims import ClaimsScreen

    screen.app.push_screen(ClaimsScreen(screen.source, run, keys, at, queue=queue))
