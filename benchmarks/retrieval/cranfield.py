"""Cranfield: 1,400 abstracts on aerodynamics, 225 questions and graded judgements (Cleverdon, 1960s).

A held-out collection: no parameter is chosen on it. It has no license of its own and is not shipped.
"""

import os
import re
from pathlib import Path

from benchmarks.retrieval.collection import Collection, Question, as_query

NAME = "Cranfield"
FOLDER_VARIABLE = "MUNIMENT_BENCH_CRANFIELD"
FILES = ("cran.all.1400", "cran.qry", "cranqrel")
_DEFAULT_FOLDER = Path(__file__).parents[3] / "shared" / "corpus" / "cranfield"
_RECORD = re.compile(r"^\.I\s+\d+\s*$", re.MULTILINE)
_TEXT = re.compile(r"^\.W\s*$", re.MULTILINE)
_NOT_RELEVANT = -1


def find_cranfield() -> Collection | None:
    """Return None if the three files are neither in the folder of the variable nor beside the repository."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or _DEFAULT_FOLDER)
    if not all((folder / name).is_file() for name in FILES):
        return None
    abstracts, queries, judgements = ((folder / name).read_text() for name in FILES)
    relevant: dict[int, set[int]] = {}
    for line in judgements.splitlines():
        # Questions are counted in the order of the file, whatever their own numbers say.
        question, abstract, grade = map(int, line.split())
        if grade != _NOT_RELEVANT:
            relevant.setdefault(question - 1, set()).add(abstract - 1)
    questions = [Question(as_query(text), frozenset(relevant.get(n, ()))) for n, text in enumerate(_texts(queries))]
    return Collection(NAME, _texts(abstracts), [question for question in questions if question.relevant])


def _texts(records: str) -> list[str]:
    return [_TEXT.split(record, maxsplit=1)[1].strip() for record in _RECORD.split(records)[1:]]
