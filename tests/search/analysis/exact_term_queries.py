"""Queries for what is written exactly: each with its language, a text that it finds, and one that it does not."""

from typing import NamedTuple


class ExactQuery(NamedTuple):
    language: str
    query: str
    found: str
    not_found: str


EXACT_QUERIES = [
    # Invoice numbers and other codes
    ExactQuery("english", "INV-2024-118", "Please pay invoice INV-2024-118 by Friday.", "Invoice INV-2024-119"),
    ExactQuery("english", "inv-2024-118", "Please pay invoice (INV-2024-118) by Monday.", "INV-2023-118"),
    ExactQuery("english", "INV2024118", "Our reference INV/2024/118", "Our reference INV/2024/181"),
    ExactQuery("english", "INV-2024-118", "Reference INV 2024-118", "Reference INV 2025-118"),
    ExactQuery("german", "2024-118", "Rechnung Nr. RE-2024-118 vom Mai", "Rechnung Nr. RE-2024-811 vom Mai"),
    ExactQuery("german", "2024/118", "Rechnung Nr. 2024-118", "Rechnung Nr. 2024-1180"),
    ExactQuery("german", "2024118", "Rechnungsnummer: 2024-118", "Rechnungsnummer: 2024-117"),
    ExactQuery("german", "RE20240815", "Rechnung RE-2024-0815", "Rechnung RE-2024-0816"),
    ExactQuery("german", "RE 2024-0815", "Betreff: RE-2024-0815", "Betreff: AN-2024-0815"),
    ExactQuery("norwegian", "F-10045", "Faktura F-10045 forfaller", "Faktura F-10054 forfaller"),
    ExactQuery("norwegian", "10045", "Faktura F-10045 forfaller", "Faktura F-100 45B"),
    ExactQuery("serbian", "12-3456/2025", "Rešenje broj 12-3456/2025 od danas", "Rešenje broj 12-3465/2025"),
    ExactQuery("serbian", "3456", "Rešenje broj 12-3456/2025", "Rešenje broj 12-34567/2025"),
    # Part numbers
    ExactQuery("english", "AX-4711-B", "Replace valve AX-4711-B now", "Replace valve AX-4711-C and pump B"),
    ExactQuery("english", "AX4711B", "Replace the valve AX-4711-B now", "AX-4712-B"),
    ExactQuery("english", "AX/4711/B", "Valve “AX.4711.B”", "Valve AX.4711.D"),
    ExactQuery("english", "ax 4711 b", "Spare part AX-4711-B.", "Spare part AX-4712-B."),
    ExactQuery("english", "4711", "Spare part AX-4711-B.", "Spare part AX-47110-B."),
    ExactQuery("english", "AX-4711", "Spare part AX-4711-B.", "Spare parts AX-4712-B and BX-4711-B"),
    ExactQuery("english", "4711", "Spare part AX4711B", "Spare part AX4712B"),
    ExactQuery("english", "AX_4711_B", "Spare part AX-4711-B", "Spare part AX-4711-A"),
    ExactQuery("german", "M8x40", "Schraube M8x40 verzinkt", "Schraube M8x50 verzinkt"),
    ExactQuery("german", "6ES7-315", "Baugruppe 6ES7-315/2EH", "Baugruppe 6ES7-316/2EH"),
    ExactQuery("english", "ISO-9001", "certified under ISO 9001:2015", "certified under ISO 9002:2015"),
    ExactQuery("english", "v2.10.3", "Upgrade to v2.10.3 soon", "Upgrade to v2.1.3 soon"),
    ExactQuery("german", "§12", "gemäß § 12 des Vertrags", "gemäß § 21 des Vertrags"),
    ExactQuery("german", "Nr. 5", "siehe Nr.5 der Anlage", "siehe Nr.55 der Anlage"),
    # Bank accounts, telephone and register numbers
    ExactQuery("german", "DE89370400440532013000", "IBAN: DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 01"),
    ExactQuery("german", "DE89 3704 0044 0532 0130 00", "IBAN DE89370400440532013000.", "IBAN DE88370400440532013000"),
    ExactQuery("german", "de89 3704 0044 0532 0130 00", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "DE89"),
    ExactQuery("norwegian", "NO9386011117947", "Konto NO93 8601 1117 947", "Konto NO93 8601 1117 948"),
    ExactQuery("serbian", "RS35 2600 0560 1001 6113 79", "RS35260005601001611379", "RS35260005601001611380"),
    ExactQuery("english", "GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819", "GB29NWBK60161331926820"),
    ExactQuery("norwegian", "987654321", "Org.nr. 987 654 321 MVA", "Org.nr. 987 654 312 MVA"),
    ExactQuery("english", "4111 1111 1111 1111", "card 4111111111111111", "card 4111111111111112"),
    ExactQuery("german", "+49 170 1234567", "Telefon +491701234567", "Telefon +491701234568"),
    # Dates
    ExactQuery("english", "2026-03-05", "signed on 5 March 2026 in Oslo", "signed on 6 March 2026, 2 of 5"),
    ExactQuery("english", "2026-03-05", "signed on March 5th, 2026", "signed on May 3rd, 2026"),
    ExactQuery("english", "5 March 2026", "Date: 2026-03-05", "Date: 2026-05-03"),
    ExactQuery("english", "March 5, 2026", "Date: 05.03.2026", "Date: 05.04.2026"),
    ExactQuery("english", "03/05/2026", "Date: 2026-03-05", "Date: 2026-03-06"),
    ExactQuery("english", "03/05/2026", "Date: 3 May 2026", "Date: 3 June 2026"),
    ExactQuery("german", "5.3.2026", "Oslo, den 5. März 2026", "Oslo, den 5. Mai 2026"),
    ExactQuery("german", "05.03.2026", "Oslo, 2026-03-05", "Oslo, 2026-03-15"),
    ExactQuery("german", "5. März 2026", "am 05.03.26 eingegangen", "am 05.04.26 eingegangen"),
    ExactQuery("german", "5. Maerz 2026", "am 5. März 2026 eingegangen", "am 4. März 2026 eingegangen"),
    ExactQuery("norwegian", "5. mars 2026", "Dato: 05.03.2026", "Dato: 05.02.2026"),
    ExactQuery("serbian", "5. mart 2026", "дана 5. марта 2026. године", "дана 5. маја 2026. године"),
    ExactQuery("serbian", "05.03.2026.", "Zagreb, 5. ožujka 2026.", "Zagreb, 5. travnja 2026."),
    # Amounts
    ExactQuery("german", "1.234,56", "Betrag: 1234,56 EUR", "Betrag: 1234,65 EUR"),
    ExactQuery("english", "1,234.56", "total 1.234,56 €", "total 1.234,50 €"),
    ExactQuery("english", "1234.56", "total €1,234.56", "total €12,345.60"),
    ExactQuery("norwegian", "1 234 567,89", "kr 1.234.567,89", "kr 1.234.567,98"),
    ExactQuery("german", "1234", "Betrag: 1.234,00 EUR", "Betrag: 12.340,00 EUR"),
    ExactQuery("english", "12500", "about 12,500 units", "about 1,250 units"),
    # Email addresses and URLs
    ExactQuery("english", "anna.berg@firma-nord.de", "<Anna.Berg@Firma-Nord.de>,", "anna.bergen@firma-nord.de"),
    ExactQuery("english", "berg", "Write to anna.berg@firma-nord.de", "Write to anna.bergen@firma-nord.de"),
    ExactQuery("english", "firma-nord.de", "Write to anna.berg@firma-nord.de", "Write to anna.berg@firma-sued.de"),
    ExactQuery("english", "https://www.example.com/terms", "see example: http://example.com/terms/", "http://example.com/price"),
    ExactQuery("english", "example.com", "see https://www.example.com/terms?v=2#top", "see https://www.example.org/terms"),
    # Words of letters: umlauts, compounds, hyphens, typography
    ExactQuery("german", "muller", "Herr Müller hat unterschrieben", "Herr Möller hat unterschrieben"),
    ExactQuery("german", "Mueller", "Herr Müller hat unterschrieben", "Herr Maler hat unterschrieben"),
    ExactQuery("german", "Müller", "Herr Mueller hat unterschrieben", "Herr Meller hat unterschrieben"),
    ExactQuery("english", "mueller", "Signed by Mr Müller", "Signed by Mr Miller"),
    ExactQuery("german", "strasse", "Lange Straße 5", "Lange Strähne"),
    ExactQuery("norwegian", "blaabaer", "Vi selger blåbær og jordbær", "Vi selger blåtøy"),
    ExactQuery("norwegian", "Sorensen", "Hilsen Kåre Sørensen", "Hilsen Kåre Sandsen"),
    ExactQuery("german", "Frist", "Die Kündigungsfrist beträgt drei Monate", "Die Kündigung erfolgt schriftlich"),
    ExactQuery("german", "Kündigung", "Die Kündigungsfrist beträgt drei Monate", "Die Widerrufsfrist beträgt 14 Tage"),
    ExactQuery("german", "Nummer", "Ihre Rechnungsnummer: siehe oben", "Ihre Rechnung: siehe oben"),
    ExactQuery("german", "Versicherung", "Krankenversicherungsbeiträge steigen", "Krankenkassen zahlen"),
    ExactQuery("german", "Rechnungsnummer", "Rechnungs-Nummer siehe oben", "Rechnungsbetrag siehe oben"),
    ExactQuery("norwegian", "frist", "Oppsigelsesfristen er tre måneder", "Oppsigelsen er skriftlig"),
    ExactQuery("norwegian", "avtale", "Leieavtalen gjelder fra mandag", "Leieforholdet gjelder fra mandag"),
    ExactQuery("english", "email", "Send an e-mail today", "Send a letter today"),
    ExactQuery("english", "agreement", "the \u201cAgreement\u201d\u2014as amended", "the disagreeable amendment"),
    ExactQuery("english", "confidential", "con\u00adfi\u00adden\u00adtial", "confident"),
    ExactQuery("english", "office", "the o\ufb03ce", "the orifice"),
    ExactQuery("french", "eau", "l\u2019eau potable", "le beau port"),
    ExactQuery("english", "termination", "upon termi-\nnation of", "upon the term of"),
]  # fmt: skip
