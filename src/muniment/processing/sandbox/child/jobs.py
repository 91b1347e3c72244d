"""Jobs a child can run. Importing this module imports every reader, and what they would import later."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from PIL import Image as Pillow

from muniment.processing.readers.contract import Box, ReaderResources, ReadingOptions
from muniment.processing.readers.limits import LimitCounter
from muniment.processing.readers.registry import reader_for
from muniment.processing.readers.rendering import render_figure, render_page
from muniment.processing.sandbox.child.main import Job
from muniment.processing.sandbox.protocol.frames import FrameWriter


def _read(file: BinaryIO, arguments: Mapping[str, Any], frames: FrameWriter) -> None:
    media_type, options = arguments["media_type"], _options(arguments["options"])
    first_page = arguments["first_page"]
    resources = replace(ReaderResources(**arguments["means"]), first_page=first_page)
    counter = LimitCounter(resources, os.fstat(file.fileno()).st_size)
    reading = reader_for(media_type).open_file(file, media_type, options, resources)
    counter.require_pages(reading.total_pages)
    frames.opened(reading.total_pages)
    for page in reading.pages:
        counter.add_page(page)
        # Readers for which a page is cheap do not skip any.
        if page.number >= first_page:
            frames.page(page)


def _render_page(file: BinaryIO, arguments: Mapping[str, Any], frames: FrameWriter) -> None:
    means = ReaderResources(**arguments["means"])
    frames.image(render_page(file, arguments["media_type"], arguments["page_number"], arguments["width_px"], means))


def _render_figure(file: BinaryIO, arguments: Mapping[str, Any], frames: FrameWriter) -> None:
    means, box = ReaderResources(**arguments["means"]), _box(arguments["box"])
    frames.image(
        render_figure(file, arguments["media_type"], arguments["page_number"], box, arguments["source"], means)
    )


def _options(given: dict[str, Any]) -> ReadingOptions:
    return ReadingOptions(**{**given, "ocr_languages": tuple(given["ocr_languages"])})


def _box(given: list[float] | None) -> Box | None:
    if given is None:
        return None
    left, top, right, bottom = given
    return left, top, right, bottom


Pillow.init()  # it imports most formats at first use, which would be too late

JOBS: Mapping[str, Job] = {"read": _read, "page_picture": _render_page, "figure_picture": _render_figure}
