import subprocess
import sys

import pytest

from muniment.documents.media_types.types import SUPPORTED, MediaType
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.registry import reader_for

# As in the sandbox, where the files of the interpreter are inaccessible.
WITHOUT_IMPORTS = """
import sys
from tests.processing.readers import office_files as files, test_mail
from muniment.documents.media_types.detection import DOCX, EML, HTML, MARKDOWN, ODT, RTF, TEXT, XLSX
from tests.processing.readers.office.test_xlsx import a_sheet

class Refuse:
    def find_spec(self, name, path=None, target=None):
        raise RuntimeError(f"{name} was imported late")

picture = "<text:p><draw:frame><draw:image xlink:href='a.jpg'/></draw:frame></text:p>"
samples = [
    (files.a_docx(files.w("x")), DOCX), (a_sheet("<sheetData/>"), XLSX), (test_mail.MIXED, EML), (b"<p>x", HTML),
    (files.an_odt(picture, parts={"a.jpg": files.a_png()}), ODT),
    (b"{\\\\rtf1 \\\\'e4\\\\par}", RTF), (b"# x", MARKDOWN),
    ("\u042d\u0442\u043e \u0442\u0435\u043a\u0441\u0442".encode("koi8-r"), TEXT),
    (b"\\x83\\x65\\x83\\x4c\\x83\\x58", TEXT),
]
sys.meta_path.insert(0, Refuse())
for data, kind in samples:
    assert files.read(data, kind)
"""


@pytest.mark.parametrize("kind", SUPPORTED, ids=lambda kind: kind.name)
def test_every_known_type_has_a_reader(kind: MediaType) -> None:
    assert callable(reader_for(kind.media_type).open_file)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        reader_for("application/x-unknown")
    assert refused.value.code is UnreadableCode.UNSUPPORTED


def test_nothing_is_imported_once_reading_has_begun() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_IMPORTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
