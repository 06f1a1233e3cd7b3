"""The command palette: the actions that work on the screen at hand, from the action table."""

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from rag_audit.tui.actions import Action, actions_of, bindings_of, key_name
from rag_audit.tui.content import pieces


class ActionCommands(Provider):
    """Every action of the screen and of the application; nothing untrusted is ever a command."""

    def _actions(self) -> Iterator[tuple[Action, str]]:
        place = getattr(self.screen, "PLACE", "")
        calls = {binding.description: binding.action for binding in reversed(bindings_of(place, "any"))}
        for action in actions_of(place, "any"):
            if action.name not in {"palette", "tab", "score"}:
                yield action, calls[action.description]

    def _line(self, action: Action) -> Content:
        return pieces([(action.description, "plain"), (f"  {key_name(action.key)}", "quiet")])

    async def discover(self) -> Hits:
        """Everything that can be done here."""
        for action, call in self._actions():
            yield DiscoveryHit(self._line(action), partial(self.screen.run_action, call), text=action.description)

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for action, call in self._actions():
            score = matcher.match(action.description)
            if score > 0:
                yield Hit(score, self._line(action), partial(self.screen.run_action, call), text=action.description)
