"""Peers: what they are given, what is made of their answers, and that nobody's failure stops the others."""

from __future__ import annotations

import sys

import pytest

from bench.peers import guarded, missing_peers, ours, r_package, tau_argus_modular, tau_argus_optimal
from bench.tables import named_table

FLAT, GROUPED = "whole:6x5:10%:1", "smith3d:5x9x3:0.1:0.1:2:1"

ANSWERS_ALL = f"""#!{sys.executable}
import csv
rows = list(csv.DictReader(open("cells.csv")))
names = list(dict.fromkeys(row["dimension"] for row in csv.DictReader(open("codes.csv"))))
with open("hidden.csv", "w") as file:
    print(",".join(names), file=file)
    for row in rows:
        if row["value"] != "0":
            print(",".join(row[name] for name in names), file=file)
"""


def test_our_methods_are_measured_as_in_the_papers_experiments():
    answer = ours(FLAT, "exact", 0.1)
    assert answer["safe"]
    assert answer["claims_optimal"]
    assert answer["cost"] == answer["lower_bound"]


@pytest.mark.parametrize("name", [FLAT, GROUPED])
def test_tau_argus_gets_the_table_and_its_patterns_are_audited(name):
    pytest.importorskip("pytauargus", reason="the peer is not installed")
    least = ours(name, "exact", 0.2)["cost"]
    for peer in (tau_argus_optimal, tau_argus_modular):
        answer = peer(name, 1.0)
        assert answer["safe"] or answer["exposed"] > 0
        assert answer["cost"] >= least or not answer["safe"]


def test_an_r_package_gets_cells_and_codes_and_its_answer_becomes_a_pattern(tmp_path, monkeypatch):
    script = tmp_path / "Rscript"
    script.write_text(ANSWERS_ALL)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    answer = r_package(GROUPED, "sdcTable", 1.0)
    table = named_table(GROUPED)
    assert answer["safe"]
    assert answer["secondary"] == int(((table.value != 0) & ~table.primary).sum())


def test_a_peer_that_fails_leaves_its_words(tmp_path, monkeypatch):
    script = tmp_path / "Rscript"
    script.write_text("#!/bin/sh\necho 'Error: no such thing' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert r_package(FLAT, "sdcTable", 1.0)["fault"] == "Error: no such thing"
    assert missing_peers()["sdcTable"].startswith("R is installed without the package")


def test_without_rscript_a_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_peers()["GaussSuppression"].startswith("no R is installed, and Debian 12 has no package")


def test_what_a_tool_raises_is_its_fault_and_nothing_more():
    def fails() -> dict[str, object]:
        raise RuntimeError("went\nwrong")

    assert guarded(fails) == {"fault": "RuntimeError: went"}
