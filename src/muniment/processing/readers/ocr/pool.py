"""OCR pool: several Tesseract processes, driven by one thread."""

import selectors
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NewType

from PIL import Image

from muniment.processing.readers.contract import Means, Options
from muniment.processing.readers.ocr.engine import environment_of, languages_of
from muniment.processing.readers.ocr.process import OcrProcess
from muniment.processing.readers.ocr.results import Recognised, RecognitionFailed, parse

Ticket = NewType("Ticket", int)

MAX_PIXELS = 40_000_000
"""Of one picture that the engine gets; it needs some 20 bytes for each."""
MAX_SIDE = 32_000
"""The engine takes no more than 32,767."""
MIN_SIDE = 8
"""Nothing can be read on less."""
POOR = 0.6
"""Text that stands on its head is read with a confidence of 0.4 to 0.57, any other with 0.8 and more."""


@dataclass(frozen=True, slots=True)
class _Job:
    ticket: Ticket
    picture: Image.Image = field(repr=False)
    dpi: int
    upright: Recognised | None = None
    """What the first attempt gave; the second has the picture turned over."""


class OcrPool:
    """Recognises up to `means.ocr_processes` pictures at a time. It works on while `submit` and `result` are called."""

    def __init__(self, means: Means, options: Options) -> None:
        self._means = means
        self._languages = languages_of(means.tessdata, options.ocr_languages)
        self._numbers = count(1)
        self._waiting: deque[_Job] = deque()
        self._running: dict[OcrProcess, _Job] = {}
        self._done: dict[Ticket, Recognised | RecognitionFailed] = {}
        self._selector = selectors.DefaultSelector()

    def submit(self, image: Image.Image, dpi: int) -> Ticket:
        """Take the picture in; it is held in memory until it is recognised. Never blocks."""
        ticket = Ticket(next(self._numbers))
        if problem := self._missing():
            self._done[ticket] = RecognitionFailed(problem)
        elif min(image.size) < MIN_SIDE:
            self._done[ticket] = Recognised((), image.width, image.height, dpi)
        else:
            self._waiting.append(_Job(ticket, *_fitted(image, dpi)))
            self._start()
            self._step(timeout=0)
        return ticket

    def result(self, ticket: Ticket) -> Recognised:
        """Wait for this picture and give its words, once; `RecognitionFailed` if there are none to be had."""
        while ticket not in self._done:
            self._step(timeout=None)
        outcome = self._done.pop(ticket)
        if isinstance(outcome, RecognitionFailed):
            raise outcome
        return outcome

    def close(self) -> None:
        """Kill what runs, forget what waits."""
        self._waiting.clear()
        for process in self._running:
            process.kill()
        self._running.clear()
        self._selector.close()

    def _missing(self) -> str | None:
        if self._means.tesseract is None:
            return "This page is an image, and OCR is not installed."
        if not self._languages:
            return "This page is an image, and OCR has none of the configured languages."
        return None

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._means.ocr_processes:
            job = self._waiting.popleft()
            try:
                process = OcrProcess(self._command(job.dpi), environment_of(self._means.tessdata), _shown(job))
            except OSError:
                self._done[job.ticket] = RecognitionFailed("OCR could not be started.")
                continue
            self._running[process] = job
            self._selector.register(process.stdout, selectors.EVENT_READ, process)
            if process.feed():
                self._selector.register(process.stdin, selectors.EVENT_WRITE, process)

    def _step(self, *, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            process: OcrProcess = key.data
            if process not in self._running:
                continue  # its other pipe told of its end just now
            if key.fileobj is process.stdin:
                self._feed(process)
            elif not process.drain():
                self._finish(process)
        self._start()

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
            self._judge(job, parse(table, width=job.picture.width, height=job.picture.height, dpi=job.dpi))
        except RecognitionFailed as failure:
            self._done[job.ticket] = failure
        except ValueError:
            self._done[job.ticket] = RecognitionFailed("OCR failed on this page.")

    def _judge(self, job: _Job, found: Recognised) -> None:
        """Accept it, or have another look with the picture turned over."""
        if job.upright is not None:
            over = found.turned_over()
            self._done[job.ticket] = max(job.upright, over, key=lambda each: each.confidence)
        elif found.words and found.confidence < POOR:
            # Lying on its side is no reason: the engine reads such lines itself, from the bottom to the top or,
            # with the picture turned over, from the top to the bottom.
            self._waiting.appendleft(replace(job, upright=found))
        else:
            self._done[job.ticket] = found

    def _command(self, dpi: int) -> list[str]:
        assert self._means.tesseract is not None
        # Method 2 (Sauvola) looks at the neighbourhood of each pixel: unlike the default it reads pale text and pages
        # photographed in half shadow, at the same cost. Mode 1 is the neural recogniser alone.
        settings = ["-c", "thresholding_method=2", "-c", "tessedit_create_tsv=1"]
        languages = ["-l", "+".join(self._languages)]
        return [self._means.tesseract, "stdin", "stdout", "--dpi", str(dpi), "--oem", "1", *languages, *settings]


def _fitted(image: Image.Image, dpi: int) -> tuple[Image.Image, int]:
    """The picture in gray, made smaller if the engine would not take it, and the resolution it then has."""
    gray = image if image.mode == "L" else image.convert("L")
    factor = min(1.0, (MAX_PIXELS / (image.width * image.height)) ** 0.5, MAX_SIDE / max(image.size))
    if factor == 1.0:
        return gray, dpi
    size = (max(1, int(image.width * factor)), max(1, int(image.height * factor)))
    return gray.resize(size, Image.Resampling.BOX), max(1, round(dpi * factor))


def _shown(job: _Job) -> Image.Image:
    return job.picture if job.upright is None else job.picture.transpose(Image.Transpose.ROTATE_180)
