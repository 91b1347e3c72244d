"""Decode untrusted images: known formats only, a bounded number of pixels, one kind of error."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from PIL import Image, ImageOps, JpegImagePlugin, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin

from muniment.processing.readers.errors import Code, Unreadable, damage_is_unreadable

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/tiff": "TIFF",
    "image/webp": "WEBP",
    "image/gif": "GIF",
    "image/bmp": "BMP",
}

Image.preinit()
_ALSO_NEEDED = (JpegImagePlugin, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin)
# Pillow's own limit is a warning here and an error there; `decode` asks for ours before anything is decoded.
Image.MAX_IMAGE_PIXELS = None

_WHITE = (255, 255, 255, 255)


@contextmanager
def damage_is_told(format_name: str) -> Iterator[None]:
    """`Unreadable` for whatever goes wrong; Pillow's warnings about oddities are nobody's business."""
    with warnings.catch_warnings(), damage_is_unreadable(format_name):
        warnings.simplefilter("ignore")
        yield


def open_picture(file: IO[bytes], formats: list[str]) -> Image.Image:
    """Read its header. The first of the formats gives its name to what goes wrong."""
    file.seek(0)
    with damage_is_told(formats[0]):
        return Image.open(file, formats=formats)


def decode(picture: Image.Image, max_pixels: int) -> Image.Image:
    """The pixels of the current frame, upright, in L or RGB on white. A JPEG that is too large comes out smaller."""
    with damage_is_told(picture.format or "picture"):
        pixels = picture.width * picture.height
        if pixels > max_pixels:
            picture.draft(picture.mode, _smaller(picture.size, max_pixels))
        if picture.width * picture.height > max_pixels:
            raise too_large(pixels, max_pixels)
        picture.load()
        return _on_white(ImageOps.exif_transpose(picture))


def is_on_its_side(picture: Image.Image) -> bool:
    """Whether it is shown turned by a quarter, so that its width becomes its height."""
    with damage_is_told(picture.format or "picture"):
        return picture.getexif().get(_ORIENTATION, 1) in _QUARTER_TURNS


def too_large(pixels: int, max_pixels: int) -> Unreadable:
    message = f"The image has {_millions(pixels)} million pixels. The limit is {_millions(max_pixels)} million."
    return Unreadable(Code.READER_MEMORY, message)


def _smaller(size: tuple[int, int], max_pixels: int) -> tuple[int, int]:
    # The JPEG decoder halves up to three times, and stops before it falls below what is asked for.
    halvings = next((n for n in (1, 2, 3) if (size[0] >> n) * (size[1] >> n) <= max_pixels), 3)
    return size[0] >> halvings, size[1] >> halvings


def _millions(pixels: int) -> str:
    return f"{pixels / 1_000_000:,.0f}"


_ORIENTATION = 0x0112
_QUARTER_TURNS = (5, 6, 7, 8)


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode in ("L", "RGB"):
        return picture if "transparency" not in picture.info else _blended(picture)
    if picture.mode[0] in "IF":
        return _eight_bits(picture)
    if picture.has_transparency_data:
        return _blended(picture)
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _blended(picture: Image.Image) -> Image.Image:
    layer = picture.convert("RGBA")
    white = Image.new("RGBA", layer.size, _WHITE)
    white.alpha_composite(layer)
    return white.convert("RGB")


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Gray of 16 bits and more, its darkest made black and its brightest white: converting alone would clip it."""
    deep = picture.convert("F")
    darkest, brightest = deep.getextrema()
    assert isinstance(darkest, float)
    assert isinstance(brightest, float)
    factor = 255 / (brightest - darkest) if brightest > darkest else 1.0
    return deep.point(lambda value: value * factor - darkest * factor).convert("L")
