from muniment.documents.media_types.types import HTML
from tests.processing.readers.office_files import paragraphs, read


def test_only_visible_text_is_read_in_its_blocks() -> None:
    source = """<html><head><title>Title</title><style>no</style></head><body><script>no</script><h2>Head</h2>
    <p>a <b>b</b><br>c &amp; &eacute;<p hidden>no</p><div style="display: none">no</div><template>no</template>
    <!-- no --><ul><li>one<ul><li>two</ul></ul><table><caption>Cap<tr><th>A<td>B<tr><td><p>1</p><td>2</table>
    <pre>  x\n\n y</pre><img alt="A tree"></body></html>"""
    (page,) = read(source.encode(), HTML)
    assert paragraphs(page) == [
        ("heading", "Title"),
        ("heading", "Head"),
        ("text", "a b\nc & é"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("caption", "Cap"),
        ("table", "A\tB\n1\t2"),
        ("text", "  x"),
        ("text", " y"),
        ("text", "A tree"),
    ]


def test_a_title_that_a_heading_repeats_is_not_read_twice() -> None:
    assert read(b"<title>News - Site</title><h1>News</h1>", HTML)[0].text == "News"


def test_a_table_that_arranges_the_page_is_no_table() -> None:
    (page,) = read(b"<table><tr><td><h1>x</h1><td><table><tr><td>1<td>2</table></table>", HTML)
    assert paragraphs(page) == [("heading", "x"), ("table", "1\t2")]


def test_the_declared_encoding_is_used_and_a_mark_is_stronger() -> None:
    source = "<meta charset=koi8-r><p>Привет"
    assert read(source.encode("koi8-r"), HTML)[0].text == "Привет"
    assert read(source.encode("utf-8-sig"), HTML)[0].text == "Привет"


def test_a_hundred_thousand_nested_elements_are_read() -> None:
    assert read(b"<div>" * 100_000 + b"deep" + b"</div>" * 100_000 + b"<p>end", HTML)[0].text == "deep\n\nend"
