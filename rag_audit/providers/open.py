"""Opens the models that the settings name; SDKs are imported only when one of them is used."""

from rag_audit.errors import ConfigError
from rag_audit.model.settings import Settings
from rag_audit.providers.conversation import KeptReplies
from rag_audit.providers.pacing import Clock, SystemClock
from rag_audit.providers.protocols import ClaimJudge, Generator, OnWait, ScoreJudge

_ANTHROPIC = "anthropic:"
_JUDGES = ("offline", "none")


def open_generator(
    settings: Settings, on_wait: OnWait | None = None, *, kept: KeptReplies | None = None, clock: Clock | None = None
) -> Generator:
    """The generator of the setting `generator`; ConfigError for an unknown name or a missing key."""
    name = settings.text("generator")
    if name == "offline":
        from rag_audit.providers.offline.generator import OfflineGenerator

        return OfflineGenerator()
    if name.startswith(_ANTHROPIC):
        from rag_audit.providers.anthropic_api.generator import AnthropicGenerator
        from rag_audit.providers.anthropic_api.service import open_service

        model = name.removeprefix(_ANTHROPIC)
        service = open_service(settings, "generator", model, on_wait=on_wait, clock=clock or SystemClock(), kept=kept)
        return AnthropicGenerator(service, settings.integer("generator.context_chars"))
    raise _unknown("generator", name)


def open_claim_judge(
    settings: Settings, on_wait: OnWait | None = None, *, kept: KeptReplies | None = None, clock: Clock | None = None
) -> ClaimJudge | None:
    """The claim judge of the setting `judge.claims`; None for `none`."""
    name = settings.text("judge.claims")
    if name == "none":
        return None
    if name == "offline":
        from rag_audit.providers.offline.claim_judge import OfflineClaimJudge

        return OfflineClaimJudge()
    if name.startswith(_ANTHROPIC):
        from rag_audit.providers.anthropic_api.judges import AnthropicClaimJudge
        from rag_audit.providers.anthropic_api.service import open_service

        model = name.removeprefix(_ANTHROPIC)
        return AnthropicClaimJudge(
            open_service(settings, "judge", model, on_wait=on_wait, clock=clock or SystemClock(), kept=kept)
        )
    raise _unknown("judge.claims", name)


def open_score_judge(
    settings: Settings, on_wait: OnWait | None = None, *, kept: KeptReplies | None = None, clock: Clock | None = None
) -> ScoreJudge | None:
    """The score judge of the setting `judge.scores`; None for `none`."""
    name = settings.text("judge.scores")
    if name == "none":
        return None
    if name == "offline":
        from rag_audit.providers.offline.score_judge import OfflineScoreJudge

        return OfflineScoreJudge()
    if name.startswith(_ANTHROPIC):
        from rag_audit.providers.anthropic_api.judges import AnthropicScoreJudge
        from rag_audit.providers.anthropic_api.service import open_service

        model = name.removeprefix(_ANTHROPIC)
        return AnthropicScoreJudge(
            open_service(settings, "judge", model, on_wait=on_wait, clock=clock or SystemClock(), kept=kept)
        )
    raise _unknown("judge.scores", name)


def check_models(settings: Settings) -> None:
    """ConfigError where the generator or a judge is no model; asks for no key and loads nothing."""
    for key, others in (("generator", ("offline",)), ("judge.claims", _JUDGES), ("judge.scores", _JUDGES)):
        name = settings.text(key)
        if name not in others and not (name.startswith(_ANTHROPIC) and name.removeprefix(_ANTHROPIC).strip()):
            raise _unknown(key, name)


def _unknown(key: str, name: str) -> ConfigError:
    return ConfigError(f"{key}: no such model {name!r}", f"Use --set {key}=offline, or {key}=anthropic:MODEL.")
