"""Jobs a child can run. Importing this module imports every reader, and what they would import later."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from PIL import Image as Pillow

from muniment.processing.readers.contract import Box, Means, Options
from muniment.processing.readers.registry import reader_for
from muniment.processing.readers.rendering import figure_picture, page_picture
from muniment.processing.sandbox.child.main import Job
from muniment.processing.sandbox.protocol.frames import Outlet


def _read(file: BinaryIO, arguments: Mapping[str, Any], outlet: Outlet) -> None:
    media_type, options = arguments["media_type"], _options(arguments["options"])
    reading = reader_for(media_type).open_file(file, media_type, options, Means(**arguments["means"]))
    outlet.opened(reading.total_pages)
    for page in reading.pages:
        outlet.page(page)


def _page_picture(file: BinaryIO, arguments: Mapping[str, Any], outlet: Outlet) -> None:
    means = Means(**arguments["means"])
    outlet.image(page_picture(file, arguments["media_type"], arguments["page_number"], arguments["width_px"], means))


def _figure_picture(file: BinaryIO, arguments: Mapping[str, Any], outlet: Outlet) -> None:
    means, box = Means(**arguments["means"]), _box(arguments["box"])
    outlet.image(
        figure_picture(file, arguments["media_type"], arguments["page_number"], box, arguments["source"], means)
    )


def _options(given: dict[str, Any]) -> Options:
    return Options(**{**given, "ocr_languages": tuple(given["ocr_languages"])})


def _box(given: list[float] | None) -> Box | None:
    if given is None:
        return None
    left, top, right, bottom = given
    return left, top, right, bottom


Pillow.init()  # it imports most formats at first use, which would be too late

JOBS: Mapping[str, Job] = {"read": _read, "page_picture": _page_picture, "figure_picture": _figure_picture}
