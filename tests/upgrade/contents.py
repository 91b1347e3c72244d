"""Small files of every format, each about a different subject."""

import io
from email.message import EmailMessage

from PIL import Image, ImageDraw, ImageFont

from tests.processing.readers.office_files import a_docx, an_odt, w
from tests.processing.readers.pdf_files import page_of, pdf, picture


def lease() -> bytes:
    return pdf(
        page_of("Lease of the flat in Bergen", "The tenant pays the rent on the first day of each month."),
        page_of("Animals are allowed in the flat, with the exception of an armadillo."),
    )


def minutes() -> bytes:
    return a_docx(w("Annual meeting of the club") + w("Ingrid Halvorsen was elected treasurer and keeps the accounts."))


def insurance() -> bytes:
    return an_odt("<text:p>The policy covers damage that hail causes to the greenhouse.</text:p>")


def boiler() -> bytes:
    return b"The boiler was serviced in October. The mechanic replaced the thermostat.\n"


def journeys() -> bytes:
    return b"""<!doctype html><html lang="en"><head><title>Journeys</title></head><body><h1>Journeys</h1>
<p>The employer refunds railway tickets to Trondheim.</p></body></html>"""


def fire_drill() -> bytes:
    return b"# Fire drill\n\nEverybody leaves the building and gathers under the linden beside the gate.\n"


def parcel() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "shop@example.org", "office@example.org", "Your parcel"
    message["Date"] = "Mon, 16 Nov 2026 10:00:00 +0000"
    message.set_content("The microscope that you ordered will be delivered on Thursday.")
    return message.as_bytes()


def elevator() -> bytes:
    return rb"{\rtf1\ansi The elevator stands still until the inspector has approved its cables.\par}"


def scan() -> bytes:
    """An image of a page that requires OCR."""
    page = Image.new("L", (1100, 260), 255)
    font = ImageFont.load_default(36)
    ImageDraw.Draw(page).text((60, 80), "Vaccination certificate of the dog\nIssued by a veterinarian", 0, font)
    file = io.BytesIO()
    page.convert("1").save(file, "PNG", dpi=(200, 200))
    return file.getvalue()


def voyage() -> bytes:
    """A scan that takes long enough to be interrupted."""
    days = (f"Day {number} of the voyage" for number in range(2, 8))
    pages = ("An albatross follows the ship", *days, "Icebergs are in sight")
    return pdf(*(picture(words) for words in pages))


def broken() -> bytes:
    return b"%PDF-1.7\nThe rest of this file was lost.\n%%EOF\n"
