"""Turn text into the terms of lexical search.

`analyze` makes the terms of an index, `analyze_query` those of a query. Both divide a text in the same way:

    segments.py     runs of characters, and values written with spaces (`DE89 3704 …`, `5 March 2026`)
    exact_terms.py  codes, numbers, amounts, email addresses and URLs: whole and in parts
    dates.py        dates in their usual spellings, as ISO 8601
    words.py        words: stop words, stems, spellings with and without diacritics
    compounds.py    the parts of German, Dutch and Scandinavian compounds
    data/           stop words and the vocabulary of compounds
"""
