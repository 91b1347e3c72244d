from io import BytesIO
from zipfile import ZipFile

import pytest
from PIL import Image
from pypdfium2 import PdfDocument
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.readers import contract
from muniment.processing.readers.contract import ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.pdf.rendering import render_gray
from muniment.processing.readers.rendering import render_figure, render_page
from tests.processing.readers.image_files import A4, a_file, a_pdf, a_photo

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
RED = (255, 0, 0)
WHITE = (255, 255, 255)


def draw_red_corner(canvas: Canvas) -> None:
    """Draw a red square in the upper left corner."""
    canvas.setFillColorRGB(1, 0, 0)
    canvas.rect(0, 742, 100, 100, fill=1, stroke=0)


def shown(picture: contract.RenderedImage) -> Image.Image:
    opened = Image.open(BytesIO(picture.png))
    assert opened.format == "PNG"
    assert opened.size == (picture.width_px, picture.height_px)
    return opened.convert("RGB")


def a_package(**parts: bytes) -> BytesIO:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"word/media/{name.replace('_', '.')}", content)
    return file


def test_a_page_is_drawn_on_white_as_wide_as_asked() -> None:
    page = shown(render_page(a_pdf(draw_red_corner), PDF, 1, 300, ReaderResources()))
    assert page.width == 300
    assert page.height == pytest.approx(300 * A4[1] / A4[0], abs=1)
    assert page.getpixel((10, 10)) == RED
    assert page.getpixel((200, 200)) == WHITE


def test_a_rotated_page_is_drawn_as_people_see_it() -> None:
    page = shown(render_page(a_pdf(draw_red_corner, rotation=90), PDF, 1, 400, ReaderResources()))
    assert page.width == 400
    assert page.height == pytest.approx(400 * A4[0] / A4[1], abs=1)
    assert page.getpixel((390, 10)) == RED


def test_what_is_filled_into_a_form_is_drawn() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.acroForm.textfield(name="city", value="MMMMMMMM", x=50, y=500, width=300, height=60, fontSize=40)

    page = shown(render_page(a_pdf(draw), PDF, 1, 595, ReaderResources()))
    field = page.crop((60, 842 - 555, 340, 842 - 505)).convert("L")
    assert min(field.tobytes()) < 80


def test_a_page_with_too_many_pixels_is_drawn_smaller() -> None:
    page = render_page(a_pdf(draw_red_corner), PDF, 1, 5000, ReaderResources(max_pixels=100_000))
    assert 90_000 < page.width_px * page.height_px <= 100_000
    gray = render_gray(
        PdfDocument(a_pdf(draw_red_corner, (14_000, 14_000)))[0], 200, ReaderResources(max_pixels=1_000_000)
    )
    assert gray.mode == "L"
    assert 900_000 < gray.width * gray.height <= 1_000_000


def test_a_page_that_is_not_there_cannot_be_drawn() -> None:
    for number in (0, 2):
        with pytest.raises(Unreadable, match=f"no page {number}"):
            render_page(a_pdf(draw_red_corner), PDF, number, 300, ReaderResources())


def test_a_figure_of_a_pdf_is_cut_out_of_its_page() -> None:
    pdf = a_pdf(draw_red_corner)
    figure = shown(render_figure(pdf, PDF, 1, (0.0, 0.0, 99.0, 99.0), None, ReaderResources()))
    assert figure.width == pytest.approx(99 * 200 / 72, abs=2)
    assert figure.getextrema() == ((255, 255), (0, 0), (0, 0))
    beside = shown(render_figure(pdf, PDF, 1, (102.0, 0.0, 200.0, 99.0), None, ReaderResources()))
    assert beside.getextrema() == ((255, 255),) * 3


def test_a_figure_of_a_rotated_page_is_cut_out_where_it_is_shown() -> None:
    pdf = a_pdf(draw_red_corner, rotation=90)
    figure = shown(render_figure(pdf, PDF, 1, (744.0, 1.0, 841.0, 98.0), None, ReaderResources()))
    assert figure.getextrema() == ((255, 255), (0, 0), (0, 0))


@pytest.mark.parametrize("box", [(-50.0, -50.0, 9999.0, 9999.0), (900.0, 900.0, 950.0, 950.0), (5.0, 5.0, 5.0, 5.0)])
def test_a_box_beyond_the_page_gives_a_picture_all_the_same(box: contract.Box) -> None:
    assert shown(render_figure(a_pdf(draw_red_corner), PDF, 1, box, None, ReaderResources())).width > 0
    assert shown(render_figure(a_file(a_photo()), "image/png", 1, box, None, ReaderResources())).width > 0


def test_a_picture_file_is_its_own_page_and_never_made_larger() -> None:
    assert shown(render_page(a_file(a_photo()), "image/png", 1, 200, ReaderResources())).size == (200, 150)
    assert shown(render_page(a_file(a_photo()), "image/png", 1, 9999, ReaderResources())).size == (400, 300)


def test_a_frame_of_a_tiff_is_a_page() -> None:
    frames = [Image.new("RGB", (50, 50), colour) for colour in ("white", "red")]
    file = a_file(frames[0], "TIFF", save_all=True, append_images=frames[1:])
    assert shown(render_page(file, "image/tiff", 2, 50, ReaderResources())).getpixel((5, 5)) == RED
    with pytest.raises(Unreadable, match="no page 3"):
        render_page(file, "image/tiff", 3, 50, ReaderResources())


def test_a_figure_of_a_picture_file_is_cut_out() -> None:
    picture = Image.new("RGB", (400, 400), WHITE)
    picture.paste(RED, (200, 200, 400, 400))
    # Without a resolution it is 300 points wide: 96 pixels per inch.
    cut = shown(render_figure(a_file(picture), "image/png", 1, (150.0, 150.0, 300.0, 300.0), None, ReaderResources()))
    assert cut.size == (200, 200)
    assert cut.getextrema() == ((255, 255), (0, 0), (0, 0))


def test_a_part_of_a_packed_file_is_shown_whatever_its_name_says() -> None:
    package = a_package(image1_png=a_file(a_photo(), "JPEG").getvalue(), image2_gif=a_file(a_photo(), "GIF").getvalue())
    for part in ("word/media/image1.png", "word/media/image2.gif"):
        assert shown(render_figure(package, DOCX, 1, None, part, ReaderResources())).size == (400, 300)


@pytest.mark.parametrize("name", ["chart.emf", "chart.wmf", "chart.svg", "chart"])
def test_drawings_of_other_programs_cannot_be_shown(name: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        render_figure(a_package(), DOCX, 1, None, f"word/media/{name}", ReaderResources())
    assert refusal.value.code is UnreadableCode.UNSUPPORTED


def test_a_part_that_is_missing_damaged_or_too_large_is_refused() -> None:
    package = a_package(bad_png=b"no picture", large_png=a_file(a_photo()).getvalue())
    for part, code in (
        ("none.png", UnreadableCode.CORRUPT),
        ("bad.png", UnreadableCode.CORRUPT),
        ("large.png", UnreadableCode.READER_MEMORY),
    ):
        with pytest.raises(Unreadable) as refusal:
            render_figure(package, DOCX, 1, None, f"word/media/{part}", ReaderResources(max_pixels=10_000))
        assert refusal.value.code is code


def test_kinds_without_pages_have_no_page_pictures() -> None:
    with pytest.raises(Unreadable, match="Page images are not available") as refusal:
        render_page(a_package(), DOCX, 1, 300, ReaderResources())
    assert refusal.value.code is UnreadableCode.UNSUPPORTED
    with pytest.raises(Unreadable, match="Figure images are not available"):
        render_figure(a_package(), DOCX, 1, None, None, ReaderResources())


def test_equal_pages_give_equal_bytes() -> None:
    first, second = (render_page(a_pdf(draw_red_corner), PDF, 1, 200, ReaderResources()) for _ in range(2))
    assert first == second
