"""Opens the models that the settings name; SDKs are imported only when one of them is used."""

from rag_audit.errors import ConfigError
from rag_audit.model.settings import Settings
from rag_audit.providers.protocols import ClaimJudge, Generator, OnWait, ScoreJudge


def open_generator(settings: Settings, on_wait: OnWait | None = None) -> Generator:
    """The generator of the setting `generator`."""
    name = settings.text("generator")
    if name == "offline":
        from rag_audit.providers.offline.generator import OfflineGenerator

        return OfflineGenerator()
    raise _unknown("generator", name)


def open_claim_judge(settings: Settings, on_wait: OnWait | None = None) -> ClaimJudge | None:
    """The claim judge of the setting `judge.claims`; None for `none`."""
    name = settings.text("judge.claims")
    if name == "none":
        return None
    if name == "offline":
        from rag_audit.providers.offline.claim_judge import OfflineClaimJudge

        return OfflineClaimJudge()
    raise _unknown("judge.claims", name)


def open_score_judge(settings: Settings, on_wait: OnWait | None = None) -> ScoreJudge | None:
    """The score judge of the setting `judge.scores`; None for `none`."""
    name = settings.text("judge.scores")
    if name == "none":
        return None
    if name == "offline":
        from rag_audit.providers.offline.score_judge import OfflineScoreJudge

        return OfflineScoreJudge()
    raise _unknown("judge.scores", name)


def _unknown(key: str, name: str) -> ConfigError:
    return ConfigError(f"{key}: no such model {name!r}", f"Use --set {key}=offline, or {key}=anthropic:MODEL.")
