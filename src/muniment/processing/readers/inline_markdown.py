"""The marks within a Markdown paragraph. Every pattern is bounded, so that no text makes it slow."""

import html
import re

_MARK = re.compile(r"[*_`~\[<&\\\ue000]")
_CODE = re.compile(r"(`{1,4})(?!`)(.{1,2000}?)(?<!`)\1(?!`)", re.DOTALL)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_TARGET = r"(?:\([^()]{0,2000}(?:\([^()]{0,500}\)[^()]{0,500})?\)|\[[^\[\]]{0,500}\])"
_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.{0,5000}?-->", re.DOTALL), ""),
    (re.compile(r"<((?:https?|ftp|mailto):[^\s<>]{1,2000})>"), r"\1"),
    (re.compile(r"<([^\s<>@]{1,200}@[^\s<>@]{1,200})>"), r"\1"),
    (re.compile(r"<br\s?/?>", re.IGNORECASE), "\n"),
    (re.compile(r"</?[a-zA-Z][\w-]{0,30}(?:\s[^<>]{0,1000})?/?>"), ""),
    (re.compile(r"!\[([^\[\]]{0,1000})\]" + _TARGET), r"\1"),
    (re.compile(r"\[([^\[\]]{1,1000})\]" + _TARGET), r"\1"),
    (re.compile(r"(\*{1,3})(?=[^\s*])(.{1,1000}?)(?<=[^\s*])\1(?!\*)", re.DOTALL), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])(.{1,1000}?)(?<=[^\s_])\1(?!\w)", re.DOTALL), r"\2"),
    (re.compile(r"~~(?=\S)(.{1,1000}?)(?<=\S)~~", re.DOTALL), r"\1"),
)  # fmt: skip
# Code and escaped characters wait here while marks are removed; no text has such characters.
_HOLD, _RELEASE = "\ue000{}\ue001", re.compile("\ue000(\\d+)\ue001")


def without_marks(text: str) -> str:
    """`**bold**` is bold, a link is its text, a picture what it says it shows; code stays as it is."""
    if not _MARK.search(text):
        return text.strip()
    held: list[str] = []

    def hold(content: str) -> str:
        held.append(content)
        return _HOLD.format(len(held) - 1)

    text = _CODE.sub(lambda match: hold(match[2]), text)
    text = _ESCAPE.sub(lambda match: hold(match[1]), text)
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    return _RELEASE.sub(lambda match: _release(held, match), html.unescape(text)).strip()


def _release(held: list[str], match: re.Match[str]) -> str:
    at = int(match[1][:9])
    return held[at] if at < len(held) else ""
