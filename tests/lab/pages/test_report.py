"""The page of a folder of results, as text."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files

import numpy as np
import pytest
from tests.support.results import ending_at, made
from tests.support.studies import (
    LIKE_THE_PAPERS,
    SGD_LOST,
    as_claimed,
    as_in_the_paper,
    flat,
    like_the_paper,
)

import neurotron as nt
from neurotron.lab import pages as report
from neurotron.lab.claims import catalog, evaluate
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.pages import frame, page
from neurotron.lab.pages.frame import plotly, size_of


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return like_the_paper(tmp_path_factory.mktemp("made") / "paper")


@pytest.fixture(scope="module")
def text(paper):
    return report.build(paper, evaluate(paper))


def test_it_is_one_file_of_less_than_8_megabytes_that_loads_nothing(text):
    assert len(text.encode()) < 8e6
    assert text.count("<script>") == 2  # the charting library once, and ours
    outside = text.replace(plotly(), "")
    assert not re.search(r"""\s(src|href)\s*=\s*["'](?!#|data:)""", outside)
    assert "http" not in re.sub(r'http-equiv|https?://[^\s"]*w3\.org', "", outside)


def test_the_page_allows_its_own_scripts_and_styles_and_no_others(text):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def hashed(inside: str) -> str:
        return f"'sha256-{b64encode(sha256(inside.encode()).digest()).decode()}'"

    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"].split() == [
        hashed(script) for script in re.findall("<script>(.*?)</script>", text, re.S)
    ]
    styles = re.findall("<style>(.*?)</style>", text.replace(plotly(), ""), re.S)
    assert rules["style-src"].split() == [hashed(style) for style in (*styles, "")]
    assert "unsafe-inline" not in policy
    assert not re.search(r"\sstyle=", text.replace(plotly(), ""))


def test_the_same_results_make_the_same_page(paper, text):
    assert report.build(nt.load_results(paper.folder.path), evaluate(paper)) == text


def test_verdicts_come_first_in_the_order_and_words_of_the_claims(paper, text):
    found = re.findall(
        r'<tr id="verdict-([a-z0-9-]+)">.*?<span class="word">(.*?)</span>', text, re.S
    )
    judged = [one for one in evaluate(paper) if one.conclusive]
    assert found == [(one.claim.name, one.verdict) for one in judged]
    assert text.index('id="verdicts"') < text.index('id="outcomes"') < text.index('id="figures"')


def test_claims_link_to_the_figures_and_the_section_that_show_them(paper, text):
    def links(claim):
        row = text[text.index(f'<tr id="verdict-{claim}">') :].partition("</tr>")[0]
        return dict(re.findall('href="#([a-z0-9-]+)">(.*?)<', row))

    assert links("smaller-error-than-sgd") == {
        "paired-errors": "Paired errors", "figure-2a": "Figure 2a",
        "numbers-smaller-error-than-sgd": "Numbers",
    }  # fmt: skip
    assert "certificates" not in links("theorem-1-is-silent")  # there is no such table


def test_the_page_says_that_its_study_is_not_the_catalogs(paper, text, tmp_path):
    assert "this study is not in the catalog." in text
    smoke = made(tmp_path / "smoke", nt.lab.read("smoke"), as_in_the_paper, 1)
    assert "These claims are judged on" not in report.build(smoke, evaluate(smoke))


def test_what_an_interval_does_not_decide_is_undecided_in_the_table(paper):
    first, *others = evaluate(paper)
    open_ = replace(first, findings=(replace(first.findings[0], holds=None),))
    built = report.build(paper, [open_, *others], [])
    table = built[built.index('id="numbers-grows-with-bound"') :].partition("</table>")[0]
    assert table.count("<td>undecided</td>") == 1


def test_every_link_has_a_target_and_every_place_one_name(text):
    places = re.findall(r'\sid="([^"]+)"', text.replace(plotly(), ""))
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(places)


def test_the_story_of_sgd_has_the_numbers_of_these_runs(text):
    story = text[text.index('class="story"') :]
    assert re.search(rf"on {2 * SGD_LOST} of 20\s+networks SGD ended in", story)
    assert "95 % interval 19 to 64 %".replace(" %", "\u00a0%") in story  # exact, of 8 in 20
    assert re.search(r"found the filter on 20 of 20\s+networks", story)


def test_the_story_is_not_told_when_the_runs_do_not_tell_it(tmp_path):
    good = made(tmp_path / "good", LIKE_THE_PAPERS, flat, 5)
    assert 'class="story"' not in report.build(good, evaluate(good))


def test_figures_hold_the_numbers_of_their_charts(paper, text):
    chart = next(c for c in nt.lab.charts(paper) if c.name == "figure-1a")
    inside = text[text.index('<figure id="figure-1a"') :]
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', inside)[1])
    drawn = [trace for trace in data["panels"][0]["data"] if "fill" not in trace]
    for trace, line in zip(drawn, chart.panels[0].lines, strict=True):
        np.testing.assert_allclose(trace["y"], line.y, rtol=1e-4)


OWN = """
name = "mine"
title = "My own question"
[trainers]
"Neuro-Tron" = "neuro-tron:step_size=fastest"
SGD = "sgd"
[[settings]]
name = "a"
title = "My data"
[[settings.sweeps]]
bound = [0, 0.5, 1]
probability = 0.4
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The page of a study of one's own, as claims and figures of any study make it."""
    results = made(tmp_path_factory.mktemp("made") / "own", OWN, as_claimed, 6)
    uncertain = made(
        tmp_path_factory.mktemp("made") / "uncertain", OWN,
        lambda *args: as_claimed(*args) | {"radius": None}, 6,
    )  # fmt: skip
    return report.build(uncertain, evaluate(results))


def visible(text: str) -> str:
    """The words of a page without scripts, files and the section on how to cite."""
    body = text[text.index("<header>") : text.index("<h3>Cite</h3>")]
    without = re.sub(r"<(script|style|pre|template)\b.*?</\1>", "", body, flags=re.S)
    labels = re.findall(r'aria-label="(.*?)"', without)
    return re.sub(r"<[^>]*>", " ", without) + " ".join(labels)


def test_the_page_of_ones_own_study_has_no_word_of_the_paper_and_no_internal_name(own):
    words = visible(own).lower()
    for word in ("paper", "theorem 1", "published", "section 4", *catalog.CLAIMS):
        assert word not in words, word
    assert "No run ends outside" in visible(own)


def test_the_page_of_ones_own_study_begins_with_its_own_result(own):
    top = re.search("<h1>(.*?)</h1>", own)[1].replace("\u00a0", " ")
    assert top.startswith("With 40 % of the labels attacked, Neuro-Tron found the true filter on")
    assert "SGD ended in the direction of its mirror image on 2" in top
    assert '<p class="kind">My own question</p>' in own


def test_the_first_screen_has_the_headline_the_count_and_the_picture_that_proves_it(text):
    places = [
        text.index(it) for it in ("<h1>", 'class="count"', 'id="mirror-filter"', 'id="verdicts"')
    ]
    assert places == sorted(places)
    assert text.count("<figure") == len(set(re.findall('<figure id="([^"]+)"', text)))
    judged = re.search(r'href="#verdicts">(.*?)</a>', text)[1]
    counted = [int(number) for number in re.findall(r"of (\d+) claim", judged)]
    assert len(counted) == 2  # the paper's, and ours
    assert len(re.findall(r'class="mark ', text)) == sum(counted)


def test_a_first_picture_of_many_panels_is_a_part_of_a_figure_below(paper):
    (chart,) = (chart for chart in nt.lab.charts(paper) if chart.name == "mirror-filter")
    many = [replace(chart, panels=4 * chart.panels)]
    text = report.build(paper, evaluate(paper), many)
    first = text[text.index('<figure id="first-figure"') :].partition("</figure>")[0]
    assert first.count('class="plot"') == page.MOST_FIRST
    assert 'href="#mirror-filter"' in first
    assert text.index('id="first-figure"') < text.index('<figure id="mirror-filter"')


def test_claims_are_shown_in_short_with_what_was_measured(paper):
    first, *others = evaluate(paper)
    short = replace(first, claim=replace(first.claim, short="Larger θ, larger error"))
    built = report.build(paper, [short, *others], [])
    row = built[built.index('<tr id="verdict-grows-with-bound">') :].partition("</tr>")[0]
    heading = row[row.index("<th") : row.index("</th>")]
    assert re.match(
        r'<th scope="row">Larger θ, larger error <span class="source">A larger', heading
    )
    assert f'<td class="effect">{short.effect}</td>' in row


def test_units_stay_with_their_numbers_and_files_stay_as_they_are():
    markup = '<p data-line="θ = 1">95 % at θ = 0.25</p><pre>bound = 1</pre><script>"β = 1"</script>'
    assert frame.unbroken(markup) == markup.replace("95 %", "95\u00a0%").replace(
        "θ = 0.25", "θ\u00a0=\u00a00.25"
    )


HOSTILE = '</script><script>hacked()</script><img src=x onerror="hacked()">{{ 7*7 }}'


def test_text_of_a_study_and_of_errors_is_only_text(tmp_path):
    study = f"""
name = "harmless"
title = '''{HOSTILE}'''
description = '''{HOSTILE}'''
[trainers]
'<b>{{{{1}}}}</script>' = "neuro-tron"
[[settings]]
name = "a"
title = '''<img src=x onerror=alert(1)>'''
[[settings.sweeps]]
bound = [0.1, 1]
"""
    results = made(tmp_path / "x", study, flat, 2)
    results.folder.record("failed", setting="a", replicate=7, error=HOSTILE)
    text = report.build(nt.load_results(results.folder.path), evaluate(results))
    ours = text.replace(plotly(), "")
    assert "<img" not in ours
    assert "<script>hacked" not in ours
    assert "<b>{{1}}" not in ours
    assert (
        ours.count("&lt;script&gt;hacked()") >= 4
    )  # in title, heading, description, failure, TOML
    assert "{{ 7*7 }}" in ours
    assert "These results are not complete" in ours


def test_a_study_of_nothing_yet_has_a_page(tmp_path):
    empty = made(tmp_path / "empty", LIKE_THE_PAPERS, as_in_the_paper, 0)
    text = report.build(empty, evaluate(empty))
    assert "0 units computed" in text
    assert "<figure" not in text


def test_settings_with_fewer_replicates_are_named(tmp_path):
    some = made(
        tmp_path / "some", LIKE_THE_PAPERS, as_in_the_paper, {"normal": range(5), "heavy": range(3)}
    )
    text = report.build(some, evaluate(some))
    assert "t: 3 of 5 replicates" in text
    assert "3 to 5 replicates" in text


def test_a_page_that_would_be_too_large_is_thinned_and_then_shortened(paper, monkeypatch):
    claims = evaluate(paper)
    monkeypatch.setattr(page, "MOST_BYTES", 60_000)
    text = report.build(paper, claims)
    data = re.findall(r'<script type="application/json">(.*?)</script>', text)
    assert sum(map(len, data)) <= 60_000
    assert "Too large for this page" in text
    targets = re.findall(r'\sid="([^"]+)"', text.replace(plotly(), ""))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(targets)


def test_certified_radii_stand_beside_what_was_measured(tmp_path):

    def certified(setting, replicate, arm):
        if arm["trainer"] != "Tron" or arm["bound"] > 1.0:
            return {"errors": ending_at(1.0)}  # nothing is certified
        ends = {
            "errors": ending_at(2.0 if replicate == 3 else 0.5),
            "radius": 1.0 + 0.25 * replicate,
        }
        return ends | ({"theorem1_radius": 5.0} if replicate == 4 and arm["bound"] else {})

    results = made(tmp_path / "certified", LIKE_THE_PAPERS, certified, 5)
    text = report.build(results, evaluate(results))
    assert table_of(text, "certificates")[:5] == [
        ["trainer", "θ", "β", "certified radius", "largest error", "runs outside", "certified runs",
         "runs without"],
        ["N"],
        ["Tron", "0", "0", "1 to 2", "2", "1", "5", "–"],
        ["Tron", "0.125", "0.5", "1 to 2", "2", "1", "5", "–"],
        ["Tron", "1", "0.5", "1 to 2", "2", "1", "5", "–"],
    ]  # fmt: skip
    assert "without any certificate are not shown: 4." in text
    assert 'href="#certificates">Certificates' in text.partition('id="verdict-theorem-1')[2]
    assert "guarantees something for 8 of the 60 runs of Neuro-Tron" in text


def table_of(text: str, name: str) -> list[list[str]]:
    """Return the cells of a table of a page."""
    inside = text[text.index(f'<section id="{name}"') :].partition("</section>")[0]
    rows = re.findall("<tr>(.*?)</tr>", inside, re.S)
    return [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_long_tables_are_cut_and_say_so(tmp_path):
    settings = "".join(f'[[settings]]\nname = "c{i}"\n' for i in range(310))
    text = f'name = "many"\n[trainers]\nt = "neuro-tron"\n{settings}'
    results = made(tmp_path / "many", text, flat, 1)
    built = report.build(results, evaluate(results))
    assert re.findall("and (.*) more, in the folder", built) == ["320", "10"]  # outcomes, settings
    assert len(built.encode()) < 8e6


def test_the_study_on_the_page_is_the_study_that_was_run(paper, text):
    toml = re.search(r"<pre tabindex=\"0\">(name = .*?)</pre>", text, re.S)[1]
    study = nt.lab.parse(html.unescape(toml).encode(), "again")
    assert study.spec() == paper.spec
    assert study.replicates == 10


def test_the_page_is_written_without_drawing_figures_for_print(paper, monkeypatch):
    monkeypatch.delattr(render_matplotlib, "draw")
    assert report.write(paper, evaluate(paper)) == paper.folder.path / "report.html"
    assert not (paper.folder.path / "figures").exists()


def test_figures_for_print_are_written_beside_the_results(paper, monkeypatch):
    monkeypatch.setattr(render_matplotlib, "draw", lambda chart: chart.name)
    monkeypatch.setattr(render_matplotlib, "encode", lambda picture, end: (picture + end).encode())
    drawn = []
    folder = report.write_figures(paper, progress=lambda *count: drawn.append(count))
    assert folder == paper.folder.path / "figures"
    names = {chart.name for chart in nt.lab.charts(paper)}
    assert {file.name for file in folder.iterdir()} == {
        "written.json",
        *(f"{name}.{end}" for name in names for end in ("png", "pdf")),
    }
    assert drawn[-1] == (len(names), len(names))
    assert nt.load_results(paper.folder.path).damaged == ()


def test_heat_maps_stay_when_figures_are_too_many(paper, heat_map, monkeypatch):
    every = [*nt.lab.charts(paper), heat_map]
    whole = page._figures(every)
    monkeypatch.setattr(page, "MOST_BYTES", sum(map(size_of, whole)) // 9)
    fewer = page._figures(every)
    assert len(fewer) < len(whole)
    (kept,) = (one for one in fewer if one["scale"])
    assert kept["chart"] is heat_map
    assert all("thinned" in one["chart"].caption for one in fewer if not one["scale"])


def test_a_study_from_init_has_a_title_that_a_page_can_show():
    template = files("neurotron.lab.studies").joinpath("catalog", "_template.toml").read_bytes()
    study = nt.lab.parse(template, "my-study")
    assert all(trainer in study.title for trainer in study.settings[0]["trainers"])
