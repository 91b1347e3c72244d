"""Files that harm a careless reader, built in memory."""

import io
import struct
import zipfile
import zlib
from copy import copy

import pikepdf
from PIL import Image

from muniment.documents.media_types import types
from muniment.documents.media_types.types import MediaType
from tests.processing.readers.office_files import R, W, a_docx, a_zip, w
from tests.processing.readers.pdf_files import page_of, pdf

SIDE = 20_000


# PDF


def truncated_pdf() -> bytes:
    file = pdf(*[page_of(f"page {number}") for number in range(20)])
    return file[: len(file) // 2]


def pdf_of_noise() -> bytes:
    noise = (zlib.crc32(struct.pack("<I", number)) for number in range(25_000))
    return b"%PDF-1.7\n" + struct.pack("<25000I", *noise) + b"\n%%EOF\n"


def large_page_pdf(side: float, words: str) -> bytes:
    """A page of this size in points, with words in its lower left corner."""
    document = pikepdf.new()
    document.add_blank_page(page_size=(100, 100))
    page = document.pages[0]
    page.MediaBox = pikepdf.Array([0, 0, side, side])
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.Contents = document.make_stream(f"BT /F1 12 Tf 72 72 Td ({words}) Tj ET".encode())
    return saved(document)


def large_letter_pdf(words: str) -> bytes:
    """A letter of 10,000 kilometers behind the words."""
    document = pikepdf.open(io.BytesIO(large_page_pdf(600, words)))
    document.pages[0].contents_add(b"BT /F1 30000000 Tf 0 0 Td (big) Tj ET", prepend=True)
    return saved(document)


def large_scan_pdf() -> bytes:
    """A page that consists of one image of 20,000 by 20,000 pixels."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(595, 842))
    picture = document.make_stream(
        zlib.compress(bytes(SIDE // 8 * SIDE), 1),
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Image,
        Width=SIDE,
        Height=SIDE,
        ColorSpace=pikepdf.Name.DeviceGray,
        BitsPerComponent=1,
        Filter=pikepdf.Name.FlateDecode,
    )
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(I1=picture))
    page.Contents = document.make_stream(b"q 595 0 0 842 0 0 cm /I1 Do Q")
    return saved(document)


def drawing_bomb_pdf(levels: int) -> bytes:
    """Each form draws the next one ten times, and the first one also draws itself."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(595, 842))
    form = document.make_stream(b"0 0 10 10 re f", Subtype=pikepdf.Name.Form, BBox=[0, 0, 595, 842])
    for _ in range(levels):
        resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(X=form))
        form = document.make_stream(
            b"/X Do " * 10, Subtype=pikepdf.Name.Form, BBox=[0, 0, 595, 842], Resources=resources
        )
    form.Resources.XObject.Y = form
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(X=form))
    page.Contents = document.make_stream(b"/X Do")
    return saved(document)


def unpacking_bomb_pdf(unpacked_bytes: int) -> bytes:
    """The content of its only page is compressed ten thousand to one, several times."""
    data = zlib.compress(zlib.compress(b"0 0 m " * (unpacked_bytes // 6), 9), 9)
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(595, 842))
    page.Contents = document.make_stream(data, Filter=[pikepdf.Name.FlateDecode, pikepdf.Name.FlateDecode])
    return saved(document)


def pdf_with_circular_pages() -> bytes:
    document = pikepdf.new()
    document.add_blank_page()
    document.Root.Pages.Kids.append(document.Root.Pages)
    document.Root.Pages.Count = 2
    return saved(document)


def saved(document: pikepdf.Pdf) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer, deterministic_id=True, fix_metadata_version=False)
    return buffer.getvalue()


# Images


def large_png() -> bytes:
    return blank_png(SIDE, SIDE)


def blank_png(width: int, height: int) -> bytes:
    """One bit per pixel."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((width // 8 + 1) * height), 1)
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, (b"IHDR", b"IDAT", b"IEND"), (head, pixels, b"")))


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def large_jpeg() -> bytes:
    """All gray: each block of 8 × 8 pixels has six bits, for "unchanged" and "end of block"; four blocks are three
    bytes."""
    file = io.BytesIO()
    Image.new("L", (8, 8), 128).save(file, "JPEG")
    small = file.getvalue()
    frame = small.index(b"\xff\xc0") + 5
    scan = small.index(b"\xff\xda")
    scan_data = scan + 2 + int.from_bytes(small[scan + 2 : scan + 4], "big")
    size = struct.pack(">HH", SIDE, SIDE)
    blocks = b"\x28\xa2\x8a" * ((SIDE // 8) ** 2 // 4)
    return small[:frame] + size + small[frame + 4 : scan_data] + blocks + b"\xff\xd9"


def large_tiff() -> bytes:
    pixels = zlib.compress(bytes(SIDE // 8 * SIDE), 1)
    # width, height, bits, zlib compression, 0 is white, data offset, rows, data length
    tags = {256: SIDE, 257: SIDE, 258: 1, 259: 8, 262: 0, 273: 8, 278: SIDE, 279: len(pixels)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    directory = struct.pack("<H", len(tags)) + entries + bytes(4)
    return b"II*\0" + struct.pack("<I", 8 + len(pixels)) + pixels + directory


# Compressed files


def packing_bomb(kind: MediaType) -> bytes:
    """Declares and holds more than a gigabyte: the directory names the same compressed part a hundred times."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in xml_parts(kind).items():
            archive.writestr(name, content)
        archive.writestr("bomb", bytes(16 << 20))
        bomb = archive.filelist[-1]
        for number in range(100):
            again = copy(bomb)
            again.filename = f"bomb{number}"
            archive.filelist.append(again)
    return file.getvalue()


def memory_bomb_docx(unpacked_bytes: int) -> bytes:
    """Stays below the unpacking limit, but each of its bytes takes twenty in memory."""
    return a_docx("<w:p/>" * (unpacked_bytes // 6))


def docx_with_lying_picture(words: str) -> bytes:
    """Its image declares two thousand million pixels per side."""
    head = struct.pack(">IIBBBBB", 2_000_000_000, 2_000_000_000, 1, 0, 0, 0, 0)
    picture = b"\x89PNG\r\n\x1a\n" + _png_chunk(b"IHDR", head) + _png_chunk(b"IDAT", zlib.compress(bytes(99)))
    shown = "<w:p><w:r><w:pict><v:shape><v:imagedata r:id='p'/></v:shape></w:pict></w:r></w:p>"
    spaces = f"xmlns:w='{W}' xmlns:r='{R}' xmlns:v='urn:schemas-microsoft-com:vml'"
    relation = f"<Relationships><Relationship Id='p' Type='{R}/image' Target='p.png'/></Relationships>"
    return a_zip({
        "word/document.xml": f"<w:document {spaces}><w:body>{w(words)}{shown}</w:body></w:document>",
        "word/_rels/document.xml.rels": relation,
        "word/p.png": picture,
    })  # fmt: skip


def deep_docx(depth: int) -> bytes:
    return a_docx("<w:sdt><w:sdtContent>" * depth + w("deep") + "</w:sdtContent></w:sdt>" * depth)


def xlsx_of_strange_numbers() -> bytes:
    values = ("1e308", "-1e400", "NaN", "Infinity", "9" * 5000, "1e-320")
    cells = "".join(f"<c s='{style}'><v>{value}</v></c>" for style in range(3) for value in values)
    strings = f"<c t='s'><v>{'0' * 5000}</v></c><c t='s'><v>{'9' * 12}</v></c><c t='str'><v>The last cell</v></c>"
    formats = "<numFmts><numFmt numFmtId='200' formatCode='[h]:mm'/></numFmts>"
    styles = "<cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='200'/></cellXfs>"
    relations = "".join(
        f"<Relationship Id='{name}' Type='{R}/{name}' Target='{name}.xml'/>" for name in ("worksheet", "styles")
    )
    return a_zip({
        "xl/workbook.xml": f"<w xmlns:r='{R}'><sheets><sheet name='S' r:id='worksheet'/></sheets></w>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relations}</Relationships>",
        "xl/styles.xml": f"<styleSheet>{formats}{styles}</styleSheet>",
        "xl/worksheet.xml": f"<worksheet><sheetData><row>{cells}{strings}</row></sheetData></worksheet>",
    })  # fmt: skip


def laughing(kind: MediaType) -> bytes:
    """Billion laughs: ten entities, each of which expands the previous one ten times."""
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    return a_zip(xml_parts(kind, before=f'<!DOCTYPE x [<!ENTITY e0 "laugh">{entities}]>', inside="&e9;"))


def crowded_slide(paragraphs: int) -> bytes:
    return a_zip(xml_parts(types.PPTX, inside="x</t></r></p><p><r><t>" * paragraphs))


def reaching_out(kind: MediaType, address: str) -> bytes:
    """Makes the reader request a local file or a network address."""
    entity = f'<!DOCTYPE x SYSTEM "{address}" [<!ENTITY e SYSTEM "{address}"><!ENTITY % p SYSTEM "{address}"> %p;]>'
    return a_zip(xml_parts(kind, before=entity, inside="&e;"))


def reaching_out_html(address: str) -> bytes:
    return f"""<!DOCTYPE html SYSTEM "{address}" [<!ENTITY e SYSTEM "{address}">]><html><head>
        <link rel=stylesheet href="{address}"><script src="{address}"></script><base href="{address}">
        <meta http-equiv=refresh content="0; url={address}"></head><body><p>Here &e;</p><img src="{address}">
        <iframe src="{address}"></iframe><object data="{address}"></object></body></html>""".encode()


def xml_parts(kind: MediaType, *, before: str = "", inside: str = "Some words") -> dict[str, str]:
    """The smallest file of its type, with something before its main part and something in a text of it."""
    relation = '<Relationships><Relationship Id="s" Type="{}/{}" Target="s.xml"/></Relationships>'
    match kind:
        case types.DOCX:
            body = f"<w:document xmlns:w='{W}'><w:body>{w(inside)}</w:body></w:document>"
            return {"word/document.xml": before + body}
        case types.ODT:
            body = f"<o:body><o:text><t:p>{inside}</t:p></o:text></o:body>"
            root = f"<o:d xmlns:o='urn:office' xmlns:t='urn:text'>{body}</o:d>"
            return {"mimetype": kind.media_type, "content.xml": before + root}
        case types.PPTX:
            slides = f"<p xmlns:r='{R}'><sldIdLst><sldId r:id='s'/></sldIdLst></p>"
            shape = f"<sp><txBody><p><r><t>{inside}</t></r></p></txBody></sp>"
            return {
                "ppt/presentation.xml": slides,
                "ppt/_rels/presentation.xml.rels": relation.format(R, "slide"),
                "ppt/s.xml": f"{before}<sld><cSld><spTree>{shape}</spTree></cSld></sld>",
            }
        case types.XLSX:
            row = f"<row><c t='inlineStr'><is><t>{inside}</t></is></c></row>"
            return {
                "xl/workbook.xml": f"<workbook xmlns:r='{R}'><sheets><sheet name='S' r:id='s'/></sheets></workbook>",
                "xl/_rels/workbook.xml.rels": relation.format(R, "worksheet"),
                "xl/s.xml": f"{before}<worksheet><sheetData>{row}</sheetData></worksheet>",
            }
    raise AssertionError(kind)


# Text


def broken_mail() -> bytes:
    """Parts without an end, a boundary that never comes, bytes that no encoding has, and nested parts."""
    nest = b"".join(b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (n, n + 1) for n in range(300))
    return (
        b"From: =?utf-9?q?x?=\nTo: <<<>>,,;:\nSubject: \xff\xfe still here\nMIME-Version: 1.0\n"
        b"Content-Type: multipart/mixed; boundary=b0\n\n--b0\nContent-Type: text/plain; charset=nonsense\n"
        b"Content-Transfer-Encoding: base64\n\n!!!!\n--b0\n\nStill to be read\n" + nest
    )


def nested_html(depth: int) -> bytes:
    return b"<div><table><tr><td><b>" * depth + b"deep" + b"</div>" * depth + b"<p>the end"


def long_text(size_bytes: int) -> bytes:
    paragraph = b"The archive keeps every document that people have sent to it. " * 8 + b"\n\n"
    return paragraph * (size_bytes // len(paragraph)) + b"The last words.\n"
