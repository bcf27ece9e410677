"""CSV files as people have them: encodings, decimal commas, dates, words for NULL. Declared; misfits are NULL."""

import json
import re
import shlex
import time
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli import main
from discreet.core import DiscreetError, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.opening import open_table
from discreet.data.reading import CsvFormat, find_format, offer_kinds, read_csv_format
from discreet.session import read_settings

NOBODY = PrivacyUnit()
GERMAN = """\
Patient Nr;Größe;Kosten (€);Aufnahme;Station
1;172,3;1.234,50;31.12.2024;Süd
2;NA;-;n/a;Nörd
3;1723;12;1.2.2025;
"""


def rows_of(path: Path, **declared: object) -> list[tuple]:
    table = open_table(path, table="t", unit=NOBODY, **declared)
    try:
        return table._connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
    finally:
        table.close()


def written(path: Path, text: str, codec: str) -> Path:
    path.write_bytes(text.encode(codec))
    return path


def test_a_german_export_is_read_as_it_is_declared(tmp_path):
    path = written(tmp_path / "export.csv", GERMAN, "cp1252")
    csv = {"encoding": "windows-1252", "decimal": ",", "thousands": ".", "null": ["NA", "-", "n/a"]}
    kinds = {"Größe": "real", "Kosten (€)": "real", "Aufnahme": "date:%d.%m.%Y"}
    assert rows_of(path, csv=csv, kinds=kinds) == [
        ("1", 172.3, 1234.5, date(2024, 12, 31), "Süd"),
        ("2", None, None, None, "Nörd"),
        ("3", 1723.0, 12.0, date(2025, 2, 1), None),
    ]


@pytest.mark.parametrize(
    ("codec", "declared"),
    [
        ("utf-8", {}),
        ("utf-8-sig", {"encoding": "UTF-8"}),
        ("utf-16", {}),
        ("utf-16", {"encoding": "utf-16"}),
        ("utf-16-le", {"encoding": "utf-16"}),
        ("utf-16-be", {"encoding": "utf-16-be"}),
        ("cp1252", {"encoding": "cp1252"}),
        ("cp1252", {"encoding": "Windows-1252"}),
    ],
)
def test_a_table_is_the_same_in_each_encoding(tmp_path, codec, declared):
    path = written(tmp_path / "t.csv", "größe;x\r\n1;ä\r\n2;€\r\n", codec)
    assert rows_of(path, csv=declared) == [("1", "ä"), ("2", "€")]


def test_a_line_that_is_not_of_its_encoding_spoils_itself_alone(tmp_path):
    lines = {
        "windows-1252": [b"id,x", b"1,a", b"2,\x81", b"3,\xe4"],
        "utf-16": ["id,x".encode("utf-16-le"), "1,a".encode("utf-16-le"), b"2\0,\0\x00\xd8", "3,ä".encode("utf-16-le")],
    }
    for encoding, parts in lines.items():
        feed = b"\n\0" if encoding == "utf-16" else b"\n"
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes(feed.join([*parts, b""]))
        assert rows_of(path, csv={"encoding": encoding}) == [("1", "a"), ("3", "ä")]


def test_no_sign_of_utf_16_but_a_line_feed_ends_a_line(tmp_path):
    """U+0A41, U+410A and their like have the byte of a line feed in them; the last two pairs have both of its bytes."""
    signs, pairs = "\u0a41\u410a\u0a0a\u000b\u2028", "\u0a41\u0100\u4100\u0a41"
    text = f"id,x\n1,{signs}\n2,b\n3,{pairs}"
    for codec in ("utf-16-le", "utf-16-be"):
        path = written(tmp_path / f"{codec}.csv", text, codec)
        assert rows_of(path, csv={"encoding": codec}) == [("1", signs), ("2", "b"), ("3", pairs)]


def test_numbers_that_are_not_written_as_declared_are_null(tmp_path):
    texts = ["1,5", "1.5", "1.234,5", "1.23,5", "1234", "-2e1", "1,2,3", "abc", ",5", "1 000", " 7 "]
    path = written(tmp_path / "t.csv", "x\n" + "\n".join(f'"{text}"' for text in texts) + "\n", "utf-8")

    def read(**csv: str) -> list:
        return [value for (value,) in rows_of(path, csv={"delimiter": ";", **csv}, kinds={"x": "real"})]

    assert read(decimal=",") == [1.5, None, None, None, 1234, -20, None, None, 0.5, None, 7]
    assert read(decimal=",", thousands=".") == [1.5, None, 1234.5, None, 1234, -20, None, None, 0.5, None, 7]
    assert read(thousands=" ") == [None, 1.5, None, None, 1234, -20, None, None, None, 1000, 7]


def test_quotes_comments_and_delimiters_are_those_that_are_declared(tmp_path):
    path = written(tmp_path / "t.csv", "# made by hand\nid:x\n1:'a:b'\n#2:c\n3:\"d\n", "utf-8")
    assert rows_of(path, csv={"delimiter": ":", "quote": "'", "comment": "#"}) == [("1", "a:b"), ("3", '"d')]
    path = written(tmp_path / "u.csv", 'id,x\n1,"a\n2,b\n', "utf-8")
    assert rows_of(path, csv={"quote": ""}) == [("1", '"a'), ("2", "b")]


def test_moments_are_read_by_their_format_and_texts_of_frames_too():
    frame = pd.DataFrame({"at": ["31/12/2024 08:05", "2024-12-31", None]})
    at = [value for (value,) in rows_of(frame, kinds={"at": "timestamp:%d/%m/%Y %H:%M"})]
    assert at == [datetime(2024, 12, 31, 8, 5), None, None]  # noqa: DTZ001 - UTC, as all moments of tables


def test_what_cannot_be_declared_is_refused_with_a_fix(tmp_path):
    path = written(tmp_path / "t.csv", "größe;x\n1;2\n", "cp1252")
    refused = [
        ({"csv": {"encodin": "utf-8"}}, "encodin"),
        ({"csv": {"encoding": "ebcdic"}}, "ebcdic"),
        ({"csv": {"decimal": ";"}}, "decimal"),
        ({"csv": {"decimal": ",", "thousands": ","}}, "same sign"),
        ({"csv": {"delimiter": "ab"}}, "one sign"),
        ({"csv": {"comment": '"'}}, "same sign"),
        ({"csv": {"null": 3}}, "null"),
        ({"csv": {"null": [f"word {number}" for number in range(1001)]}}, "1,001 words"),
        ({"csv": []}, "csv"),
        ({}, "not utf-8"),
        ({"csv": {"encoding": "latin-1"}, "kinds": {"x": "real:%d"}}, "format"),
        ({"csv": {"encoding": "latin-1"}, "kinds": {"x": "date:%d.%m"}}, "year"),
        ({"csv": {"encoding": "latin-1"}, "kinds": {"x": "date:%Q"}}, "%Q"),
    ]
    for declared, word in refused:
        with pytest.raises(DiscreetError, match=word) as caught:
            rows_of(path, **declared)
        assert caught.value.fix
    parquet = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1]}), parquet)
    with pytest.raises(DiscreetError, match="no CSV file"):
        rows_of(parquet, csv={"decimal": ","})
    with pytest.raises(DiscreetError, match="no texts"):
        rows_of(parquet, kinds={"x": "date:%d.%m.%Y"})


HEADERS = [
    ("nr;größe\n1;2\n".encode("utf-16-le"), "zero bytes", {"encoding": "utf-16"}),
    ("nr;größe\n1;2\n".encode("utf-16-be"), "zero bytes", {"encoding": "utf-16-be"}),
    ("nr;größe\n1;2\n".encode("cp1252"), "not utf-8", {"encoding": "windows-1252"}),
    ("# written by a program\nnr;größe\n1;2\n".encode(), "is a comment", {"comment": "#"}),
    ("'nr';'größe'\n'1';'2'\n".encode(), "in single quotes", {"quote": "'"}),
]


@pytest.mark.parametrize(("content", "told", "csv"), HEADERS, ids=[str(csv) for _, _, csv in HEADERS])
def test_a_first_line_that_is_written_otherwise_is_refused_with_what_to_declare(tmp_path, capsys, content, told, csv):
    """What is proposed is what works: in Python, on the command line, and in settings."""
    path = tmp_path / "export.csv"
    path.write_bytes(content)
    with pytest.raises(DiscreetError, match=told) as caught:
        rows_of(path)
    (proposed,) = re.findall(r"csv=(\{.*\})", caught.value.fix)
    assert json.loads(proposed) == csv
    assert rows_of(path, csv=csv, kinds={"größe": "integer"}) == [("1", 2)]
    words = ["init", str(path), "--person", "nr", "--epsilon", "1"]
    assert main(words) == 2
    (option,) = re.findall(r"--csv .*", capsys.readouterr().err)
    assert main([*words, *shlex.split(option)]) == 0, capsys.readouterr().err
    assert find_format(path, read_csv_format(csv)) == CsvFormat(**csv)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_a_steward_may_have_utf_16_without_a_mark_found(tmp_path, codec):
    path = written(tmp_path / "export.csv", GERMAN, codec)
    assert find_format(path, CsvFormat()).encoding == ("utf-16" if codec == "utf-16-le" else codec)


def test_a_steward_may_have_it_found(tmp_path):
    path = written(tmp_path / "export.csv", GERMAN, "cp1252")
    found = find_format(path, CsvFormat())
    assert found == CsvFormat(encoding="windows-1252", decimal=",", thousands=".", null=("NA", "n/a", "-"))
    assert offer_kinds(path, found) == {
        "Patient Nr": Kind.INTEGER,
        "Größe": Kind.REAL,
        "Kosten (€)": Kind.REAL,
        "Aufnahme": "date:%d.%m.%Y",
        "Station": Kind.TEXT,
    }
    plain = written(tmp_path / "plain.csv", "id,x,day\n1,1.5,01/02/2024\n2,2,NA\n", "utf-8")
    assert find_format(plain, CsvFormat()) == CsvFormat()  # and the days could be of two months: they stay texts


def test_what_was_declared_stands_in_the_settings_and_opens_again(tmp_path, capsys):
    path = written(tmp_path / "export.csv", GERMAN, "cp1252")
    typed = ["--csv", "encoding=windows-1252", "--csv", "decimal=,", "--csv", "thousands=.", "--csv", "null=NA,-,n/a"]
    kinds = ["--kinds", "Aufnahme=date:%d.%m.%Y", "--bounds", "Größe=50:250"]
    assert main(["init", str(path), "--person", "Patient Nr", "--epsilon", "1", *typed, *kinds, "--json"]) == 0
    json.loads(capsys.readouterr().out)
    settings = read_settings(tmp_path / "discreet.toml")
    assert settings.csv == {
        "encoding": "windows-1252",
        "decimal": ",",
        "thousands": ".",
        "null": ("NA", "-", "n/a"),
    }
    assert settings.kinds == {"Aufnahme": "date:%d.%m.%Y"}
    with discreet.open(tmp_path / "discreet.toml") as session:
        kinds = {column.name: column.kind for column in session.schema.schema.columns}
    assert (kinds["Größe"], kinds["Aufnahme"]) == (Kind.REAL, Kind.DATE)


def test_init_declares_what_it_found_if_the_steward_agrees(tmp_path, capsys):
    path = written(tmp_path / "export.csv", GERMAN, "cp1252")
    begin = ["init", str(path), "--person", "Patient Nr", "--epsilon", "1", "--kinds-from-rows"]
    assert main(begin) == 0
    capsys.readouterr()
    settings = read_settings(tmp_path / "discreet.toml")
    assert settings.csv["encoding"] == "windows-1252"
    assert settings.kinds["Aufnahme"] == "date:%d.%m.%Y"
    assert settings.kinds["Patient Nr"] is Kind.TEXT


def test_several_tables_say_it_by_their_names(tmp_path):
    a = written(tmp_path / "a.csv", "id;x\n1;1,5\n", "utf-8")
    b = written(tmp_path / "b.csv", "id,y\n1,2.5\n", "utf-8")
    towns = written(tmp_path / "towns.csv", "town;size\nA;1,5\nB;\n", "utf-8")
    with discreet.open(
        {"a": a, "b": b},
        person="id",
        bounds={"a": {"x": (0, 9)}, "b": {"y": (0, 9)}},
        csv={"a": {"decimal": ","}, "towns": {"decimal": ","}},
        public={"towns": towns},
        budget=discreet.Budget(epsilon=1),
        ledger=tmp_path / "x.ledger",
    ) as session:
        assert session._dataset.publics["towns"].find("size").kind is Kind.REAL


def test_options_are_read_back_as_they_were_given():
    given = {"encoding": "latin-1", "null": ["NA"], "comment": "#"}
    assert read_csv_format(given) == CsvFormat(encoding="latin-1", null=("NA",), comment="#")


@pytest.mark.slow
def test_init_takes_seconds_for_1500_columns(tmp_path, monkeypatch, capsys):
    """It took 28 seconds, the most of it for a comparison of all names with all."""
    names = [f"column {number}" for number in range(1500)]
    lines = [",".join(["id", *names]), *(",".join(map(str, range(row, row + 1501))) for row in range(50))]
    (tmp_path / "wide.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    begun = time.process_time()
    assert main(["init", "wide.csv", "--person", "id", "--epsilon", "1"]) == 0
    assert time.process_time() - begun < 5
    assert "1,301 more" in capsys.readouterr().out
    assert set(offer_kinds(tmp_path / "wide.csv").values()) == {Kind.INTEGER}
