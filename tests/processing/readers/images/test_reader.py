import subprocess
import sys
from io import BytesIO

import pytest
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from muniment.processing.readers.contract import (
    ExtractedPage,
    ExtractionMethod,
    FigureKind,
    ReaderResources,
    ReadingOptions,
)
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.images import reader
from tests.processing.readers.image_files import LINES, a_file, a_photo, a_scan, resources_with_ocr

TEXT = " ".join(LINES)
MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "TIFF": "image/tiff",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
}
ORIENTATION = 0x0112


def read(file: BytesIO, media_type: str = "image/png", resources: ReaderResources | None = None) -> list[ExtractedPage]:
    reading = reader.open_file(file, media_type, ReadingOptions(), resources or resources_with_ocr())
    pages = list(reading.pages)
    assert [page.number for page in pages] == list(range(1, reading.total_pages + 1))
    return pages


def plain(page: ExtractedPage) -> str:
    return page.text.replace("\n\n", " ")


@pytest.mark.parametrize("format_name", MEDIA_TYPES)
def test_every_format_is_read(format_name: str) -> None:
    how = {} if format_name in ("GIF", "WEBP") else {"dpi": (200, 200)}
    (page,) = read(a_file(a_scan(), format_name, **how), MEDIA_TYPES[format_name])
    assert plain(page) == TEXT
    assert page.method is ExtractionMethod.OCR
    assert page.figures == (), f"{len(page.words)} words are text, not a photo"


def test_the_page_has_the_size_that_the_file_states() -> None:
    (page,) = read(a_file(a_scan(), dpi=(200, 200)))
    assert page.width == pytest.approx(298, abs=1)
    assert page.height == pytest.approx(420, abs=1)
    assert page.words[0].box[0] == pytest.approx(30, abs=2)


def test_every_frame_of_a_tiff_is_a_page() -> None:
    first, *others = [a_scan([f"This is page number {n}"], size=(298, 120)) for n in (1, 2, 3, 4)]
    pages = read(a_file(first, "TIFF", save_all=True, append_images=others, dpi=(200, 200)), "image/tiff")
    assert [page.text for page in pages] == [f"This is page number {n}" for n in (1, 2, 3, 4)]


def test_more_frames_than_allowed_are_refused_before_any_is_read() -> None:
    frame = Image.new("1", (10, 10))
    file = a_file(frame, "TIFF", save_all=True, append_images=[frame] * 4)
    with pytest.raises(Unreadable, match=r"5 pages. The limit is 4") as refusal:
        reader.open_file(file, "image/tiff", ReadingOptions(), ReaderResources(max_pages=4))
    assert refusal.value.code is UnreadableCode.TOO_MANY_PAGES


def test_a_damaged_frame_is_a_problem_of_its_own_page() -> None:
    good, bad = a_scan(["This page is whole"], size=(298, 120)), Image.effect_noise((500, 500), 50)
    file = a_file(good, "TIFF", save_all=True, append_images=[bad, good], compression="tiff_lzw", dpi=(200, 200))
    with TiffImageFile(file) as tiff:
        tiff.seek(1)
        offset = tiff.tag_v2[273][0]
    damaged = bytearray(file.getvalue())
    damaged[offset : offset + 3000] = b"\xff" * 3000
    first, second, third = read(BytesIO(bytes(damaged)), "image/tiff")
    assert (first.text, third.text) == ("This page is whole",) * 2
    assert second.problem is not None
    assert second.text == ""


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_the_orientation_that_a_camera_notes_is_applied(orientation: int) -> None:
    back = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}[orientation]
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    (page,) = read(a_file(a_scan().transpose(back), "JPEG", exif=exif, dpi=(200, 200), quality=95), "image/jpeg")
    assert plain(page) == TEXT
    assert page.width == pytest.approx(298, abs=1)
    assert page.words[0].box[0] == pytest.approx(30, abs=2)


def test_a_photo_of_a_sheet_without_resolution_counts_as_a4() -> None:
    (page,) = read(a_file(Image.new("L", (3000, 4000), 255), "JPEG"), "image/jpeg")
    assert page.height == pytest.approx(842, abs=1)


def test_a_fax_with_half_the_lines_is_stretched_before_it_is_read() -> None:
    scan = a_scan(dpi=204)
    (page,) = read(a_file(scan.resize((scan.width, scan.height // 2)), "TIFF", dpi=(204, 102)), "image/tiff")
    assert page.height == pytest.approx(420, abs=2)
    assert plain(page) == TEXT


def test_a_picture_without_text_is_a_figure_as_large_as_the_page() -> None:
    (page,) = read(a_file(a_photo()))
    (figure,) = page.figures
    assert figure.kind is FigureKind.PICTURE
    assert (figure.width_px, figure.height_px) == (400, 300)
    assert figure.box == (0.0, 0.0, page.width, page.height)
    (again,) = read(a_file(a_photo(), "BMP"), "image/bmp")
    assert again.figures[0].sha256 == figure.sha256, "it is the same picture in another format"


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "1", "I;16", "I", "CMYK"])
def test_every_kind_of_pixel_is_read(mode: str) -> None:
    scan = a_scan()
    if mode in ("RGBA", "LA"):
        typed = Image.new(mode, scan.size, 0)  # black on a transparent background, as programs export it
        typed.putalpha(scan.point(lambda value: 255 - value))
    elif mode.startswith("I"):
        typed = scan.convert("I").point(lambda value: value * 200 + 1000).convert(mode)
    else:
        typed = scan.convert(mode)
    (page,) = read(a_file(typed, "TIFF", dpi=(200, 200)), "image/tiff")
    assert plain(page) == TEXT


@pytest.mark.parametrize("format_name", MEDIA_TYPES)
def test_a_truncated_picture_is_corrupt(format_name: str) -> None:
    whole = a_file(Image.effect_noise((300, 300), 90), format_name).getvalue()
    with pytest.raises(Unreadable) as refusal:
        read(BytesIO(whole[: len(whole) // 2]), MEDIA_TYPES[format_name])
    assert refusal.value.code is UnreadableCode.CORRUPT
    assert refusal.value.message.endswith(".")


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"])
def test_what_is_no_picture_is_corrupt(content: bytes) -> None:
    for media_type in MEDIA_TYPES.values():
        with pytest.raises(Unreadable) as refusal:
            read(BytesIO(content), media_type)
        assert refusal.value.code is UnreadableCode.CORRUPT


def test_a_picture_with_too_many_pixels_is_not_decoded_and_says_so() -> None:
    (page,) = read(a_file(Image.new("1", (3000, 2000))), resources=ReaderResources(max_pixels=4_000_000))
    assert page.problem == "The image has 6 million pixels. The limit is 4 million."


def test_a_jpeg_with_too_many_pixels_is_decoded_smaller() -> None:
    large = a_scan(dpi=600)
    resources = resources_with_ocr(max_pixels=large.width * large.height // 3)
    (page,) = read(a_file(large, "JPEG", dpi=(600, 600)), "image/jpeg", resources)
    assert plain(page) == TEXT
    assert page.width == pytest.approx(298, abs=1)


def test_without_an_engine_the_page_says_so_and_is_still_shown() -> None:
    (page,) = read(a_file(a_scan()), resources=ReaderResources())
    assert page.problem is not None
    assert page.width is not None
    assert len(page.figures) == 1


PROGRAM = """
import sys
from io import BytesIO
from muniment.processing.readers import rendering
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.images import reader
known = set(sys.modules)
for number, media_type in enumerate(sys.argv[1:]):
    length = int.from_bytes(sys.stdin.buffer.read(4), "big")
    file = BytesIO(sys.stdin.buffer.read(length))
    list(reader.open_file(file, media_type, ReadingOptions(), ReaderResources()).pages)
    rendering.render_page(file, media_type, 1, 50, ReaderResources())
sys.stdout.write(" ".join(sorted(set(sys.modules) - known)))
"""


def test_nothing_is_imported_while_pictures_are_read() -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    formats = [name for name in MEDIA_TYPES if name not in ("GIF", "BMP")]
    files = [a_file(a_photo(), name, exif=exif).getvalue() for name in formats]
    files += [a_file(a_photo(), name).getvalue() for name in ("GIF", "BMP")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *(MEDIA_TYPES[name] for name in [*formats, "GIF", "BMP"])],
        input=b"".join(len(file).to_bytes(4, "big") + file for file in files),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == ""
