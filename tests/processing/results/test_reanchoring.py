"""Annotations after a reread: they follow their text to the nearest match, and never two to the same place."""

from uuid import UUID

from muniment.processing.results.hydration import AnnotatedParagraph, ParagraphPosition, reanchor

ID = UUID(int=1)


def places(*at: tuple[int, int, str]) -> list[ParagraphPosition]:
    return [ParagraphPosition(page, index, sha, ID) for page, index, sha in at]


def where(
    notes: list[AnnotatedParagraph], there: list[ParagraphPosition]
) -> dict[tuple[int, int], tuple[int, int] | None]:
    return {
        item.paragraph.position: item.position.position if item.position else None for item in reanchor(notes, there)
    }


def test_a_note_stays_where_its_text_still_stands() -> None:
    assert where([AnnotatedParagraph(2, 3, "a")], places((2, 2, "a"), (2, 3, "a"), (2, 4, "a"))) == {(2, 3): (2, 3)}


def test_a_note_follows_its_text_to_the_nearest_place() -> None:
    assert where([AnnotatedParagraph(5, 0, "a")], places((1, 0, "a"), (4, 9, "a"), (9, 0, "a"))) == {(5, 0): (4, 9)}


def test_a_note_whose_text_is_gone_has_no_place() -> None:
    assert where([AnnotatedParagraph(1, 0, "a")], places((1, 0, "b"))) == {(1, 0): None}


def test_two_notes_of_one_text_take_two_places_and_the_third_none() -> None:
    notes = [AnnotatedParagraph(1, 0, "a"), AnnotatedParagraph(1, 1, "a"), AnnotatedParagraph(1, 2, "a")]
    assert where(notes, places((1, 1, "a"), (7, 0, "a"))) == {(1, 0): (7, 0), (1, 1): (1, 1), (1, 2): None}


def test_thousands_of_equal_paragraphs_are_no_matter() -> None:
    there = places(*((page, index, "a") for page in range(300) for index in range(100)))
    notes = [AnnotatedParagraph(page, 5, "a") for page in range(300)]
    assert all(note == place for note, place in where(notes, there).items())
