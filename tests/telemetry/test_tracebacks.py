from psycopg.errors import UniqueViolation

from muniment.telemetry.redaction import redact_event, render_traceback


def rendered(error: Exception) -> str:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 whatever the test raised
        return render_traceback((type(caught), caught, caught.__traceback__))


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_what_led_to_an_error_comes_first() -> None:
    told = rendered(caused_by(RuntimeError("later"), ValueError("earlier")))

    assert told.index("builtins.ValueError: earlier") < told.index("which led to:") < told.index("RuntimeError: later")


def test_a_hidden_context_stays_hidden() -> None:
    error = RuntimeError("later")
    error.__context__ = ValueError("earlier")
    assert "earlier" in rendered(error)

    error.__suppress_context__ = True
    assert "earlier" not in rendered(error)


def test_errors_that_caused_each_other_end() -> None:
    first, second = ValueError("first"), ValueError("second")
    caused_by(first, second)
    caused_by(second, first)

    assert rendered(first).count("first") == 1


def test_every_error_of_a_group_is_told() -> None:
    told = rendered(ExceptionGroup("both", [ValueError("one"), KeyError("two")]))

    assert "  | builtins.ValueError: one" in told
    assert "  | builtins.KeyError: 'two'" in told


def test_a_value_with_line_breaks_is_cut_and_what_follows_its_message_is_kept() -> None:
    quoting = UniqueViolation(
        "duplicate key\nDETAIL:  Key (name)=(Dear Sir\n\nwhich led to:\n\nDear Sir) already exists."
    )

    told = redact_event(None, "error", {"exception": rendered(caused_by(RuntimeError("later"), quoting))})["exception"]

    assert "psycopg.errors.UniqueViolation: duplicate key\n(details left out)" in told
    assert told.endswith("builtins.RuntimeError: later")
    assert "Sir" not in told.split("in rendered")[0]
