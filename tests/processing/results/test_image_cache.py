from muniment.processing.results.images import ImageCache


def test_what_nobody_asked_for_longest_goes_first() -> None:
    cache = ImageCache(10)
    for key in "abc":
        cache.put(key, b"123")
    assert cache.find("a") == b"123"
    cache.put("d", b"123")
    assert [cache.find(key) for key in "abcd"] == [b"123", None, b"123", b"123"]


def test_it_is_full_by_bytes_and_not_by_number() -> None:
    cache = ImageCache(10)
    for key in "abcde":
        cache.put(key, b"12")
    cache.put("large", b"123456789")
    assert [cache.find(key) for key in "abcde"] == [None] * 5
    assert cache.find("large") == b"123456789"


def test_the_same_key_twice_is_counted_once() -> None:
    cache = ImageCache(10)
    for _ in range(5):
        cache.put("a", b"12345")
    cache.put("b", b"12345")
    assert (cache.find("a"), cache.find("b")) == (b"12345", b"12345")


def test_what_is_larger_than_the_cache_pushes_nothing_out() -> None:
    cache = ImageCache(10)
    cache.put("a", b"12345")
    cache.put("b", b"12345678901")
    assert (cache.find("a"), cache.find("b")) == (b"12345", None)
