"""Check that product texts avoid the phrases in the column "Never" of the glossary."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import muniment
from muniment.cli.root import app
from muniment.errors import MunimentError
from muniment.settings import Settings

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
HEADER = ("Term", "Meaning", "Avoid", "Never")
PLACEHOLDER = "…"
"""Stands for a value inside a text."""

FIXED = frozenset(
    {
        # Specification of the lifecycle.
        "Only completed documents can be archived",
        "Only archived documents can be restored",
        "Cannot restore: a document with this name already exists",
        "Only archived documents can be purged",
        "Document permanently deleted",
        "Failed document cleared",
        "Only failed documents can be cleared",
        "Document processing cancelled",
        "Only PROCESSING or PENDING documents can be cancelled",
        "Processing cancelled by user",
        "Document replaced and queued for processing",
        "Cannot replace document while processing is in progress",
        "A document with this name already exists",
        "Previous failed upload was automatically cleared",
        "Permission denied",
        "Document not found",
        "Document is already archived",
        # Specification of the archive queue.
        "Document archived pending. Retry in 5 minutes.",
        # Specification of the page.
        "Archive '{name}'? It will be removed from search results.",
        "Clear failed document '{name}'? All partial data will be removed.",
        f"Restore '{PLACEHOLDER}' to active documents?",
        f"Permanently delete '{PLACEHOLDER}'? This cannot be undone.",
        "DELETE",
        "This will delete the existing document and upload the new version. Continue?",
        "Previous failed upload '{name}' was automatically cleared",
        "Cannot modify while processing",
        "Replace Existing",
        "Restore Existing",
        "Replace Archived",
    }
)
"""Messages that specifications prescribe word for word."""

# A comment, or a literal: strings in single or double quotes, and templates.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`)*\})*)`""",
    re.DOTALL,
)
VALUE = re.compile(r"\$\{((?:[^{}`]|`[^`]*`)*)\}")
IMPORT = re.compile(r"^import .*$", re.MULTILINE)
SENTENCE = re.compile(r"[A-Z][a-z]+ \w")


@dataclass(frozen=True)
class Text:
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


@pytest.mark.parametrize("kind", ["page", "commands", "settings", "errors"])
def test_no_text_contains_a_phrase_that_the_glossary_forbids(kind: str) -> None:
    texts = list(TEXTS[kind]())
    assert len(texts) > 60
    found = [f"{phrase!r} in {text}" for text in texts if text.words not in FIXED for phrase in _phrases_in(text.words)]
    assert found == []


def test_the_fixed_messages_are_still_the_texts_of_the_product() -> None:
    known = {text.words for texts in TEXTS.values() for text in texts()}
    assert sorted(FIXED - known) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("The file must be READ\n  ANEW.", ["read anew"]),
        ("A thread anew", []),
        ("Nobody is whomever", []),
        ("It is put away", ["put away"]),
    ],
)
def test_whole_phrases_count_in_any_case(words: str, found: list[str]) -> None:
    assert list(_phrases_in(words, ("read anew", "whom", "put away"))) == found


def test_phrases_are_read_from_the_last_column_of_every_table() -> None:
    page = """
| Term | Meaning | Avoid | Never |
| --- | --- | --- | --- |
| one | First | – | `by itself` · "at once" |
| two | Second | other | – |

| Term | Other |
| --- | --- |
| three | kept |
| Term | Meaning | Avoid | Never |
| --- | --- | --- | --- |
| four | Fourth | – | put away |
"""
    assert _phrases_of(page) == ("by itself", "at once", "put away")


def test_values_and_comments_are_no_words_of_the_page() -> None:
    source = """
import { plural } from "@/lib/format";
/** "anew" */
export const text = {
  plain: "Add \\"one\\"", // "at once"
  many: (count: number, more: string) => `Found ${plural(count, "file", `files`)}${more ? `, ${more} more` : ""}.`,
};
"""
    words = [text.words for text in _literals(source, "text.ts")]
    assert words == ['Add "one"', f"Found {PLACEHOLDER}{PLACEHOLDER}.", "file", "files", f", {PLACEHOLDER} more"]


def _phrases_of(page: str) -> tuple[str, ...]:
    phrases: list[str] = []
    is_read = False
    for line in page.splitlines():
        cells = tuple(cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|"))
        if not line.startswith("|"):
            is_read = False
        elif cells[0] == HEADER[0]:
            is_read = cells == HEADER
        elif is_read and not cells[0].startswith("---"):
            phrases += (phrase.strip(" `'\"“”–") for phrase in cells[-1].split(" · "))
    return tuple(filter(None, phrases))


@cache
def _forbidden() -> tuple[str, ...]:
    phrases = _phrases_of(GLOSSARY.read_text())
    assert len(phrases) > 10
    return phrases


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _phrases_in(words: str, phrases: tuple[str, ...] | None = None) -> Iterator[str]:
    return (phrase for phrase in phrases or _forbidden() if _pattern(phrase).search(words))


def _page_texts() -> Iterator[Text]:
    for path in sorted((ROOT / "web" / "text" / "en").glob("*.ts")):
        yield from _literals(path.read_text(), str(path.relative_to(ROOT)))


def _literals(source: str, place: str) -> Iterator[Text]:
    """Yield the string literals of a TypeScript source, and those inside the values of its templates."""
    for token in TOKEN.finditer(IMPORT.sub("", source)):
        double, single, template = token.groups()
        words = next((found for found in (double, single, template) if found is not None), "")
        if template is not None:
            yield Text(place, VALUE.sub(PLACEHOLDER, words))
            for value in VALUE.findall(words):
                yield from _literals(value, place)
        elif words:
            yield Text(place, re.sub(r"\\(.)", r"\1", words))


def _command_texts() -> Iterator[Text]:
    yield from _help(typer.main.get_command(app), "muniment")


def _help(command: Any, name: str) -> Iterator[Text]:
    yield Text(name, command.help or "")
    for parameter in command.params:
        yield Text(f"{name} {parameter.name}", getattr(parameter, "help", None) or "")
    for child, subcommand in getattr(command, "commands", {}).items():
        yield from _help(subcommand, f"{name} {child}")


def _setting_texts() -> Iterator[Text]:
    for name, section in Settings().sections().items():
        yield Text(name, type(section).__doc__ or "")
        for field_name, field in type(section).model_fields.items():
            yield Text(f"{name}.{field_name}", field.description or "")


def _error_texts() -> Iterator[Text]:
    """Yield the message of every error class, and every other sentence in the source."""
    for module in pkgutil.walk_packages(muniment.__path__, "muniment."):
        if not module.name.startswith("muniment.migrations") and module.name != "muniment.__main__":
            importlib.import_module(module.name)
    for error in _subclasses(MunimentError):
        # A class without a docstring of its own has the message of its base.
        yield Text(error.__qualname__, (error.__doc__ or "").strip().partition("\n")[0])
    for path in sorted((ROOT / "src" / "muniment").rglob("*.py")):
        if "migrations" not in path.parts:
            place = str(path.relative_to(ROOT))
            yield from (Text(place, words) for words in _sentences(ast.parse(path.read_text())))


def _subclasses(error: type[MunimentError]) -> Iterator[type[MunimentError]]:
    yield error
    for child in error.__subclasses__():
        yield from _subclasses(child)


def _sentences(node: ast.AST) -> Iterator[str]:
    """Yield string constants that read like a sentence. Docstrings and API descriptions are no messages."""
    for child in ast.iter_child_nodes(node):
        is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if is_docstring or (isinstance(child, ast.keyword) and child.arg == "description"):
            continue
        if isinstance(child, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else PLACEHOLDER for part in child.values)
            words = "".join(map(str, parts))
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            words = child.value
        else:
            yield from _sentences(child)
            continue
        if SENTENCE.search(words):
            yield words


TEXTS = {"page": _page_texts, "commands": _command_texts, "settings": _setting_texts, "errors": _error_texts}
