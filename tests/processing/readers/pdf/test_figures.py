from collections.abc import Sequence
from io import BytesIO

import pytest
from PIL import Image
from pypdfium2 import PdfDocument
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.readers.contract import Box, Figure, FigureKind, ReadingOptions
from muniment.processing.readers.pdf.figures.clustering import cluster_boxes
from muniment.processing.readers.pdf.figures.detection import find_figures
from muniment.processing.readers.pdf.geometry import page_geometry
from tests.processing.readers.image_files import a_pdf, a_photo, for_canvas


def figures_of(pdf: BytesIO, paragraphs: Sequence[tuple[str, Box]] = ()) -> tuple[Figure, ...]:
    page = PdfDocument(pdf)[0]
    return find_figures(page, page_geometry(page).to_page, paragraphs, ReadingOptions())


def draw_photo(canvas: Canvas, x: float = 100, y: float = 300) -> None:
    canvas.drawImage(for_canvas(a_photo()), x, y, 200, 150)


def draw_bars(canvas: Canvas) -> None:
    canvas.line(100, 300, 100, 500)
    canvas.line(100, 300, 400, 300)
    for index in range(6):
        canvas.rect(120 + index * 45, 300, 30, 40 + index * 25, fill=1)


def draw_framed_bars(canvas: Canvas) -> None:
    draw_bars(canvas)
    canvas.rect(90, 290, 320, 220)


def draw_boxes_with_connections(canvas: Canvas) -> None:
    for x, y in ((100, 600), (250, 600), (175, 500)):
        canvas.rect(x, y, 80, 40)
    canvas.line(180, 620, 250, 620)
    canvas.line(215, 540, 215, 620)


def draw_curve(canvas: Canvas) -> None:
    canvas.bezier(100, 300, 150, 500, 250, 200, 300, 400)


def draw_ruled_table(canvas: Canvas) -> None:
    for row in range(6):
        canvas.line(50, 700 - row * 20, 450, 700 - row * 20)
    for column in range(5):
        canvas.line(50 + column * 100, 700, 50 + column * 100, 600)


def draw_table_of_cells(canvas: Canvas) -> None:
    for row in range(5):
        for column in range(4):
            canvas.rect(50 + column * 100, 600 + row * 20, 100, 20)


def draw_striped_table(canvas: Canvas) -> None:
    canvas.setFillGray(0.9)
    for row in range(0, 6, 2):
        canvas.rect(50, 600 - row * 15, 400, 15, fill=1, stroke=0)


def draw_table_without_columns(canvas: Canvas) -> None:
    for row in range(8):
        canvas.line(50, 700 - row * 11, 450, 700 - row * 11)


def draw_text_frame(canvas: Canvas) -> None:
    canvas.rect(100, 300, 300, 200)


def draw_page_frame_and_rules(canvas: Canvas) -> None:
    canvas.rect(20, 20, 555, 802)
    canvas.line(50, 800, 545, 800)


def draw_background(canvas: Canvas) -> None:
    canvas.setFillGray(0.8)
    canvas.rect(0, 0, 595, 842, fill=1)


def draw_scan(canvas: Canvas) -> None:
    canvas.drawImage(for_canvas(a_photo()), 0, 0, 595, 842)


def draw_scan_in_strips(canvas: Canvas) -> None:
    for row in range(8):
        strip = a_photo((300, 320)).crop((0, row * 40, 300, row * 40 + 40))
        canvas.drawImage(for_canvas(strip), 0, 842 - (row + 1) * 105.25, 595, 105.25)


def draw_ornament(canvas: Canvas) -> None:
    canvas.circle(300, 300, 10, fill=1)
    canvas.drawImage(for_canvas(a_photo()), 100, 100, 20, 200)


def draw_white_shapes(canvas: Canvas) -> None:
    canvas.setFillGray(1)
    canvas.circle(300, 300, 100, fill=1, stroke=0)


@pytest.mark.parametrize("draw", [draw_bars, draw_framed_bars, draw_boxes_with_connections, draw_curve])
def test_a_diagram_is_one_drawing(draw: object) -> None:
    assert callable(draw)
    (figure,) = figures_of(a_pdf(draw))
    assert figure.kind is FigureKind.DRAWING


@pytest.mark.parametrize(
    "draw",
    [
        draw_ruled_table, draw_table_of_cells, draw_striped_table, draw_table_without_columns, draw_text_frame,
        draw_page_frame_and_rules, draw_background, draw_ornament, draw_white_shapes,
    ],
)  # fmt: skip
def test_tables_frames_backgrounds_and_ornaments_are_no_figures(draw: object) -> None:
    assert callable(draw)
    assert figures_of(a_pdf(draw)) == ()


@pytest.mark.parametrize("draw", [draw_scan, draw_scan_in_strips])
def test_a_picture_of_the_whole_page_is_one_figure_as_long_as_nobody_found_words_on_it(draw: object) -> None:
    assert callable(draw)
    assert [figure.kind for figure in figures_of(a_pdf(draw))] == [FigureKind.PICTURE]


def test_a_picture_has_its_own_pixels_and_stands_where_it_is_shown() -> None:
    (figure,) = figures_of(a_pdf(draw_photo))
    assert figure.kind is FigureKind.PICTURE
    assert (figure.width_px, figure.height_px) == (400, 300)
    assert figure.box == pytest.approx((100, 392, 300, 542), abs=0.1)


def test_a_picture_that_is_shown_in_part_has_the_box_of_that_part() -> None:
    def draw(canvas: Canvas) -> None:
        window = canvas.beginPath()
        window.rect(120, 320, 60, 60)
        canvas.clipPath(window, stroke=0, fill=0)
        draw_photo(canvas)

    (figure,) = figures_of(a_pdf(draw))
    assert figure.box == pytest.approx((120, 462, 180, 522), abs=0.1)


def test_a_drawing_has_the_pixels_of_its_box_at_150_dpi() -> None:
    (figure,) = figures_of(a_pdf(draw_bars))
    assert figure.box == pytest.approx((99, 341, 401, 543), abs=1)
    assert (figure.width_px, figure.height_px) == (629, 421)


def test_a_drawing_inside_a_form_object_is_found_where_it_is_shown() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.beginForm("bars")
        draw_bars(canvas)
        canvas.endForm()
        canvas.translate(50, 100)
        canvas.scale(0.5, 0.5)
        canvas.doForm("bars")

    (figure,) = figures_of(a_pdf(draw))
    assert figure.box == pytest.approx((99.5, 491.5, 250.5, 592.5), abs=1)


def test_on_a_rotated_page_the_box_is_turned_with_it() -> None:
    (figure,) = figures_of(a_pdf(draw_photo, rotation=90))
    assert figure.box == pytest.approx((300, 100, 450, 300), abs=0.1)


def test_the_same_drawing_elsewhere_has_the_same_digest_and_another_one_has_not() -> None:
    def draw_elsewhere(canvas: Canvas) -> None:
        canvas.translate(50, 70)
        draw_bars(canvas)

    def draw_in_red(canvas: Canvas) -> None:
        canvas.setFillColorRGB(1, 0, 0)
        draw_bars(canvas)

    here, there, red = (figures_of(a_pdf(each))[0] for each in (draw_bars, draw_elsewhere, draw_in_red))
    assert here.box != there.box
    assert here.sha256 == there.sha256 != red.sha256


def test_the_same_picture_elsewhere_has_the_same_digest_and_another_one_has_not() -> None:
    def draw_two(canvas: Canvas) -> None:
        draw_photo(canvas, 100, 600)
        canvas.drawImage(for_canvas(a_photo().transpose(Image.Transpose.ROTATE_180)), 100, 300, 200, 150)

    first, second = figures_of(a_pdf(draw_two))
    (alone,) = figures_of(a_pdf(draw_photo))
    assert first.sha256 == alone.sha256 != second.sha256


def test_a_picture_inside_a_table_is_a_figure_and_the_table_is_not() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.grid([50, 100, 200, 300], [500, 520, 540, 600])
        canvas.drawImage(for_canvas(a_photo()), 105, 542, 90, 56)

    (figure,) = figures_of(a_pdf(draw))
    assert figure.box == pytest.approx((105, 244, 195, 300), abs=0.1)


def test_a_rounded_box_around_text_is_no_figure_but_without_text_it_is() -> None:
    pdf = a_pdf(lambda canvas: canvas.roundRect(100, 300, 300, 200, 10))
    assert figures_of(pdf, [("much text", (110.0, 352.0, 390.0, 532.0))]) == ()
    assert len(figures_of(pdf)) == 1


def test_figures_come_from_top_to_bottom_then_from_left_to_right() -> None:
    def draw(canvas: Canvas) -> None:
        for x, y in ((330, 200), (60, 200), (200, 500)):
            draw_photo(canvas, x, y)

    boxes = [figure.box for figure in figures_of(a_pdf(draw))]
    assert [box and (box[0], box[1]) for box in boxes] == [(200, 192), (60, 492), (330, 492)]


def test_shapes_close_together_are_one_figure_and_those_apart_are_two() -> None:
    def draw(canvas: Canvas) -> None:
        for x in (100, 170, 300):
            canvas.circle(x, 300, 30)

    assert len(figures_of(a_pdf(draw))) == 2


PHOTO = (100.0, 392.0, 300.0, 542.0)
BELOW = (100.0, 550.0, 300.0, 562.0)
ABOVE = (100.0, 375.0, 300.0, 387.0)


@pytest.mark.parametrize(
    ("paragraphs", "caption"),
    [
        ([("Figure 1: Boats", BELOW)], "Figure 1: Boats"),
        ([("Abb. 2 Boote", ABOVE)], "Abb. 2 Boote"),
        ([("Fig. 3. Above", (100.0, 372.0, 300.0, 384.0)), ("Fig. 4. Below", BELOW)], "Fig. 4. Below"),
        ([("Boats lie there", BELOW)], None),
        ([("Figures show that", BELOW)], None),
        ([("Figure 5: beside", (310.0, 550.0, 500.0, 562.0))], None),
        ([("Figure 6: far away", (100.0, 600.0, 300.0, 612.0))], None),
    ],
)
def test_the_nearest_caption_below_or_above_belongs_to_the_figure(
    paragraphs: list[tuple[str, Box]], caption: str | None
) -> None:
    (figure,) = figures_of(a_pdf(draw_photo), paragraphs)
    assert figure.caption == caption


def test_equal_files_give_equal_figures() -> None:
    assert figures_of(a_pdf(draw_framed_bars)) == figures_of(a_pdf(draw_framed_bars))


def test_boxes_that_a_later_one_bridges_are_joined_with_what_lies_between() -> None:
    left, right = (0.0, 0.0, 50.0, 100.0), (200.0, 0.0, 250.0, 100.0)
    between, bridge = (100.0, 20.0, 140.0, 60.0), (45.0, 90.0, 205.0, 100.0)
    (joined,) = cluster_boxes([left, right, between, bridge], 12, 36)
    assert joined.box == (0.0, 0.0, 250.0, 100.0)
    assert joined.members == [0, 1, 2, 3]
