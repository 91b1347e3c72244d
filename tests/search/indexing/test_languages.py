"""The language of short business texts, by PostgreSQL's names."""

import psycopg
import pytest

from muniment.search.indexing.languages import _CONFIGURATIONS, SIMPLE, detect_text_search_config
from muniment.storage.db.address import DatabaseAddress

TEXTS = {
    "english": [
        "The invoice is payable within thirty days without deduction.",
        "Please find attached the signed contract and the delivery schedule.",
        "Either party may terminate this agreement with three months' notice.",
        "Minutes of the meeting: the board approved the budget for next year.",
        "Invoice no. 2024-118, total amount due: 1,250.00 EUR",
        "Your order has been shipped",
    ],
    "german": [
        "Die Rechnung ist innerhalb von dreißig Tagen ohne Abzug zahlbar.",
        "Anbei erhalten Sie den unterschriebenen Vertrag und den Lieferplan.",
        "Jede Partei kann diesen Vertrag mit einer Frist von drei Monaten kündigen.",
        "Protokoll der Sitzung: Der Vorstand hat das Budget für das kommende Jahr genehmigt.",
        "Rechnung Nr. 2024-118, Gesamtbetrag: 1.250,00 EUR",
        "Ihre Bestellung wurde versandt",
    ],
    "french": [
        "La facture est payable dans un délai de trente jours sans escompte.",
        "Veuillez trouver ci-joint le contrat signé et le calendrier de livraison.",
        "Chaque partie peut résilier le présent contrat moyennant un préavis de trois mois.",
        "Procès-verbal de la réunion : le conseil a approuvé le budget de l'année prochaine.",
        "Facture n° 2024-118, montant total : 1 250,00 EUR",
        "Votre commande a été expédiée",
    ],
    "spanish": [
        "La factura debe pagarse en un plazo de treinta días sin descuento.",
        "Adjunto encontrará el contrato firmado y el calendario de entregas.",
        "Cualquiera de las partes podrá rescindir este contrato con un preaviso de tres meses.",
        "Acta de la reunión: el consejo aprobó el presupuesto para el próximo año.",
        "Su pedido ha sido enviado",
    ],
    "italian": [
        "La fattura è pagabile entro trenta giorni senza sconto.",
        "In allegato trova il contratto firmato e il piano di consegna.",
        "Ciascuna parte può recedere dal presente contratto con un preavviso di tre mesi.",
        "Verbale della riunione: il consiglio ha approvato il bilancio per il prossimo anno.",
        "Fattura n. 2024-118, importo totale: 1.250,00 EUR",
        "Il suo ordine è stato spedito",
    ],
    "dutch": [
        "De factuur dient binnen dertig dagen zonder aftrek te worden betaald.",
        "Bijgaand vindt u het ondertekende contract en de leveringsplanning.",
        "Elke partij kan deze overeenkomst met een termijn van drie maanden opzeggen.",
        "Notulen van de vergadering: het bestuur heeft de begroting voor volgend jaar goedgekeurd.",
        "Factuurnummer 2024-118, totaal te betalen bedrag: 1.250,00 EUR",
        "Uw bestelling is verzonden",
    ],
    "swedish": [
        "Fakturan ska betalas inom trettio dagar utan avdrag.",
        "Bifogat finner ni det undertecknade avtalet och leveransplanen.",
        "Vardera parten kan säga upp detta avtal med tre månaders uppsägningstid.",
        "Protokoll från mötet: styrelsen godkände budgeten för nästa år.",
        "Faktura nr 2024-118, totalt belopp att betala: 1 250,00 EUR",
        "Din beställning har skickats",
    ],
    "norwegian": [
        "Fakturaen skal betales innen tretti dager uten fradrag.",
        "Vedlagt finner du den signerte kontrakten og leveringsplanen.",
        "Hver av partene kan si opp denne avtalen med tre måneders varsel.",
        "Referat fra møtet: styret godkjente budsjettet for neste år.",
        "Faktura nr. 2024-118, totalt beløp å betale: 1 250,00 EUR",
        "Bestillingen din er sendt",
    ],
    "danish": [
        "Fakturaen skal betales inden for tredive dage uden fradrag.",
        "Vedlagt finder du den underskrevne kontrakt og leveringsplanen.",
        "Hver af parterne kan opsige denne aftale med tre måneders varsel.",
        "Referat af mødet: bestyrelsen godkendte budgettet for næste år.",
        "Faktura nr. 2024-118, samlet beløb til betaling: 1.250,00 EUR",
        "Din bestilling er afsendt",
    ],
    "serbian": [
        "Račun mora biti plaćen u roku od trideset dana bez odbitka.",
        "Рачун се плаћа у року од тридесет дана без одбитка.",
        "Svaka ugovorna strana može otkazati ovaj ugovor s otkaznim rokom od tri mjeseca.",
        "Zapisnik sa sjednice: odbor je usvojio budžet za narednu godinu.",
        "Vasa porudzbina je poslata, hvala na poverenju",
    ],
    "finnish": [
        "Lasku on maksettava kolmenkymmenen päivän kuluessa ilman vähennyksiä.",
        "Liitteenä on allekirjoitettu sopimus ja toimitusaikataulu.",
        "Kumpikin osapuoli voi irtisanoa tämän sopimuksen kolmen kuukauden irtisanomisajalla.",
        "Kokouksen pöytäkirja: hallitus hyväksyi ensi vuoden talousarvion.",
        "Lasku nro 2024-118, maksettava yhteensä: 1 250,00 EUR",
        "Tilauksesi on lähetetty",
    ],
    "portuguese": [
        "A fatura deve ser paga no prazo de trinta dias sem desconto.",
        "Em anexo encontra o contrato assinado e o calendário de entregas.",
        "Qualquer das partes pode rescindir este contrato com um pré-aviso de três meses.",
        "Ata da reunião: o conselho aprovou o orçamento para o próximo ano.",
        "Fatura n.º 2024-118, montante total: 1.250,00 EUR",
        "A sua encomenda foi enviada",
    ],
}


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_a_sentence_of_a_letter_is_recognized(language: str, text: str) -> None:
    assert detect_text_search_config(text) == language


@pytest.mark.parametrize("language", TEXTS)
def test_a_page_in_capitals_is_recognized(language: str) -> None:
    assert detect_text_search_config("\n".join(TEXTS[language]).upper()) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "2024-118 1.250,00 EUR 19 %",
        "AX-4711-B / 3.14159 / 0x7F",
        "ISO 9001:2015",
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "合同自签署之日起生效",
        "契約は署名の日に発効する",
        "Umowa wchodzi w życie z dniem podpisania przez obie strony.",
        "Smlouva nabývá účinnosti dnem podpisu oběma stranami.",
    ],
)
def test_what_has_no_configuration_or_says_too_little_is_simple(text: str) -> None:
    assert detect_text_search_config(text) == "simple"


@pytest.mark.parametrize("text", ["", "RE-2024-118", "Nr. 5", "Faktura nr. 118"])
def test_what_says_too_little_has_the_language_of_its_surroundings(text: str) -> None:
    assert detect_text_search_config(text, fallback="norwegian") == "norwegian"


def test_a_longer_text_has_its_own_language() -> None:
    for language, texts in TEXTS.items():
        assert detect_text_search_config(" ".join(texts), fallback="irish") == language


def test_a_page_of_a_language_without_configuration_is_simple_whatever_surrounds_it() -> None:
    polish = "Umowa wchodzi w życie z dniem podpisania przez obie strony. Faktura jest płatna w ciągu trzydziestu dni."
    assert detect_text_search_config(polish, fallback="german") == "simple"


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    assert detect_text_search_config(" ".join(TEXTS["german"]) * 100 + " ".join(TEXTS["french"]) * 1000) == "german"


def test_every_answer_is_a_configuration_of_postgresql(address: DatabaseAddress) -> None:
    with psycopg.connect(address.conninfo) as connection:
        known = {name for (name,) in connection.execute("SELECT cfgname FROM pg_ts_config")}
    assert known >= {*_CONFIGURATIONS.values(), SIMPLE}
