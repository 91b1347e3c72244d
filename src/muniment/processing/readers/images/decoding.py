"""Decode untrusted images: known formats only, limited pixels, one type of error."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from PIL import Image, ImageOps, JpegImagePlugin, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin

from muniment.processing.readers.errors import Unreadable, UnreadableCode, parser_errors_as_unreadable

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/tiff": "TIFF",
    "image/webp": "WEBP",
    "image/gif": "GIF",
    "image/bmp": "BMP",
}

Image.preinit()
_PRELOADED_PLUGINS = (JpegImagePlugin, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin)
# Pillow's own limit is sometimes a warning and sometimes an error; `decode` checks ours before decoding.
Image.MAX_IMAGE_PIXELS = None

_WHITE = (255, 255, 255, 255)


@contextmanager
def image_errors_as_unreadable(format_name: str) -> Iterator[None]:
    """Turn every error into `Unreadable`, and silence Pillow's warnings."""
    with warnings.catch_warnings(), parser_errors_as_unreadable(format_name):
        warnings.simplefilter("ignore")
        yield


def open_image(file: IO[bytes], formats: list[str]) -> Image.Image:
    """Open an image by its header. The first format names the file type in error messages."""
    file.seek(0)
    with image_errors_as_unreadable(formats[0]):
        return Image.open(file, formats=formats)


def decode(image: Image.Image, max_pixels: int) -> Image.Image:
    """Return the current frame upright, in L or RGB on white. Large JPEGs are decoded at a smaller size."""
    with image_errors_as_unreadable(image.format or "picture"):
        pixels = image.width * image.height
        if pixels > max_pixels:
            image.draft(image.mode, _reduced_size(image.size, max_pixels))
        if image.width * image.height > max_pixels:
            raise too_large_error(pixels, max_pixels)
        image.load()
        return _flatten_on_white(ImageOps.exif_transpose(image))


def is_rotated_by_quarter(image: Image.Image) -> bool:
    """Whether the image is displayed rotated by 90°, so that width and height are swapped."""
    with image_errors_as_unreadable(image.format or "picture"):
        return image.getexif().get(_ORIENTATION, 1) in _QUARTER_TURNS


def too_large_error(pixels: int, max_pixels: int) -> Unreadable:
    message = (
        f"The image has {_in_megapixels(pixels)} million pixels. The limit is {_in_megapixels(max_pixels)} million."
    )
    return Unreadable(UnreadableCode.READER_MEMORY, message)


def _reduced_size(size: tuple[int, int], max_pixels: int) -> tuple[int, int]:
    # The JPEG decoder halves up to three times, but not below the requested size.
    halvings = next((n for n in (1, 2, 3) if (size[0] >> n) * (size[1] >> n) <= max_pixels), 3)
    return size[0] >> halvings, size[1] >> halvings


def _in_megapixels(pixels: int) -> str:
    return f"{pixels / 1_000_000:,.0f}"


_ORIENTATION = 0x0112
_QUARTER_TURNS = (5, 6, 7, 8)


def _flatten_on_white(image: Image.Image) -> Image.Image:
    if image.mode in ("L", "RGB"):
        return image if "transparency" not in image.info else _blended(image)
    if image.mode[0] in "IF":
        return _to_eight_bits(image)
    if image.has_transparency_data:
        return _blended(image)
    return image.convert("L" if image.mode == "1" else "RGB")


def _blended(image: Image.Image) -> Image.Image:
    layer = image.convert("RGBA")
    white = Image.new("RGBA", layer.size, _WHITE)
    white.alpha_composite(layer)
    return white.convert("RGB")


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """Convert gray images with 16 or more bits, stretching the contrast; a plain conversion would clip them."""
    deep = image.convert("F")
    darkest, brightest = deep.getextrema()
    assert isinstance(darkest, float)
    assert isinstance(brightest, float)
    factor = 255 / (brightest - darkest) if brightest > darkest else 1.0
    return deep.point(lambda value: value * factor - darkest * factor).convert("L")
