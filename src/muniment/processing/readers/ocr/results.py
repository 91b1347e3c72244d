"""OCR result of one image: words with their boxes, and the engine's confidence."""

from dataclasses import dataclass, replace

PixelBox = tuple[int, int, int, int]
"""Left, top, right, bottom."""

_WORD = "5"
"""The level of a word's line in tesseract's table."""


class OcrFailed(Exception):
    """This picture has no recognised text; `message` is a sentence for the page's `problem`."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class OcrWord:
    text: str
    box: PixelBox
    confidence: float
    """From 0 to 1."""
    block: int
    paragraph: int
    """Counted within its block."""
    line: int
    """Counted within its paragraph."""


@dataclass(frozen=True, slots=True)
class OcrResult:
    """Words in reading order. Boxes count in `width` × `height`: less than submitted where the engine takes no more."""

    words: tuple[OcrWord, ...]
    width: int
    height: int
    dpi: int

    @property
    def confidence(self) -> float:
        """The mean over all words, 0 where there are none."""
        return sum(word.confidence for word in self.words) / len(self.words) if self.words else 0.0

    def rotated_180(self) -> "OcrResult":
        """The same words where they stand when the picture is turned by 180°."""
        return replace(self, words=tuple(self._rotate_word(word) for word in self.words))

    def _rotate_word(self, word: OcrWord) -> OcrWord:
        left, top, right, bottom = word.box
        return replace(word, box=(self.width - right, self.height - bottom, self.width - left, self.height - top))


def parse_tsv(table: bytes, *, width: int, height: int, dpi: int) -> OcrResult:
    """Read tesseract's table (TSV); `ValueError` if it is none."""
    lines = table.decode("utf-8").splitlines()
    if not lines or not lines[0].startswith("level\t"):
        raise ValueError("no table")
    rows = (line.split("\t") for line in lines[1:])
    words = tuple(_word(row) for row in rows if row[0] == _WORD and row[11].strip())
    return OcrResult(words, width, height, dpi)


def _word(row: list[str]) -> OcrWord:
    _, _, block, paragraph, line, _, left, top, width, height = map(int, row[:10])
    box = (left, top, left + width, top + height)
    return OcrWord(row[11].strip(), box, max(0.0, float(row[10])) / 100, block, paragraph, line)
