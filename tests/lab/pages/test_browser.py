"""The page in a browser: it works offline, by mouse, by keyboard, on phones and on paper."""

from __future__ import annotations

import json

import pytest
from tests.support.browsers import DESKTOP, PHONE, Visit, brightness, complaints_of_axe
from tests.support.results import ending_at, made
from tests.support.studies import LIKE_THE_PAPERS, as_in_the_paper

import neurotron as nt
from neurotron.lab.figures.chart import shorten
from neurotron.lab.pages.page import build

A4 = 700
"""Its width within margins, in the pixels of print."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in the paper's settings: verdicts, the story of SGD, certificates."""

    def certified(setting, replicate, arm):
        is_ours = arm["algorithm"] == "neuro-tron"
        return as_in_the_paper(setting, replicate, arm) | ({"radius": 9.0} if is_ours else {})

    return written(tmp_path_factory.mktemp("browser") / "paper", LIKE_THE_PAPERS, certified, 10)


def written(folder, study, outcome, replicates, error=None):
    """Make results, claims.json and the page; return where they are."""
    results = made(folder, study, outcome, replicates)
    if error is not None:
        results.folder.record("failed", setting="c0", replicate=99, error=error)
    nt.lab.report(folder)
    return folder


@pytest.fixture(scope="module")
def visit(browser, folder):
    """The page on a desktop, all figures drawn; tests leave it as they found it."""
    visit = Visit(browser, folder)
    visit.draw_all()
    yield visit
    visit.context.close()


def test_nothing_is_fetched_and_nothing_complained_of(visit):
    assert visit.requests == [visit.address]
    assert visit.complaints == []


def test_every_figure_is_drawn_with_all_its_lines(visit):
    assert len(visit.figures()) >= 12
    for figure in visit.figures():
        assert visit.seen(figure) == visit.put(figure), figure


def test_verdicts_are_those_of_claims_json(visit, folder):
    claims = json.loads((folder / "claims.json").read_text("utf-8"))["claims"]
    words = visit.page.locator("#verdicts .word").all_text_contents()
    names = visit.page.eval_on_selector_all("#verdicts tbody tr", "all => all.map(one => one.id)")
    told = [claim for claim in claims if claim["findings"]]
    assert list(zip(names, words, strict=True)) == [
        (f"verdict-{claim['name']}", claim["verdict"]) for claim in told
    ]
    assert {"holds", "true of the published code only"} <= set(words)
    assert visit.page.locator(".story").count() == 1


def test_a_button_of_the_legend_hides_its_line_in_all_panels(visit):
    button = visit.page.locator("#figure-2a .entry", has_text="First")
    everything = visit.put("figure-2a")
    assert all("First" in panel for panel in everything)
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert visit.seen("figure-2a") == [[n for n in panel if n != "First"] for panel in everything]
    assert visit.seen("figure-3a") == visit.put("figure-3a")  # another figure stays
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert visit.seen("figure-2a") == everything


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_buttons_work_by_keyboard(visit, key):
    button = visit.page.locator("#figure-2a .entry").first
    visit.page.locator("#figure-1b summary").focus()
    for _ in range(9):  # on to the next control, and not into the drawings
        visit.page.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    else:
        pytest.fail("the button is not reached by Tab")
    assert button.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    visit.page.keyboard.press(key)
    assert visit.seen("figure-2a") != visit.put("figure-2a")
    visit.page.keyboard.press(key)
    assert visit.seen("figure-2a") == visit.put("figure-2a")


@pytest.mark.parametrize(("axis", "word"), [("xaxis", "log steps"), ("yaxis", "log scale")])
def test_axes_change_between_log_and_linear(visit, axis, word):
    button = visit.page.locator("#figure-2a .axis", has_text=word)
    before = visit.axis("figure-2a", axis)
    assert (before["type"], button.get_attribute("aria-pressed")) == ("log", "true")
    button.click()
    after = visit.axis("figure-2a", axis)
    assert (after["type"], button.get_attribute("aria-pressed")) == ("linear", "false")
    assert after["range"][0] <= 0.0 < after["range"][1]
    assert visit.seen("figure-2a") == visit.put("figure-2a")
    button.click()
    assert visit.axis("figure-2a", axis) == before


def test_pointing_at_a_line_tells_its_median_and_interval(visit):
    visit.page.mouse.move(*visit.place("figure-1a", "θ = 1", 2))
    label = visit.page.locator("#figure-1a .hoverlayer .hovertext").first
    label.wait_for()
    text = label.text_content()
    assert "θ = 1" in text
    assert "step 1,000" in text
    assert "0.52 (0.5 … 0.54)" in text  # of 0.5 (1 + 0.01 i), i = 0 … 9
    visit.page.mouse.move(0, 0)


def drag(visit, figure):
    """Drag over the middle of the first panel."""
    plot = visit.page.locator(f"#{figure} .plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    across, down = box["width"], box["height"]
    visit.page.mouse.move(box["x"] + 0.4 * across, box["y"] + 0.3 * down)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 0.7 * across, box["y"] + 0.6 * down, steps=4)
    visit.page.mouse.up()


def test_dragging_zooms_until_a_double_click(visit):
    whole = visit.axis("figure-1a", "xaxis")["range"]
    drag(visit, "figure-1a")
    part = visit.axis("figure-1a", "xaxis")["range"]
    assert whole[0] < part[0] < part[1] < whole[1]
    button = visit.page.locator("#figure-1a .entry").first
    button.click()  # hides a line, and leaves the zoom
    assert visit.axis("figure-1a", "xaxis")["range"] == part
    button.click()
    box = visit.page.locator("#figure-1a .plot").first.bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    visit.page.wait_for_timeout(400)  # so that it is no triple click
    visit.page.mouse.dblclick(x, y)
    visit.until(
        f"document.querySelector('#figure-1a .plot')._fullLayout.xaxis.range[0] === {whole[0]}"
    )


def test_every_link_leads_somewhere_and_a_link_to_numbers_opens_them(visit):
    page = visit.page
    links = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
    places = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    ours = [place for place in places if place in {link[1:] for link in links}]
    assert {f"#{place}" for place in ours} == set(links)
    assert len(ours) == len(set(ours))
    numbers = page.locator("#numbers-grows-with-bound")
    assert not numbers.evaluate("one => one.open")
    page.locator("#verdict-grows-with-bound a", has_text="Numbers").click()
    visit.until("document.getElementById('numbers-grows-with-bound').open")
    assert numbers.locator("td").first.is_visible()
    numbers.locator("summary").click()  # closed by the reader
    page.locator("#verdict-grows-with-bound a", has_text="Numbers").click()
    visit.until("document.getElementById('numbers-grows-with-bound').open")


DARK = "document.documentElement.dataset.theme === 'dark'"


def test_the_theme_is_the_systems_until_the_reader_chooses(visiting, folder):
    visit = visiting(folder, color_scheme="dark")
    button = visit.page.locator("#theme")
    assert brightness(visit) < 200
    assert button.text_content() == "Switch to light"
    visit.page.emulate_media(color_scheme="light")
    visit.until(f"!({DARK})")
    assert brightness(visit) == 765
    assert button.text_content() == "Switch to dark"
    button.click()
    assert brightness(visit) < 200
    visit.page.emulate_media(color_scheme="dark")
    visit.page.emulate_media(color_scheme="light")
    visit.page.wait_for_timeout(100)
    assert brightness(visit) < 200


def test_on_a_desktop_headline_count_and_picture_are_seen_without_scrolling(visiting, folder):
    visit = visiting(folder, viewport={"width": 1280, "height": 800})
    visit.until("document.getElementById('mirror-filter').dataset.drawn === 'true'")
    for seen in ("h1", ".count", "#mirror-filter .panels"):
        box = visit.page.locator(seen).bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= 800, seen


def test_on_a_phone_headline_and_count_come_first(visiting, folder):
    visit = visiting(folder, viewport=PHONE, is_mobile=True, has_touch=True)
    boxes = [visit.page.locator(it).bounding_box() for it in ("h1", ".count", "#mirror-filter")]
    tops = [box["y"] for box in boxes]
    assert tops == sorted(tops)
    assert tops[2] < PHONE["height"]


@pytest.fixture(scope="module")
def many_names(tmp_path_factory):
    """A folder with as many laws and trainers as the paper's study, and names as long."""
    others = {"solver, 500 rows (ours)": 0.1, "RefinedTron (ours)": 0.2}
    names = "".join(f'"{it}" = "neuro-tron:step_size={size}"\n' for it, size in others.items())
    laws = (f'[[settings]]\nname = "{name}"\nlike = "normal"\n' for name in ("third", "fourth"))
    text = LIKE_THE_PAPERS.replace("[[settings]]", f"{names}[[settings]]", 1) + "".join(laws)
    text = text.replace("Tron =", '"Neuro-Tron" =').replace("First =", '"first-sample SGD" =')
    return written(tmp_path_factory.mktemp("browser") / "many", text, as_in_the_paper, 5)


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize(("made_up", "count"), [("folder", 3), ("many_names", 5)])
def test_the_names_below_the_columns_of_the_first_picture_are_whole(
    visiting, request, made_up, count, size
):
    visit = visiting(request.getfixturevalue(made_up), viewport=size)
    visit.until("document.getElementById('mirror-filter').dataset.drawn === 'true'")
    inside = visit.page.eval_on_selector_all(
        "#mirror-filter .plot",
        """(plots, count) => plots.every(plot => { const box = plot.getBoundingClientRect();
            const names = [...plot.querySelectorAll(".xtick text")];
            return names.length === count && names.every(name => {
                const one = name.getBoundingClientRect();
                return one.left >= box.left && one.right <= box.right
                    && one.bottom <= box.bottom; }); })""",
        count,
    )
    assert inside


def test_a_table_that_is_wider_than_a_phone_shows_that_it_scrolls(visiting, folder):
    visit = visiting(folder, viewport=PHONE, is_mobile=True, has_touch=True)
    table = visit.page.locator("#outcomes .scroll")
    assert table.evaluate("one => one.scrollWidth > one.clientWidth")
    attached = table.evaluate("one => getComputedStyle(one).backgroundAttachment")
    assert set(attached.split(", ")) == {"local", "scroll"}  # a shadow that the end covers


def test_nothing_is_wider_than_a_desktop(visit):
    assert visit.overflow() <= 0


def test_nothing_is_wider_than_a_phone(visiting, folder):
    visit = visiting(folder, viewport=PHONE, is_mobile=True, has_touch=True)
    visit.draw_all()
    assert visit.overflow() <= 0
    assert visit.complaints == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_page_is_open_to_all(visiting, folder, size):
    """Nothing that axe-core minds, in light and dark, with one of each kind of thing unfolded."""
    visit = visiting(folder, viewport=size, is_mobile=size == PHONE, has_touch=size == PHONE)
    shown = ("figure-1a", "mirror-filter")
    others = ", ".join(f"#{name}" for name in visit.figures() if name not in shown)
    visit.page.eval_on_selector_all(others, "all => all.forEach(one => one.remove())")
    for figure in shown:
        visit.page.locator(f"#{figure}").scroll_into_view_if_needed()
        visit.until(f"document.getElementById('{figure}').dataset.drawn === 'true'")
    for place in ("#figure-1a", "#comparisons", "#provenance"):
        visit.page.locator(f"{place} summary").first.click()
    assert complaints_of_axe(visit) == []


def test_on_paper_all_figures_are_drawn_in_light_and_within_their_panels(visiting, folder):
    visit = visiting(folder, color_scheme="dark")
    page = visit.page
    assert page.locator("figure:not([data-drawn])").count() > 0  # nobody has scrolled to them
    assert page.pdf(format="A4").startswith(b"%PDF")
    visit.until("!document.querySelector('figure:not([data-drawn])')")
    assert brightness(visit) < 200  # as before
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # before the page is as wide as paper
    page.emulate_media(media="print", color_scheme="dark")
    for figure in visit.figures():
        assert visit.seen(figure) == visit.put(figure), figure
    assert brightness(visit) == 765
    assert page.locator("nav").is_hidden()
    sizes = page.eval_on_selector_all(
        ".plot", "all => all.map(one => [one.querySelector('.main-svg').clientWidth,"
        " one.querySelector('.main-svg').clientHeight - one.clientHeight])"
    )  # fmt: skip
    assert max(width for width, _ in sizes) <= 0.5 * A4 - 20
    assert max(higher for _, higher in sizes) <= 0


def test_without_javascript_the_numbers_are_readable(visiting, folder):
    visit = visiting(folder, java_script_enabled=False)
    page = visit.page
    assert page.locator("noscript p").is_visible()
    assert page.locator("#theme").is_hidden()
    assert page.locator(".panels").first.is_hidden()
    page.locator("#figure-1a summary").click()
    cells = page.locator("#figure-1a tbody tr").first.locator("th, td").all_text_contents()
    assert cells == ["N", "θ\u00a0=\u00a00.125", "1,000", "0.065", "0.0625 … 0.0675"]
    assert visit.requests == [visit.address]


def test_heat_maps_have_cells_with_numbers_that_can_be_pointed_at(
    visiting, folder, heat_map, tmp_path
):
    results = nt.load_results(folder)
    text = build(results, nt.lab.evaluate(results), [heat_map])
    (tmp_path / "report.html").write_text(text, "utf-8")
    visit = visiting(tmp_path, viewport=PHONE, color_scheme="dark")
    page, panel = visit.page, visit.page.locator("#map .plot").nth(1)
    visit.until("document.getElementById('map').dataset.drawn === 'true'")
    assert sorted(panel.locator(".heatmap-label").all_text_contents()) == [
        "0.02", "0.1", "1e-14", "∞"
    ]  # fmt: skip
    panel.scroll_into_view_if_needed()
    box = panel.locator(".nsewdrag").bounding_box()  # the cells
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] * 3 / 4)
    label = panel.locator(".hoverlayer .hovertext")
    label.wait_for()
    assert label.text_content() == "bound θ 0.25, probability β 0.11e-14 (5e-15 … 2e-14)"
    marks = page.locator("#map .scale .marks span").all_text_contents()
    assert marks[-1] == "1e-14"
    row = page.locator("#map tbody tr").first.locator("th, td").all_text_contents()
    assert row == ["Tron", "0.25", "0.1 (outlined)", "1e-14", "5e-15 … 2e-14"]
    assert visit.overflow() <= 0
    assert visit.complaints == []


EVIL = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '</script>"><b>{{7*7}}%{x}%{y:.3f}',
    "$x$ ${7*7} <!-- __proto__ 🦊",
    "__proto__",
    "javascript:hacked=1 &lt;b&gt; &amp;",
]


def test_a_hostile_study_is_harmless_and_shown_as_it_is_written(visiting, tmp_path):
    def quoted(text):
        return json.dumps(text, ensure_ascii=False)

    title = "".join(EVIL)
    study = f"""
name = "evil"
title = {quoted(title)}
description = {quoted(chr(10).join(EVIL))}
[trainers]
{chr(10).join(f'{quoted(name)} = "{"neuro-tron" if name == EVIL[0] else "sgd"}"' for name in EVIL)}
"""
    for i, name in enumerate(EVIL[:3]):
        study += (
            f'[[settings]]\nname = "c{i}"\ntitle = {quoted(name)}\nnetwork = "symmetric:width=4"\n'
            "sweeps = [{bound = [0.1, 1.0]}]\n"
        )

    def ends(setting, replicate, arm):
        return {"errors": ending_at(10.0 ** -EVIL.index(arm["trainer"]) * (1 + replicate))}

    visit = visiting(written(tmp_path / "evil", study, ends, 5, error=" ".join(EVIL)))
    page = visit.page
    visit.draw_all()
    for figure in visit.figures():
        assert visit.seen(figure) == visit.put(figure), figure
    assert page.title() == title
    assert page.locator(".kind").text_content() == title
    assert page.locator("h1").text_content().startswith("With half of the labels attacked")
    assert " ".join(EVIL) in page.locator("#failed").text_content()
    compared = "trainers-c0-alternating-sign-bound"
    entries = page.locator(f"#{compared} .entry").all_text_contents()
    assert [entry.strip() for entry in entries] == EVIL
    for name in EVIL:
        page.mouse.move(*visit.place(compared, name, 2))
        label = page.locator(f"#{compared} .hoverlayer .hovertext").first
        page.wait_for_timeout(100)
        assert label.text_content().startswith(name), name
    ticks = page.locator("#mirror-filter .plot").first.locator(".xtick text").all_text_contents()
    for tick, name in zip(ticks, EVIL, strict=True):  # in lines, and with a count
        assert tick.replace(" ", "").startswith(shorten(name, 24).replace(" ", "")), name
    for figure in visit.figures():
        for button in page.locator(f"#{figure} .entry").all():
            button.evaluate("one => one.click()")
        assert not any(visit.seen(figure)), figure
    page.locator("#theme").click()
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate("({}).polluted") is None
    assert page.locator("main img, main b, #figures script:not([type])").count() == 0
    assert visit.requests == [visit.address]
    assert visit.complaints == []


def test_a_script_that_slipped_in_does_not_run(visiting, folder, tmp_path):
    page = (folder / "report.html").read_text("utf-8")
    slipped = (
        '<script>window.hacked = 1</script><img src="data:," onerror="window.hacked = 1">'
        '<a id="slipped" href="javascript:void(window.hacked = 1)">here</a>'
    )
    (tmp_path / "report.html").write_text(page.replace("<header>", f"{slipped}<header>"), "utf-8")
    visit = visiting(tmp_path)
    visit.page.locator("#slipped").click()
    visit.page.wait_for_timeout(100)
    assert visit.page.evaluate("typeof window.hacked") == "undefined"
    assert len(visit.complaints) == 3
