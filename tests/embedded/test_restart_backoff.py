from muniment.embedded.supervisor import RestartBackoff


def test_delay_doubles_up_to_ten_seconds() -> None:
    backoff = RestartBackoff()
    assert [backoff.next_delay(lived_seconds=1) for _ in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]


def test_delay_is_short_again_after_a_long_life() -> None:
    backoff = RestartBackoff()
    assert [backoff.next_delay(lived_seconds=seconds) for seconds in (1, 1, 1, 30, 1)] == [0.5, 1, 2, 0.5, 1]
