"""Plots: well-formed, deterministic, axes that hold every value, labels that cannot break out."""

from __future__ import annotations

from xml.etree import ElementTree

from bench.charts import ChartAxis, bars, lines


def test_a_bar_is_drawn_for_every_value_that_is_there():
    svg = bars("a title", ["one", "two"], {"published": [1.0, None], "measured": [2.0, 3.0]}, "words")
    root = ElementTree.fromstring(svg)
    drawn = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("rx") is None and r.get("x")]
    assert len(drawn) == 3
    assert svg == bars("a title", ["one", "two"], {"published": [1.0, None], "measured": [2.0, 3.0]}, "words")


def test_hostile_names_stay_text():
    svg = bars("<script>", ["</text>"], {"&": [1.0]}, "<b>")
    ElementTree.fromstring(svg)
    assert "<script>" not in svg


def test_axes_hold_all_values_and_their_ticks_are_evenly_spaced():
    axis = ChartAxis.over("", [-1.0, 97.0], False, 0, 100)
    assert axis.least <= -1
    assert axis.most >= 97
    steps = {round(b - a, 9) for a, b in zip(axis.ticks(), axis.ticks()[1:], strict=False)}
    assert len(steps) == 1
    assert 0.0 in axis.ticks()
    log = ChartAxis.over("", [0.02, 5000.0], True, 0, 100)
    assert log.least <= 0.02
    assert log.most >= 5000


def test_points_that_a_logarithm_cannot_show_are_left_out():
    svg = lines("t", {"a": [(1.0, 0.0), (10.0, 2.0)]}, "x", "y")
    assert svg.count("<circle") == 1
    assert lines("t", {"a": []}, "x", "y").startswith("<svg")
