"""The present text shared out among its authors."""

from hypothesis import given
from hypothesis import strategies as st

from refold.agentpedia.shares import TextOf, shares_of


def texts(*given: tuple[str, str]) -> list[TextOf]:
    """Give versions, the newest first, from (author, text)."""
    return [TextOf(author, text, text) for author, text in given]


def test_each_word_is_of_who_brought_it_in() -> None:
    versions = texts(("C", "one two three four"), ("B", "one two three"), ("A", "one two"))
    assert shares_of(versions, is_whole=True) == {"C": 4, "B": 5, "A": 6}


def test_a_revert_gives_the_words_back_to_who_wrote_them() -> None:
    versions = texts(("B", "one two"), ("V", "spam"), ("A", "one two"))
    assert shares_of(versions, is_whole=True) == {"A": 6}


def test_vandalism_in_between_does_not_take_words_away() -> None:
    versions = texts(
        ("C", "one two three"), ("B", "one two"), ("V", "spam"), ("B", "one two"), ("A", "one")
    )
    assert shares_of(versions, is_whole=True) == {"C": 5, "B": 3, "A": 3}


def test_what_is_older_than_was_looked_at_is_nobodys() -> None:
    versions = texts(("B", "one two three"), ("A", "one two"))
    assert shares_of(versions, is_whole=False) == {"B": 5, None: 6}


def test_without_versions_there_is_nothing() -> None:
    assert shares_of([], is_whole=True) == {}
    assert shares_of(texts(("A", "   ")), is_whole=True) == {}


HISTORIES = st.lists(
    st.tuples(st.sampled_from("ABC"), st.text(alphabet="xyz ", max_size=30)), min_size=1, max_size=8
)


@given(history=HISTORIES, is_whole=st.booleans())
def test_shares_add_up_to_the_text(history: list[tuple[str, str]], is_whole: bool) -> None:
    shares = shares_of(texts(*history), is_whole=is_whole)
    letters = sum(not char.isspace() for char in history[0][1])
    assert sum(shares.values()) == letters
    assert all(size > 0 for size in shares.values())
    assert set(shares) <= {*(author for author, _ in history), *(() if is_whole else (None,))}
