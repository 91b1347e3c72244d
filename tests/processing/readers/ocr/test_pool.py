import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from PIL import Image, ImageChops

from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.ocr.engine import find_engine
from muniment.processing.readers.ocr.pool import OcrPool
from muniment.processing.readers.ocr.results import OcrFailed, OcrResult
from tests.processing.readers.image_files import LINES, a_photo, a_scan, resources_with_ocr

TYPED = " ".join(LINES).split()


def recognise(
    image: Image.Image, resources: ReaderResources | None = None, options: ReadingOptions | None = None
) -> OcrResult:
    with closing(OcrPool(resources or resources_with_ocr(), options or ReadingOptions())) as pool:
        return pool.wait_for_result(pool.submit(image, 200))


def texts(recognised: OcrResult) -> list[str]:
    return [word.text for word in recognised.words]


def a_program(folder: Path, script: str) -> str:
    program = folder / "tesseract"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_the_engine_tells_its_version_and_its_languages() -> None:
    engine = find_engine()
    assert engine is not None
    assert engine.version.startswith("tesseract ")
    assert {"deu", "eng"} <= set(engine.languages)


def test_typed_lines_are_read_word_by_word_where_they_stand() -> None:
    found = recognise(a_scan())
    assert texts(found) == TYPED
    assert found.confidence > 0.9
    left, top, right, bottom = found.words[0].box
    # "Seven" starts 30 points from the left, its baseline is 50 points from the top: at 200 dpi 83 and 139 pixels.
    assert abs(left - 83) < 8
    assert abs(bottom - 139) < 8
    assert left < right < 200
    assert top < bottom
    assert [word.line for word in found.words if word.text in ("Seven", "and", "The")] == [1, 2, 3]


@pytest.mark.parametrize("turn", [Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270])
def test_a_sheet_that_lies_on_its_side_is_read_and_its_boxes_are_where_its_words_are(turn: Image.Transpose) -> None:
    upright = a_scan()
    turned = upright.transpose(turn)
    found = recognise(turned)
    assert texts(found) == TYPED
    left, top, right, bottom = found.words[0].box
    page = Image.new("L", turned.size, 255)
    page.paste(turned.crop((left, top, right, bottom)), (left, top))
    back = {Image.Transpose.ROTATE_90: 270, Image.Transpose.ROTATE_180: 180, Image.Transpose.ROTATE_270: 90}[turn]
    box = page.rotate(back, expand=True).point(lambda value: 255 - value).getbbox()
    assert box is not None
    assert abs(box[0] - 83) < 10
    assert abs(box[3] - 139) < 10


def test_pale_text_in_half_shadow_is_read_too() -> None:
    pale = a_scan().point(lambda value: 120 + value * 135 // 255)
    shadow = Image.linear_gradient("L").resize(pale.size).point(lambda value: 70 + value * 185 // 255)
    assert texts(recognise(ImageChops.multiply(pale, shadow))) == TYPED


def test_german_is_read_with_its_own_letters() -> None:
    line = "Größere Maßnahmen müssen Übergänge regeln"
    assert texts(recognise(a_scan([line]))) == line.split()


def test_results_come_by_ticket_in_any_order_with_more_pictures_than_processes() -> None:
    lines = ["first picture here", "second picture here", "third picture here", "fourth picture here"]
    with closing(OcrPool(resources_with_ocr(ocr_processes=2), ReadingOptions())) as pool:
        tickets = [pool.submit(a_scan([line], size=(298, 120)), 200) for line in lines]
        answers = {index: " ".join(texts(pool.wait_for_result(tickets[index]))) for index in (3, 0, 2, 1)}
    assert [answers[index] for index in range(4)] == lines


def test_equal_pictures_give_equal_words() -> None:
    assert recognise(a_scan()) == recognise(a_scan())


def test_a_picture_without_text_has_no_words() -> None:
    assert texts(recognise(Image.new("L", (600, 400), 255))) == []
    assert texts(recognise(Image.new("L", (3, 3), 0))) == []


def test_a_picture_too_large_for_the_engine_is_read_smaller() -> None:
    found = recognise(Image.new("L", (40_000, 50), 255))
    assert (found.width, found.height) == (32_000, 40)


def test_colours_are_taken_as_they_come() -> None:
    assert texts(recognise(a_scan().convert("RGB"))) == TYPED


def test_without_an_engine_a_page_says_so() -> None:
    with pytest.raises(OcrFailed, match="OCR is not installed"):
        recognise(a_scan(), ReaderResources())


def test_languages_that_are_not_there_are_left_out() -> None:
    assert texts(recognise(a_scan(), options=ReadingOptions(ocr_languages=("eng", "tlh")))) == TYPED
    with pytest.raises(OcrFailed, match="none of the configured languages"):
        recognise(a_scan(), options=ReadingOptions(ocr_languages=("tlh",)))


@pytest.mark.parametrize("script", ["exit 3", "kill -SEGV $$", "cat >/dev/null; echo gibberish", "cat >/dev/null"])
def test_a_program_that_fails_costs_its_page_only(tmp_path: Path, script: str) -> None:
    with pytest.raises(OcrFailed, match="OCR failed"):
        recognise(a_scan(), ReaderResources(tesseract=a_program(tmp_path, script)))


def test_a_program_that_cannot_be_started_costs_its_page_only(tmp_path: Path) -> None:
    with pytest.raises(OcrFailed, match="could not be started"):
        recognise(a_scan(), ReaderResources(tesseract=str(tmp_path / "missing")))


def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(OcrFailed, match="OCR timed out"):
        recognise(a_scan(), ReaderResources(tesseract=a_program(tmp_path, "kill -XCPU $$")))


def test_closing_kills_what_runs(tmp_path: Path) -> None:
    resources = ReaderResources(tesseract=a_program(tmp_path, "exec cat"))
    pool = OcrPool(resources, ReadingOptions())
    # Noise does not fit into the pipe, so the program cannot have ended.
    before = set(psutil.Process().children())
    pool.submit(Image.effect_noise((3000, 3000), 90), 200)
    started = set(psutil.Process().children()) - before
    pool.close()
    assert len(started) == 1
    assert not any(child.is_running() for child in started)


PROGRAM = """
import sys
from PIL import Image
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.ocr.pool import OcrPool
import psutil
pool = OcrPool(ReaderResources(tesseract=sys.argv[1]), ReadingOptions())
pool.submit(Image.new("L", (100, 100)), 200)
sys.stdout.write(f"{psutil.Process().children()[0].pid}\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def test_no_process_outlives_us_even_if_we_are_killed(tmp_path: Path) -> None:
    engine = a_program(tmp_path, "exec sleep 600")
    command = [sys.executable, "-c", PROGRAM, engine]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        os.kill(parent.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs([child], timeout=30)
    for survivor in alive:
        survivor.kill()
    assert alive == []


def test_photos_do_not_stop_the_pool() -> None:
    assert len(recognise(a_photo().resize((800, 600))).words) < 20
