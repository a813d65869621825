"""Text fits the width, and no word, number or character of it is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neurotron._text import card, either, shorten, table, wrap

WORDS = st.lists(st.text("abc%×", min_size=1, max_size=12), min_size=1, max_size=30)


@given(WORDS, st.integers(10, 60), st.sampled_from(["", "  "]), st.sampled_from(["", "    "]))
def test_lines_fit_and_no_word_is_lost_or_cut(words, width, indent, hang):
    text = indent + " ".join(words)
    wrapped = wrap(text, width, hang)
    assert wrapped.split() == words
    first, *others = wrapped.splitlines()
    assert first.startswith(indent)
    assert all(line.startswith(indent + hang) for line in others)
    for line in wrapped.splitlines():
        alone = len(line.replace(" %", "%").replace(" ×", "×").split()) == 1
        assert len(line) <= width or alone or len(words) <= 2


def test_no_line_begins_with_the_unit_of_the_number_before():
    assert wrap("the share of 95 % is exceeded", 15) == "the share of\n95 % is\nexceeded"


def test_a_path_is_left_whole_and_stays_beside_its_label():
    path = "/a/very/long/path/that/users-copy"
    assert wrap(f"Written: {path}", 20) == f"Written: {path}"
    assert wrap(f"there is no folder {path} here", 20).splitlines() == [
        "there is no folder", path, "here"
    ]  # fmt: skip


def test_paragraphs_stay_apart_and_keep_their_indentation():
    assert wrap("  one two three\n\nfour", 10) == "  one two\n  three\n\nfour"


def test_columns_of_a_table_are_aligned():
    rows = [("a", "bb", "c"), ("ddd", "e", "")]
    assert table(rows) == "a    bb  c\nddd  e"
    assert table(rows, right=True) == "a    bb  c\nddd   e"


@given(st.text(max_size=30), st.integers(1, 20))
def test_a_shortened_text_fits_and_says_so(text, most):
    short = shorten(text, most)
    assert len(short) <= most
    assert short == text or (short[-1] == "…" and text.startswith(short[:-1]))


def test_a_choice_is_named_in_words():
    assert [either(some) for some in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a", "a or b", "a, b or c"
    ]  # fmt: skip


def test_a_card_escapes_every_text():
    shown = card("<1>", {"<2>": "<3>"}, columns=["<4>"], rows=[["<5>"]], note="<6>")
    assert all(f"&lt;{i}&gt;" in shown and f"<{i}>" not in shown for i in range(1, 7))
