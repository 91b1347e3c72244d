"""Queries in the languages of our first users, in other forms of the words than those of the text they find."""

from typing import NamedTuple


class LanguageQuery(NamedTuple):
    language: str
    query: str
    found: str
    not_found: str


_INVOICE = "Račun mora biti plaćen u roku od trideset dana."
_INVOICE_CYRILLIC = "Рачун мора бити плаћен у року од тридесет дана."
_CONTRACT = "Ugovor o zakupu poslovnog prostora važi dve godine."
_CONTRACT_CYRILLIC = "Уговор о закупу пословног простора важи две године."
_LEAVE = "Zaposleni ima pravo na godišnji odmor i plaćeno odsustvo."
_LEAVE_CYRILLIC = "Запослени има право на годишњи одмор и плаћено одсуство."
_CROATIAN_CONTRACT = "Zaposlenik može otkazati ugovor o radu uz otkazni rok od mjesec dana."
_CROATIAN_INVOICE = "Uz pošiljku vam šaljemo izvješće i ponudu za nabavu opreme."
_NORWEGIAN_LEASE = "Leietakeren må betale husleien innen den første i måneden."
_NORWEGIAN_INVOICE = "Fakturaene er betalt, men kvitteringen mangler."
_NORWEGIAN_CARE = "Sykepleieren skrev rapporter om pasientens medisiner på sykehuset."

LANGUAGE_QUERIES = [
    LanguageQuery("norwegian", "faktura", _NORWEGIAN_INVOICE, _NORWEGIAN_LEASE),
    LanguageQuery("norwegian", "fakturaer", _NORWEGIAN_INVOICE, _NORWEGIAN_CARE),
    LanguageQuery("norwegian", "kvitteringer", _NORWEGIAN_INVOICE, _NORWEGIAN_LEASE),
    LanguageQuery("norwegian", "leietakere", _NORWEGIAN_LEASE, _NORWEGIAN_CARE),
    LanguageQuery("norwegian", "leietaker husleie", _NORWEGIAN_LEASE, _NORWEGIAN_INVOICE),
    LanguageQuery("norwegian", "måneder", _NORWEGIAN_LEASE, _NORWEGIAN_CARE),
    LanguageQuery("norwegian", "maaned", _NORWEGIAN_LEASE, _NORWEGIAN_INVOICE),
    LanguageQuery("norwegian", "maneden", _NORWEGIAN_LEASE, _NORWEGIAN_INVOICE),
    LanguageQuery("norwegian", "rapport", _NORWEGIAN_CARE, _NORWEGIAN_LEASE),
    LanguageQuery("norwegian", "rapportene om pasienten", _NORWEGIAN_CARE, _NORWEGIAN_INVOICE),
    LanguageQuery("norwegian", "sykehus", _NORWEGIAN_CARE, _NORWEGIAN_LEASE),
    LanguageQuery("norwegian", "sykepleiere", _NORWEGIAN_CARE, _NORWEGIAN_INVOICE),
    LanguageQuery("norwegian", "hvor mange medisiner", "Mange medisiner mangler.", _NORWEGIAN_LEASE),
    LanguageQuery("norwegian", "Aase Bjoerk", "Underskrevet av Åse Bjørk", "Underskrevet av Ase Bork"),
    LanguageQuery("serbian", "računi", _INVOICE, _CONTRACT),
    LanguageQuery("serbian", "računa", _INVOICE_CYRILLIC, _CONTRACT_CYRILLIC),
    LanguageQuery("serbian", "racun", _INVOICE, _LEAVE),
    LanguageQuery("serbian", "racunima", _INVOICE_CYRILLIC, _LEAVE_CYRILLIC),
    LanguageQuery("serbian", "рачуне", _INVOICE, _CONTRACT),
    LanguageQuery("serbian", "рачунима", _INVOICE_CYRILLIC, _CONTRACT_CYRILLIC),
    LanguageQuery("serbian", "ugovora", _CONTRACT, _INVOICE),
    LanguageQuery("serbian", "ugovorima o zakupu", _CONTRACT_CYRILLIC, _LEAVE_CYRILLIC),
    LanguageQuery("serbian", "уговора", _CONTRACT, _LEAVE),
    LanguageQuery("serbian", "poslovni prostor", _CONTRACT, _LEAVE),
    LanguageQuery("serbian", "пословним простором", _CONTRACT, _INVOICE),
    LanguageQuery("serbian", "zaposlenih", _LEAVE, _CONTRACT),
    LanguageQuery("serbian", "запосленима", _LEAVE, _INVOICE),
    LanguageQuery("serbian", "godisnjeg odmora", _LEAVE, _CONTRACT),
    LanguageQuery("serbian", "godišnjem odmoru", _LEAVE_CYRILLIC, _INVOICE_CYRILLIC),
    LanguageQuery("serbian", "placenog odsustva", _LEAVE_CYRILLIC, _CONTRACT_CYRILLIC),
    LanguageQuery("serbian", "Djordjevic", "Potpisao Nenad Đorđević", "Potpisao Nenad Dragović"),
    LanguageQuery("serbian", "Đorđevića", "Потписао Ненад Ђорђевић", "Потписао Ненад Драговић"),
    LanguageQuery("serbian", "ljubav", "О љубави и другим стварима", "О људима и другим стварима"),
    LanguageQuery("serbian", "džepovi", "Jakna sa jednim džepom", "Jakna sa jednim dugmetom"),
    LanguageQuery("serbian", "dzepova", "Јакна са једним џепом", "Јакна са једним дугметом"),
    LanguageQuery("serbian", "mleka", "Hrvatsko mlijeko je svježe", "Hrvatsko meso je svježe"),
    LanguageQuery("serbian", "ugovori o radu", _CROATIAN_CONTRACT, _CROATIAN_INVOICE),
    LanguageQuery("serbian", "zaposlenika", _CROATIAN_CONTRACT, _CROATIAN_INVOICE),
    LanguageQuery("serbian", "otkaznog roka", _CROATIAN_CONTRACT, _CROATIAN_INVOICE),
    LanguageQuery("serbian", "mjeseci", _CROATIAN_CONTRACT, _CROATIAN_INVOICE),
    LanguageQuery("serbian", "mjesecima", _CROATIAN_CONTRACT, _CROATIAN_INVOICE),
    LanguageQuery("serbian", "izvješća", _CROATIAN_INVOICE, _CROATIAN_CONTRACT),
    LanguageQuery("serbian", "izvjesca", _CROATIAN_INVOICE, _CROATIAN_CONTRACT),
    LanguageQuery("serbian", "ponude", _CROATIAN_INVOICE, _CROATIAN_CONTRACT),
    LanguageQuery("serbian", "nabava opreme", _CROATIAN_INVOICE, _CROATIAN_CONTRACT),
    LanguageQuery("serbian", "posiljke", _CROATIAN_INVOICE, _CROATIAN_CONTRACT),
]
