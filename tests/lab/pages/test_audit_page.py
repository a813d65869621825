"""The page of an audit, as text and in a browser."""

from __future__ import annotations

import html
import math
import os
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.support.audits import ATTACKS, ceiling, damage, made, no_ceiling, remedy, single
from tests.support.browsers import DESKTOP, PHONE, brightness, complaints_of_axe
from tests.support.messages import says

import neurotron as nt
from neurotron._intervals import Interval
from neurotron.auditing.finding import Breaking
from neurotron.auditing.wording import ShownTable, sections
from neurotron.lab.pages.audit_page import build_audit, write_audit
from neurotron.lab.pages.frame import plotly

COMMAND = "neurotron audit data.csv --label 'my <b>price' --estimator ridge:alpha=1"


def read(text: str, section: str | None = None) -> str:
    """Return the words of a page or of one of its sections, without markup."""
    own = text.replace(plotly(), "")
    if section is not None:
        own = own[own.index(f'<section id="{section}"') :].partition("</section>")[0]
    own = re.sub(r"<(script|style)\b.*?</\1>", " ", own, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", own)).split())


@pytest.fixture(scope="module")
def text() -> str:
    return build_audit(made(), label="price", command=COMMAND)


def test_the_same_audit_makes_the_same_page(text):
    assert build_audit(made(), label="price", command=COMMAND) == text


def test_headline_and_verdict_come_first_and_sections_in_order(text):
    assert read(text).index(made().headline) < read(text).index("Verdict: exceeded")
    order = ["ceilings", "attacks", "breaking", "rows", "remedies", "method", "again"]
    assert re.findall(r'<section id="([a-z]+)"', text) == order
    assert text.index('id="ceilings"') < text.index('id="damage"') < text.index('id="attacks"')


def test_page_and_terminal_say_the_same(text):
    printed = " ".join(made().to_text(500).split())
    for section in sections(made()):
        shown = read(build_audit(made()), section.key)
        for part in section.parts:
            if isinstance(part, str):
                assert part in shown
                assert part in printed
            elif isinstance(part, ShownTable):
                assert all(" ".join(row) in shown for row in part.rows())
                assert all(row[0] in printed for row in part.rows())
            else:
                assert all(f"{name} {fact}" in shown for name, fact in part.known.items())


def test_every_link_has_a_target_and_every_place_one_name(text):
    own = text.replace(plotly(), "")
    places = re.findall(r'\sid="([^"]+)"', own)
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', own)) <= set(places)


def test_at_most_and_reached_stand_side_by_side(text):
    words = read(text, "ceilings")
    assert "rise of the error (RMSE) 19.52 (+36 %) 18.54" in words  # 0.36 · 54.2 = 19.512, up
    assert "shift of a single prediction 1.235 1.235" in words
    assert words.endswith("exact: an attack reaches them.")
    assert "in units of price" in words


def test_what_was_reached_is_never_printed_above_the_ceiling():
    """Digits are cut in a way that keeps the order."""
    for value in (1.23449, 1.2351, 0.1951, 0.99996, 123.456, 1e-7):
        equal = replace(ceiling(0.1), worst=single(value), reached_worst=single(value))
        words = read(build_audit(made(ceilings=(equal,))), "ceilings")
        most, reached = re.search(r"single prediction ([\d.e+-]+) ([\d.e+-]+)", words).groups()
        assert float(most) >= value
        assert float(most) >= float(reached)


def test_it_says_why_a_bar_may_reach_above_the_ceiling(text):
    assert "a mean over the same splits: a bar may reach above it" in read(text)
    assert "a bar may reach" not in read(build_audit(made(ceilings=(no_ceiling("so"),))))


def test_a_page_removes_what_a_killed_attempt_to_write_it_left(tmp_path):
    (tmp_path / ".my.html.7.tmp").write_text("half a pa")
    os.utime(tmp_path / ".my.html.7.tmp", (0, 0))
    write_audit(made(), tmp_path / "my.html")
    assert [*tmp_path.iterdir()] == [tmp_path / "my.html"]


def test_the_reason_stands_where_there_is_no_ceiling():
    reason = "its settings are tuned on the labels (RidgeCV)"
    words = read(build_audit(made(ceilings=(no_ceiling(reason),))), "ceilings")
    assert f"There is no ceiling, because {reason}." in words
    assert "A better attack may do more" in words


def test_a_reason_for_all_budgets_is_said_once_and_others_with_their_budgets():
    same = tuple(no_ceiling("it is a tree", share=share) for share in (0.05, 0.1))
    words = read(build_audit(made(ceilings=same)), "ceilings")
    assert words.count("There is no ceiling") == 1
    assert "5 %" not in words
    words = read(build_audit(made(ceilings=(*same, ceiling(0.3, share=0.2)))), "ceilings")
    assert "5 % by 1, 10 % by 1: There is no ceiling, because it is a tree." in words
    assert "20 % by 1: The ceilings hold" in words


def test_every_attack_is_in_the_table_with_its_interval_the_worst_first(text):
    words = read(text, "attacks")
    assert "worst-error 33 +34 % (+29 % to +39 %) +18.4 (+15.7 to +21.2) 1.02 0.204 0.34" in words
    assert "adaptive 33 −0.4 %" in words
    rows = re.findall(r'<tr><th scope="row">([\w-]+)</th>', text[text.index('id="attacks"') :])
    assert rows[0] == "strongest"
    assert rows[1 : 1 + len(ATTACKS)] == sorted(ATTACKS, key=lambda name: -ATTACKS[name])
    assert "33 of 332 labels (10 %), each by at most 1" in words


def test_what_the_attacks_do_is_said_if_they_are_of_the_package(text):
    words = read(text, "attacks")
    assert "worst-mean moves the mean prediction as far as any attack can" in words
    assert f"sign-flip {nt.attacks.BY_NAME.summary('sign-flip')}" in words
    mine = build_audit(made(damages=(damage("my-attack", 0.1),)))
    assert "as an attacker would choose" in read(mine)
    assert "my-attack" not in read(mine).partition("What these attacks do")[2].partition("The ")[0]


def test_several_budgets_are_named_in_every_row():
    two = (*made().damages, damage("constant", 0.5, share=0.2))
    text = build_audit(made(damages=two, ceilings=(ceiling(0.3), ceiling(0.6, share=0.2))))
    assert re.search(r"constant 66 \+50 % .* 20 % by 1", read(text, "attacks"))
    assert "10 % by 1 rise of the error" in read(text, "ceilings")


def test_the_smallest_budget_is_said_with_its_share_and_with_what_is_proved(text):
    assert says(read(text, "breaking"), "7 of 332", "2.1 %", "6", "5", "10 %")
    nothing = made(breaking=(Breaking(1.0, 332, None, "", 100, None),))
    assert says(read(build_audit(nothing), "breaking"), "No number of labels", "100 of 332")


def test_rows_are_counted_as_in_the_users_file_if_it_is_known(text):
    assert "counted from 0. row change" in read(text, "rows")
    assert " 30 0.9 5 " in read(text, "rows")
    numbers = [1000 + i for i in range(442)]
    words = read(build_audit(made(), rows=numbers), "rows")
    assert "counted from 1." in words
    assert " 1030 0.9 5 " in words


def test_remedies_show_their_price_and_which_is_recommended(text):
    words = read(text, "remedies")
    assert "Recommended: neurotron." in words
    assert "neurotron +6.1 % (+5.2 % to +7 %)* 57.5 – +1.1 % one-sided +5 %" in words
    assert "Holds the tolerance: neurotron; misses the tolerance: huber" in words
    assert "holds the tolerance, but fits worse than least squares: theil-sen" in words
    assert re.search(r"ridge:alpha=100 \+18 % .* \+19 % .* one-sided \+16 %", words)
    none = read(build_audit(made(remedies=(remedy("forest", 0.04, 0.4),))), "remedies")
    assert "None is recommended: none makes" in none


def test_a_ceiling_below_the_error_of_the_audited_estimator_has_one_sign():
    words = read(build_audit(made(remedies=(remedy("ridge", -0.3, 0.1, -0.1365),))), "remedies")
    assert " −13.65 % " in words


def test_remedies_are_compared_with_the_audited_estimator_at_the_same_budget():
    """The largest one, in whatever order they were given."""
    two = (*made().damages, damage("constant", 0.07, share=0.05))
    both = made(damages=two, ceilings=(ceiling(0.36), ceiling(0.08, share=0.05)))
    words = read(build_audit(both), "remedies")
    assert "For ridge:alpha=1 itself, 10 % of the labels (33 of 332)" in words
    assert "raise it by +34 % (" in words


def test_parts_that_were_not_asked_for_are_left_out():
    bare = made(tolerance=None, breaking=(), remedies=(), influential=())
    text = build_audit(bare)
    order = ["ceilings", "attacks", "method", "again"]
    assert re.findall(r'<section id="([a-z]+)"', text) == order
    assert "no tolerance was given" in read(text)
    own = text.replace(plotly(), "")
    assert set(re.findall(r'href="#([^"]+)"', own)) <= set(re.findall(r'\sid="([^"]+)"', own))


def test_one_split_has_no_intervals_and_a_failed_fit_no_number():
    one = replace(damage("constant", 0.2), relative=single(0.2), error=single(11.0))
    lost = Interval(math.inf, math.inf, math.inf)
    failed = replace(damage("sign-flip", 0.2), relative=lost, error=lost, mean=lost, worst=lost)
    words = read(
        build_audit(made(damages=(one, failed), splits=1, tolerance=None, breaking=())), "attacks"
    )
    assert "constant 33 +20 % +11 0.6 0.12" in words
    assert "sign-flip 33 fails +∞ ∞ ∞" in words
    assert "nan" not in words


def test_the_command_is_repeated_as_it_was_written(text):
    assert COMMAND in read(text, "again")
    assert "nt.audit" in read(build_audit(made()), "again")


def test_the_range_of_labels_is_said():
    assert "Label range 0 to 350" in read(build_audit(made(label_range=(0.0, 350.0))), "method")


EVIL = [
    "<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>",
    '</script>"><b>{{7*7}}%{x}', "$x$ ${7*7} <!-- __proto__", "\ud800 half",
]  # fmt: skip


def hostile() -> dict[str, object]:
    """Return changes that put hostile text wherever text can be."""
    word = "".join(EVIL)
    damages = tuple(damage(name, 0.1 * i) for i, name in enumerate(EVIL))
    return {
        "estimator": word, "damages": damages, "failures": tuple(EVIL),
        "ceilings": (no_ceiling(word), replace(ceiling(0.2, share=0.2), kind=word)),
        "breaking": (Breaking(1.0, 332, 7, word, 6, 5),), "remedies": (remedy(word, 0.01, 0.01),),
    }  # fmt: skip


def test_hostile_text_is_shown_as_it_is_written():
    text = build_audit(made(**hostile()), label="".join(EVIL), command=" ".join(EVIL))
    own = text.replace(plotly(), "")
    for evil in EVIL[:4]:
        assert evil not in own
        assert evil.replace("{{7*7}}%{x}", "") not in own
    assert own.count("<script") == text.count("<script") - plotly().count("<script")
    assert own.count("<script>") == 2
    assert read(text).count("window.hacked=1") >= 20


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("page.txt", ("`path`", ".html")),
        ("no/page.html", ("no/page.html", "choose another place")),
        ("", ("path",)),
    ],
    ids=["another ending", "no folder", "no name"],
)
def test_a_page_that_cannot_be_written_is_refused(name, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nt.InputError) as caught:
        write_audit(made(), name)
    assert all(part in str(caught.value) for part in parts)
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_saved_whole(tmp_path):
    path = made().save_page(tmp_path / "page.html")
    assert path.read_text("utf-8") == build_audit(made())
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


# ---- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "audit.html"
    path.write_text(text, "utf-8")
    return path


DRAWN = "document.getElementById('damage').dataset.drawn === 'true'"


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_it_is_drawn_fits_the_screen_and_is_open_to_all(visiting, page, size):
    visit = visiting(page, viewport=size, is_mobile=size == PHONE, has_touch=size == PHONE)
    visit.page.locator("#damage").scroll_into_view_if_needed()
    visit.until(DRAWN)
    assert visit.seen("damage") == visit.put("damage") == [["measured", "ceiling"]]
    assert visit.overflow() <= 0
    tops = [visit.page.locator(it).bounding_box()["y"] for it in ("h1", ".count", "#ceilings")]
    assert tops == sorted(tops)
    assert complaints_of_axe(visit) == []
    assert brightness(visit) < 200  # in dark, since then
    assert visit.requests == [visit.address]
    assert visit.complaints == []


def test_names_of_attacks_do_not_touch(visiting, page):
    for size in (PHONE, DESKTOP):
        visit = visiting(page, viewport=size)
        visit.page.locator("#damage").scroll_into_view_if_needed()
        visit.until(DRAWN)
        boxes = visit.page.eval_on_selector_all(
            "#damage .xtick text",
            "all => all.map(one => { const box = one.getBoundingClientRect();"
            " return [box.left, box.right, one.getAttribute('transform').includes('-30')]; })",
        )
        assert len(boxes) == len(ATTACKS)
        slanted = all(box[2] for box in boxes)
        assert slanted or all(one[1] < next_[0] for one, next_ in pairwise(boxes))


def test_hostile_text_does_nothing_in_a_browser(visiting, tmp_path):
    text = build_audit(made(**hostile()), label="".join(EVIL), command=" ".join(EVIL))
    (tmp_path / "audit.html").write_bytes(text.encode("utf-8", "replace"))
    visit = visiting(tmp_path / "audit.html")
    visit.page.locator("#damage").scroll_into_view_if_needed()
    visit.until(DRAWN)
    for button in visit.page.locator("#damage .entry").all():
        button.evaluate("one => one.click()")
    assert visit.page.evaluate("typeof window.hacked") == "undefined"
    assert visit.page.locator("main img, main b").count() == 0
    assert visit.requests == [visit.address]
    assert visit.complaints == []
