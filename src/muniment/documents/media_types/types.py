"""Supported media types."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MediaType:
    """A type of file that Muniment can read."""

    name: str
    """Name shown to users."""
    media_type: str
    extension: str
    """File extension with its dot."""


_OPEN_XML = "application/vnd.openxmlformats-officedocument"


PDF = MediaType("PDF", "application/pdf", ".pdf")


PNG = MediaType("PNG", "image/png", ".png")


JPEG = MediaType("JPEG", "image/jpeg", ".jpg")


TIFF = MediaType("TIFF", "image/tiff", ".tif")


WEBP = MediaType("WebP", "image/webp", ".webp")


GIF = MediaType("GIF", "image/gif", ".gif")


BMP = MediaType("BMP", "image/bmp", ".bmp")


DOCX = MediaType("DOCX", f"{_OPEN_XML}.wordprocessingml.document", ".docx")


PPTX = MediaType("PPTX", f"{_OPEN_XML}.presentationml.presentation", ".pptx")


XLSX = MediaType("XLSX", f"{_OPEN_XML}.spreadsheetml.sheet", ".xlsx")


ODT = MediaType("ODT", "application/vnd.oasis.opendocument.text", ".odt")


RTF = MediaType("RTF", "application/rtf", ".rtf")


HTML = MediaType("HTML", "text/html", ".html")


MARKDOWN = MediaType("Markdown", "text/markdown", ".md")


EML = MediaType("EML", "message/rfc822", ".eml")


TEXT = MediaType("Plain text", "text/plain", ".txt")


SUPPORTED = (PDF, DOCX, PPTX, XLSX, ODT, RTF, HTML, MARKDOWN, TEXT, EML, PNG, JPEG, TIFF, WEBP, GIF, BMP)


def has_page_images(media_type: str) -> bool:
    """Whether pages of this media type can be rendered as images."""
    return media_type == PDF.media_type or media_type.startswith("image/")
