import re
import unicodedata

from muniment.errors import Invalid

# Deliberately generous: `admin@localhost` is an address on one machine, and only the mail itself proves one.
SHAPE = re.compile(r"[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+")


class InvalidEmail(Invalid):
    """This is not an email address"""


def clean_email(raw: str) -> str:
    email = unicodedata.normalize("NFC", raw.strip())
    if len(email) > 254 or not SHAPE.fullmatch(email):
        raise InvalidEmail
    return email


def email_key(email: str) -> str:
    """By which an account is found: people do not remember which letters they wrote large."""
    return unicodedata.normalize("NFC", email.strip()).casefold()
