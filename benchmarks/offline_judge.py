"""Measure the offline claim judge on labelled claims: 3x3 table, F1 of each verdict, macro-F1, misses.

    python -m benchmarks.offline_judge CLAIMS.jsonl [MORE.jsonl …] [--record]

A claims file has one object a line: id, claim, verdict, kind, and the excerpt: its text, the excerpt_id of an earlier
line that had one, or doc, start and end in the documents/ beside the first file.
`--record` stores the figures of the first file with the package, for `rag-audit doctor`.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from rag_audit.judging.lexical import judge_claim
from rag_audit.providers.offline.measured import FIGURES, VERDICTS, Figures, macro_f1, rules_hash

MORE_CLAIMS = tuple(
    Path(__file__).with_name(name) for name in ("further_claims.jsonl", "blind_claims.jsonl", "blind_claims_2.jsonl")
)


def read_claims(*paths: Path) -> list[list[dict[str, Any]]]:
    """The claims of each file, every one with its excerpt; excerpt ids are shared between the files."""
    excerpts: dict[str, str] = {}
    documents = paths[0].parent / "documents"
    files = []
    for path in paths:
        claims = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        excerpts |= {claim["excerpt_id"]: claim["excerpt"] for claim in claims if "excerpt" in claim}
        files.append([{**claim, "excerpt": _excerpt(claim, excerpts, documents)} for claim in claims])
    return files


def _excerpt(claim: dict[str, Any], excerpts: dict[str, str], documents: Path) -> str:
    if "doc" in claim and "start" in claim:
        text = (documents / str(claim["doc"])).read_text("utf-8")
        return text[int(claim["start"]) : int(claim["end"])]
    return excerpts[str(claim["excerpt_id"])]


def measure(claims: Sequence[dict[str, Any]]) -> tuple[dict[str, dict[str, int]], list[str]]:
    """The table label -> judge -> count, and one line for each claim that was judged otherwise."""
    table = {label: dict.fromkeys(VERDICTS, 0) for label in VERDICTS}
    misses = []
    for claim in claims:
        finding = judge_claim(claim["claim"], claim["excerpt"])
        table[claim["verdict"]][finding.verdict.value] += 1
        if finding.verdict.value != claim["verdict"]:
            misses.append(
                f"{claim['id']} ({claim['kind']}): {claim['verdict']}, judged {finding.verdict}: {claim['claim']}"
            )
    return table, misses


def main(arguments: Sequence[str]) -> int:
    paths = [Path(argument) for argument in arguments if not argument.startswith("--")]
    if not paths:
        print(__doc__)
        return 2
    for position, (path, claims) in enumerate(zip(paths, read_claims(*paths), strict=True)):
        begun = perf_counter()
        table, misses = measure(claims)
        spent = (perf_counter() - begun) / len(claims)
        kinds = Counter(claim["kind"] for claim in claims)
        print(f"{path.name}: {len(claims)} claims, {1000 * spent:.1f} ms each, macro-F1 {macro_f1(table):.3f}")
        print(f"  {'label':<13}" + "".join(f"{verdict:>14}" for verdict in VERDICTS))
        for label, row in table.items():
            print(f"  {label:<13}" + "".join(f"{row[verdict]:>14}" for verdict in VERDICTS))
        print("  kinds: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
        print("".join(f"  {miss}\n" for miss in misses))
        if "--record" in arguments and position == 0:
            figures = Figures(claims=len(claims), table=table, macro_f1=round(macro_f1(table), 4), rules=rules_hash())
            FIGURES.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
