"""OCR pool: several Tesseract processes, driven by one thread."""

import selectors
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NewType

from PIL import Image

from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.ocr.engine import engine_environment, installed_languages
from muniment.processing.readers.ocr.process import OcrProcess
from muniment.processing.readers.ocr.results import OcrFailed, OcrResult, parse_tsv

OcrTicket = NewType("OcrTicket", int)

MAX_PIXELS = 40_000_000
"""Maximum number of pixels of one image; the engine needs about 20 bytes for each."""
MAX_SIDE = 32_000
"""Maximum side; the engine accepts up to 32,767."""
MIN_SIDE = 8
"""Minimum side of an image with readable text."""
LOW_CONFIDENCE = 0.6
"""Upside-down text is recognized with a confidence of 0.4 to 0.57, other text with 0.8 or more."""


@dataclass(frozen=True, slots=True)
class _Job:
    ticket: OcrTicket
    image: Image.Image = field(repr=False)
    dpi: int
    upright_result: OcrResult | None = None
    """Result of the first attempt, while the second one has the image rotated by 180°."""


class OcrPool:
    """Recognizes up to `resources.ocr_processes` images at a time.

    Work proceeds while `submit` and `wait_for_result` are called.
    """

    def __init__(self, resources: ReaderResources, options: ReadingOptions) -> None:
        self._resources = resources
        self._languages = installed_languages(resources.tessdata, options.ocr_languages)
        self._numbers = count(1)
        self._waiting: deque[_Job] = deque()
        self._running: dict[OcrProcess, _Job] = {}
        self._done: dict[OcrTicket, OcrResult | OcrFailed] = {}
        self._selector = selectors.DefaultSelector()

    def submit(self, image: Image.Image, dpi: int) -> OcrTicket:
        """Queue an image without blocking. It stays in memory until it is recognized."""
        ticket = OcrTicket(next(self._numbers))
        if problem := self._unavailable_reason():
            self._done[ticket] = OcrFailed(problem)
        elif min(image.size) < MIN_SIDE:
            self._done[ticket] = OcrResult((), image.width, image.height)
        else:
            self._waiting.append(_Job(ticket, *_fit_image(image, dpi)))
            self._start_waiting()
            self._poll(timeout=0)
        return ticket

    def wait_for_result(self, ticket: OcrTicket) -> OcrResult:
        """Wait for an image and return its words, once. Raise `OcrFailed` if recognition failed."""
        while ticket not in self._done:
            self._poll(timeout=None)
        outcome = self._done.pop(ticket)
        if isinstance(outcome, OcrFailed):
            raise outcome
        return outcome

    def close(self) -> None:
        """Kill running processes and drop queued images."""
        self._waiting.clear()
        for process in self._running:
            process.kill()
        self._running.clear()
        self._selector.close()

    def _unavailable_reason(self) -> str | None:
        if self._resources.tesseract is None:
            return "This page is an image, and OCR is not installed."
        if not self._languages:
            return "This page is an image, and OCR has none of the configured languages."
        return None

    def _start_waiting(self) -> None:
        while self._waiting and len(self._running) < self._resources.ocr_processes:
            job = self._waiting.popleft()
            try:
                process = OcrProcess(
                    self._command(job.dpi), engine_environment(self._resources.tessdata), _job_image(job)
                )
            except OSError:
                self._done[job.ticket] = OcrFailed("OCR could not be started.")
                continue
            self._running[process] = job
            self._selector.register(process.stdout, selectors.EVENT_READ, process)
            if process.feed():
                self._selector.register(process.stdin, selectors.EVENT_WRITE, process)

    def _poll(self, *, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            process: OcrProcess = key.data
            if process not in self._running:
                continue  # its other pipe has just reported its end
            if key.fileobj is process.stdin:
                self._feed(process)
            elif not process.drain():
                self._finish(process)
        self._start_waiting()

    def _feed(self, process: OcrProcess) -> None:
        stdin = process.stdin
        self._selector.unregister(stdin)
        if process.feed():
            self._selector.register(stdin, selectors.EVENT_WRITE, process)

    def _finish(self, process: OcrProcess) -> None:
        job = self._running.pop(process)
        self._selector.unregister(process.stdout)
        if not process.stdin.closed:
            self._selector.unregister(process.stdin)
        try:
            table = process.finish()
            self._accept_or_retry(job, parse_tsv(table, width=job.image.width, height=job.image.height))
        except OcrFailed as failure:
            self._done[job.ticket] = failure
        except ValueError:
            self._done[job.ticket] = OcrFailed("OCR failed on this page.")

    def _accept_or_retry(self, job: _Job, result: OcrResult) -> None:
        """Accept the result, or retry with the image rotated by 180°."""
        if job.upright_result is not None:
            over = result.rotated_180()
            self._done[job.ticket] = max(job.upright_result, over, key=lambda each: each.confidence)
        elif result.words and result.confidence < LOW_CONFIDENCE:
            # Lines rotated by 90° need no retry: the engine reads them bottom to top, and top to bottom if the image is
            # rotated.
            self._waiting.appendleft(replace(job, upright_result=result))
        else:
            self._done[job.ticket] = result

    def _command(self, dpi: int) -> list[str]:
        assert self._resources.tesseract is not None
        # Method 2 (Sauvola) uses the neighborhood of each pixel: unlike the default it reads pale text and unevenly lit
        # photos, at the same cost. Mode 1 uses only the neural recognizer.
        settings = ["-c", "thresholding_method=2", "-c", "tessedit_create_tsv=1"]
        languages = ["-l", "+".join(self._languages)]
        return [self._resources.tesseract, "stdin", "stdout", "--dpi", str(dpi), "--oem", "1", *languages, *settings]


def _fit_image(image: Image.Image, dpi: int) -> tuple[Image.Image, int]:
    """Return the image in gray, scaled down if the engine would reject it, and its resulting resolution."""
    gray = image if image.mode == "L" else image.convert("L")
    factor = min(1.0, (MAX_PIXELS / (image.width * image.height)) ** 0.5, MAX_SIDE / max(image.size))
    if factor == 1.0:
        return gray, dpi
    size = (max(1, int(image.width * factor)), max(1, int(image.height * factor)))
    return gray.resize(size, Image.Resampling.BOX), max(1, round(dpi * factor))


def _job_image(job: _Job) -> Image.Image:
    return job.image if job.upright_result is None else job.image.transpose(Image.Transpose.ROTATE_180)
