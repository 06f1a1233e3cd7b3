"""Every key in one table: the key bar, the help screen, the palette and the README's table are made from it."""

from collections.abc import Iterator
from typing import NamedTuple

from textual.binding import Binding


class Action(NamedTuple):
    """One thing a person can do: where, by which key, and what it is called."""

    screen: str
    """any | list | text | runs | run | question | claims | diff | pair | several | evaluation | trend | reading."""
    key: str
    """Textual's names, alternatives by comma."""
    name: str
    """The method `action_<name>` of the screen or widget."""
    description: str
    label: str = ""
    """Word in the key bar; empty: not shown there."""


ACTIONS: tuple[Action, ...] = (
    Action("any", "question_mark,f1", "help", "All keys", "help"),
    Action("any", "escape", "back", "Back one level; nothing at the first screen"),
    Action("any", "q,ctrl+q", "leave", "Quit"),
    Action("any", "ctrl+p,colon", "palette", "Command palette"),
    Action("any", "ctrl+t", "next_theme", "Next theme: dark, light, contrast"),
    Action("list", "down,j", "cursor_down", "Next row"),
    Action("list", "up,k", "cursor_up", "Previous row"),
    Action("list", "pagedown,ctrl+d", "page_down", "A page down"),
    Action("list", "pageup,ctrl+u", "page_up", "A page up"),
    Action("list", "home,g", "first", "First row"),
    Action("list", "end,G", "last", "Last row"),
    Action("list", "enter,l", "open_row", "Open"),
    Action("text", "down,j", "scroll_down", "A line down"),
    Action("text", "up,k", "scroll_up", "A line up"),
    Action("text", "pagedown,space,ctrl+d", "page_down", "A page down"),
    Action("text", "pageup,ctrl+u", "page_up", "A page up"),
    Action("text", "home,g", "scroll_home", "Beginning"),
    Action("text", "end,G", "scroll_end", "End"),
    Action("runs", "enter", "open", "Questions of the run", "open"),
    Action("runs", "d", "diff", "Diff with the marked run, else with the previous comparable one", "diff"),
    Action("runs", "m", "mark", "Mark as a run to compare with", "mark"),
    Action("runs", "b", "follow", "Every question through this and the marked runs, and where it broke"),
    Action("runs", "a", "audit", "Audit: claims of the sample, where you stopped", "audit"),
    Action("runs", "r", "evaluate", "Evaluate: start a run and watch it", "run"),
    Action("runs", "t", "trend", "Trend of the metrics over all runs", "trend"),
    Action("runs", "x", "export", "Export the run"),
    Action("runs", "i", "import_path", "Import another tool's results"),
    Action("runs", "slash", "filter", "Filter the list"),
    Action("runs", "tab", "other_pane", "To the text beside the list, and back"),
    Action("runs", "y", "copy", "Copy the run's id"),
    Action("runs", "f5", "reload", "Read the history again"),
    Action("run", "enter", "open", "The question with all that each layer saw", "open"),
    Action("run", "c", "claims", "Claims beside the source", "claims"),
    Action("run", "tab", "other_pane", "To the text beside the list, and back"),
    Action("run", "slash", "filter", "Filter by id, text, document, flag, tag", "filter"),
    Action("run", "s", "sort", "Sort by the next column", "sort"),
    Action("run", "S", "reverse", "Reverse the order"),
    Action("run", "f", "only_flagged", "Only flagged questions", "flagged"),
    Action("run", "w", "only_worse", "Only questions worse than in the previous comparable run"),
    Action("run", "e", "only_failed", "Only questions with a failed score or error"),
    Action("run", "a", "audit", "Audit: claims of the sample, where you stopped", "audit"),
    Action("run", "A", "queues", "Other queues: flagged by flag, disputed, carried"),
    Action("run", "d", "diff", "Diff with the previous comparable run", "diff"),
    Action("run", "R", "report", "Judge's, adjusted and corrected numbers; agreement"),
    Action("run", "x", "export", "Export the run"),
    Action("run", "y", "copy", "Copy the question's id and text"),
    Action("question", "1,2,3,4,5,6", "tab", "Answer, retrieved, generator saw, judge saw, difference, judge calls"),
    Action("question", "tab", "next_tab", "Next tab", "next tab"),
    Action("question", "shift+tab", "previous_tab", "Previous tab"),
    Action("question", "c", "claims", "Claims beside the source", "claims"),
    Action("question", "right_square_bracket", "next_question", "Next question", "next"),
    Action("question", "left_square_bracket", "previous_question", "Previous question", "prev"),
    Action("question", "slash", "search", "Search in the text; enter: next match", "search"),
    Action("question", "y", "copy", "Copy what is shown, with its reference"),
    Action("claims", "v", "decide('verified')", "The claim is verified by the source", "verified"),
    Action("claims", "c", "decide('contradicted')", "The source contradicts the claim", "contradicted"),
    Action("claims", "a", "decide('absent')", "The source does not say", "absent"),
    Action("claims", "s", "decide('skip')", "Cannot judge", "skip"),
    Action("claims", "space", "agree", "Agree with the judge (not while blind)"),
    Action("claims", "u", "undo", "Undo your last decision", "undo"),
    Action("claims", "K", "keep", "Keep your decision of an earlier run, where claim and excerpt are the same"),
    Action("claims", "e", "reason", "Give a reason for the decision on this claim"),
    Action("claims", "plus", "add_claim", "Add a claim that the judge missed"),
    Action("claims", "n,down,j", "next_claim", "Next claim"),
    Action("claims", "p,up,k", "previous_claim", "Previous claim"),
    Action("claims", "right_square_bracket", "next_question", "Next question of the queue", "next"),
    Action("claims", "left_square_bracket", "previous_question", "Previous question of the queue"),
    Action("claims", "f", "next_flagged", "Next flagged claim (not while blind)"),
    Action("claims", "D", "adjudicate", "Settle a claim on which reviewers differ"),
    Action("claims", "b", "blind", "Blind on or off", "blind"),
    Action("claims", "o", "document", "The whole document around the evidence, and back"),
    Action("claims", "tab", "next_tab", "Excerpt, what each side saw, judge's reply"),
    Action("claims", "0,1,2,3,4,5,6,7,8,9", "score", "Score the answer, where the draw targets scores"),
    Action("claims", "t", "score(10)", "Score the answer 10"),
    Action("claims", "pagedown,ctrl+d", "page_down", "Source: a page down"),
    Action("claims", "pageup,ctrl+u", "page_up", "Source: a page up"),
    Action("claims", "slash", "search", "Search in the source; enter: next match"),
    Action("claims", "y", "copy", "Copy the claim and its evidence, with reference"),
    Action("diff", "1,2,3,4,5,6", "tab", "Metrics, questions, claim flips, context, documents, corpora"),
    Action("diff", "tab", "next_tab", "Next tab", "next tab"),
    Action("diff", "shift+tab", "previous_tab", "Previous tab"),
    Action("diff", "enter", "open", "The question in both runs, side by side", "open"),
    Action("diff", "slash", "filter", "Filter the list", "filter"),
    Action("diff", "x", "export", "Export the diff", "export"),
    Action("pair", "right_square_bracket", "next_question", "Next question of the list", "next"),
    Action("pair", "left_square_bracket", "previous_question", "Previous question of the list", "prev"),
    Action("pair", "1,2,3,4", "tab", "Answers, retrieved, claims, scores"),
    Action("pair", "tab", "next_tab", "Next tab", "next tab"),
    Action("pair", "shift+tab", "previous_tab", "Previous tab"),
    Action("pair", "s", "side", "Side by side or unified", "side/unified"),
    Action("pair", "c", "claims", "Claims of the later run beside the source", "claims"),
    Action("several", "1,2,3,4,5,6,7,8,9", "tab", "A metric by its number"),
    Action("several", "tab", "next_tab", "Next metric", "next metric"),
    Action("several", "shift+tab", "previous_tab", "Previous metric"),
    Action("several", "enter", "open", "The question before and after it broke, else first and last", "open"),
    Action("several", "slash", "filter", "Filter the list", "filter"),
    Action("evaluation", "c", "cancel", "Stop; what is finished is kept", "stop"),
    Action("evaluation", "enter", "open", "Questions of the finished run", "open when done"),
    Action("evaluation", "d", "diff", "Diff with the previous comparable run", "diff"),
    Action("trend", "enter", "back", "Back to the runs", "back"),
    Action("reading", "y", "copy", "Copy the text", "copy"),
)


def actions_of(*screens: str) -> Iterator[Action]:
    """The actions of the named groups, in the order of the table."""
    return (action for action in ACTIONS if action.screen in screens)


def bindings_of(*screens: str) -> list[Binding]:
    """Textual's bindings for the named groups."""
    return [
        Binding(key, _call(action, key), action.description, show=False)
        for action in actions_of(*screens)
        for key in action.key.split(",")
    ]


def _call(action: Action, key: str) -> str:
    """The action of one key; actions behind digits get the digit."""
    digits = key.isdigit() and action.name in {"tab", "score"}
    return f"{action.name}({key})" if digits else action.name


_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "plus": "+",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "down": "↓",
    "up": "↑",
}


def key_name(key: str) -> str:
    """A key as it is printed on a keyboard; of alternatives all, digits as a range."""
    keys = key.split(",")
    if all(k.isdigit() for k in keys):
        return f"{keys[0]}-{keys[-1]}"
    return " ".join(_KEY_NAMES.get(k, k.replace("ctrl+", "^")) for k in keys)


def keys_table() -> str:
    """The README's table of keys, in Markdown."""
    titles = {
        "any": "Everywhere",
        "list": "In a list",
        "text": "In a text",
        "runs": "Runs",
        "run": "One run",
        "question": "One question",
        "claims": "Claims",
        "diff": "Diff of two runs",
        "pair": "One question in two runs",
        "several": "Three or more runs",
        "evaluation": "A run under way",
        "trend": "Trend",
        "reading": "A report",
    }
    lines = ["| where | key | what it does |", "|---|---|---|"]
    for screen, title in titles.items():
        lines += [f"| {title} | `{key_name(a.key)}` | {a.description} |" for a in actions_of(screen)]
    return "\n".join(lines)
