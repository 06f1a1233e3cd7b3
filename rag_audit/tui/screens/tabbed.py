"""What every screen with a line of tabs does with the keys for them."""

from rag_audit.tui.widgets.tabs import TabLine


class Tabbed:
    """Adds the keys of a tab line to a screen that has one."""

    tabs: TabLine

    def action_tab(self, number: int) -> None:
        """Go to a tab by its number."""
        self.tabs.choose(number - 1)

    def action_next_tab(self) -> None:
        """Go to the next tab; after the last comes the first."""
        self.tabs.step(1)

    def action_previous_tab(self) -> None:
        """Go to the previous tab; before the first comes the last."""
        self.tabs.step(-1)
