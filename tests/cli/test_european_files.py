"""From a table as Europe writes it to its pattern, proof and publication, without saving it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.cli.main import run

PLAIN = (
    "region,nace,value,status\nNord,A,1234.5,s\nNord,B,20.5,u\nNord,C,300,s\nSüd,A,410,s\nSüd,B,512.25,s\nSüd,C,64,s\n"
)
WAYS = {
    "decimal comma": PLAIN.replace(",", ";").replace(".", ",").encode("utf-8"),
    "Latin-1": PLAIN.encode("latin-1"),
    "UTF-16 with tabs": PLAIN.replace(",", "\t").encode("utf-16"),
    "thousands": PLAIN.replace("1234.5", "1 234.50").encode("utf-8"),
    "all of it": PLAIN.replace(",", ";").replace(".", ",").replace("1234,5", "1.234,50").encode("cp1252"),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "t.csv").write_text(PLAIN, encoding="utf-8")
    return published(folder)


def published(folder: Path) -> str:
    table, pattern, proof, public = (str(folder / name) for name in ("t.csv", "p.csv", "proof.gz", "public.csv"))
    assert run(["protect", table, "--method", "hypercube", "--out", pattern, "--proof", proof, "--quiet"]) == 0
    assert run(["audit", table, pattern, "--quiet"]) == 0
    assert run(["verify", table, pattern, proof, "--quiet"]) == 0
    assert run(["publish", table, pattern, "--out", public, "--quiet"]) == 0
    return Path(public).read_text(encoding="utf-8")


@pytest.mark.parametrize("way", WAYS)
def test_the_same_table_is_published_however_it_was_written(
    way: str, plain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_bytes(WAYS[way])
    assert published(tmp_path) == plain
    assert "gpuga: note: " in capsys.readouterr().err
    assert "1234.5" in (tmp_path / "p.csv").read_text(encoding="utf-8") + plain


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--decimal", "semicolon"], "--decimal: 'semicolon' is not one of point or comma"),
        (["--decimal", ",", "--thousands", ","], "--thousands: is the sign for decimals as well"),
        (["--encoding", "klingon"], "--encoding: 'klingon' is not a text encoding"),
        (["--encoding", "rot13"], "--encoding: 'rot13' is not a text encoding"),
        (["--separator", "ab"], "--separator: 'ab' is not a separator"),
        (["--sheet", "data"], "a text file takes no --sheet"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(PLAIN)
    assert run(["expose", str(tmp_path / "t.csv"), *options]) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""
