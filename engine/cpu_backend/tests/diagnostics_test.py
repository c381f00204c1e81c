# SPDX-License-Identifier: MIT
"""The records of what goes wrong in a kernel: what the backend writes, and what is read of a file that
anybody may have written."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from engine.command.diagnostics import (
    LONGEST_LINE,
    MOST_BYTES,
    MOST_RECORDS,
    records_in,
    records_of,
)
from engine.translate.words import TABLE, rows
from test_setup import captured

PROGRAM = os.environ.get("DIAGNOSIS_PROGRAM")
FAULT = {
    "kind": "fault",
    "block": [1, 0, 0],
    "thread": [5, 2, 0],
    "what": "invalid_access_of_size",
    "space": "global",
    "access": "write",
    "bytes": 4,
    "why": "accessed_memory",
    "accessed": "0x7f00",
    "where": "past_end_of_allocation",
    "distance": 1,
    "size": 400,
    "allocated_at": {"file": "of_ours.cpp", "line": 3},
    "at": {"file": "/work/own.cu", "line": 12, "text": "  y[i] = 1;"},
}
SENTENCE = (
    "block 1, thread (5,2,0): Invalid __global__ write of size 4 bytes at line 12: 1 byte past the end "
    "of an allocation of 400 bytes"
)


def line_of(record):
    return json.dumps(record).encode() + b"\n"


def with_field(name, value):
    return line_of({**FAULT, name: value})


def test_a_student_reads_it_without_addresses_and_places_of_the_course():
    (record,) = records_in(line_of(FAULT))
    assert record.sentence == SENTENCE
    assert record.place().code == "y[i] = 1;"


def test_a_refusal_of_the_translator():
    at = {"file": "own.cu", "line": 3}
    record = {"kind": "refused_source", "code": "launch_of_no_kernel", "at": at}
    (found,) = records_in(line_of({**record, "arguments": {"name": "f"}}))
    assert "f is launched, and it is no kernel" in found.sentence
    for arguments in ({}, {"name": []}, {"name": {"f": 1}}, [], None):
        assert records_in(line_of({**record, "arguments": arguments})) == ()
    assert records_in(line_of({**record, "code": "another", "arguments": {}})) == ()


NO_RECORDS = {
    "no JSON": b"{",
    "no object": b"[1, 2]\n",
    "a number": b"1\n",
    "no kind": b"{}\n",
    "another kind": line_of({**FAULT, "kind": "verdict", "passed": True}),
    "a kind that is a list": line_of({**FAULT, "kind": []}),
    "nested": b'{"kind":' + b"[" * 10_000,
    "no UTF-8": b'\xff\xfe{"kind":\x00"fault"}',
    "a long line": with_field("unknown", "x" * LONGEST_LINE),
    "no block": line_of({name: FAULT[name] for name in FAULT if name != "block"}),
    "two numbers": with_field("block", [1, 0]),
    "a negative block": with_field("block", [-1, 0, 0]),
    "a block that is none": with_field("block", [True, 0, 0]),
    "a block that is a text": with_field("block", "123"),
    "a negative line": with_field("at", {"file": "own.cu", "line": -12}),
    "a line that is a text": with_field("at", {"file": "own.cu", "line": "12"}),
    "a large line": with_field("at", {"file": "own.cu", "line": 10**400}),
    "a file that is none": with_field("at", {"file": 1, "line": 12}),
    "a long file": with_field("at", {"file": "x" * 5000, "line": 12}),
    "half a byte": with_field("bytes", 0.5),
    "endless": line_of({"kind": "never_ends", "seconds": float("inf")}),
    "no number": line_of({"kind": "never_ends", "seconds": float("nan")}),
    "an address of words": with_field("accessed", "all results are right"),
    "another word": with_field("access", "all results are right"),
    "a sentence instead of its row": with_field("why", "all results are right"),
    "a row that names itself": with_field("why", "fault"),
}


@pytest.mark.parametrize("line", NO_RECORDS.values(), ids=NO_RECORDS)
def test_what_is_no_record_is_left_out_and_the_rest_read(line):
    assert records_in(line) == ()
    (record,) = records_in(line + b"\n" + line_of(FAULT))
    assert record.sentence == SENTENCE


def test_no_letter_changes_the_screen():
    text = "\x1b[2J\x00\r\n\u202e\u2028</script>"
    (record,) = records_in(line_of({**FAULT, "at": {"file": text, "line": 12, "text": text}}))
    for words in (record.sentence, record.place().code):
        assert words.isprintable(), words


def test_so_many_are_read_and_no_more():
    assert len(records_in(line_of(FAULT) * (MOST_RECORDS + 1))) == MOST_RECORDS


def test_a_file_that_is_none_or_too_large():
    with tempfile.TemporaryDirectory() as folder:
        real, other = pathlib.Path(folder, "real"), pathlib.Path(folder, "other")
        real.write_bytes(line_of(FAULT))
        assert len(records_of(real)) == 1
        for make in (
            lambda: other.symlink_to(real),
            lambda: os.mkfifo(other),
            other.mkdir,
            lambda: None,
        ):
            make()
            assert records_of(other) == ()
            if other.is_dir():
                other.rmdir()
            else:
                other.unlink(missing_ok=True)
        with open(real, "ab") as file:
            file.truncate(1 << 30)
        assert len(records_of(real)) == 1
        with open(real, "r+b") as file:
            file.seek(MOST_BYTES)
            file.write(b"\n" + line_of(FAULT))
        assert len(records_of(real)) == 1


def test_the_table_has_one_row_for_each_name():
    names = re.findall(r'^\{"([\w.]+)"', TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) == len(set(names))
    assert names == list(rows())


@pytest.fixture
def diagnostics(tmp_path):
    if not PROGRAM:
        pytest.skip("only the CPU backend says what went wrong")
    return tmp_path / "diagnostics"


def run_program(diagnostics, mistake, file=None):
    diagnostics.unlink(missing_ok=True)
    return captured(
        [PROGRAM, mistake],
        env={
            **os.environ,
            "LAB_SMS": "1",  # of two blocks that fail at once either one may be told
            "LAB_TIMEOUT": "1",
            "LAB_REPORT_UNASKED": "1",
            "LAB_DIAGNOSTICS": str(file or diagnostics),
        },
        errors="replace",
        timeout=100,
    )


def test_each_mistake_is_recorded_as_it_is_said(diagnostics):
    mistakes = subprocess.run(
        [PROGRAM, "--list"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(mistakes) > 40
    kinds = set()
    for mistake in mistakes:
        if mistake.startswith("long_"):
            continue  # a matter of time
        said = run_program(diagnostics, mistake).stderr
        content = diagnostics.read_bytes() if diagnostics.exists() else b""
        records = records_in(content)
        assert len(records) == content.count(b"\n"), content
        launches = [record for record in records if record.place("launched_at")]
        assert len(launches) == said.count("kernel launched at "), said
        assert bool(records) == bool(said), said
        for record in records:
            assert_says(said, record)
        kinds |= {record.kind for record in records}
    expected = {"fault", "never_ends", "waiting", "running", "assertion", "refused_launch"}
    assert expected <= kinds


def assert_says(said, record):
    """Every field is in the text, in the backend's form of it."""
    for name, value in record.fields.items():
        if name in ("at", "other_at", "launched_at", "allocated_at", "freed_at"):
            assert f"{value.file}:{value.line}" in said
            assert value.code in (said if name == "at" else value.code)
        elif name in ("block", "thread", "other_thread"):
            assert f"{name.split('_')[-1]} ({value.x},{value.y},{value.z})" in said
        elif name in ("address", "accessed", "operation", "exception", "expression"):
            assert value in said
        elif name in ("bytes", "distance", "size", "more", "lane"):
            assert re.search(rf"\b{value}\b", said)


@pytest.mark.parametrize("file", ("/dev/full", ".", "no_folder/file"))
def test_a_file_that_takes_nothing_changes_nothing(file, diagnostics):
    usual = run_program(diagnostics, "null_pointer")
    file = diagnostics.parent / file
    result = run_program(diagnostics, "null_pointer", file)
    assert (result.returncode, result.stdout) == (usual.returncode, usual.stdout)
    about, *rest = result.stderr.splitlines()
    assert re.search(rf"^LAB_DIAGNOSTICS: {file} can't be written: \w", about)
    assert rest == usual.stderr.splitlines()


def test_without_a_file_nothing_is_said_of_it():
    environment = {name: value for name, value in os.environ.items() if name != "LAB_DIAGNOSTICS"}
    result = captured([PROGRAM, "null_pointer"], env=environment, timeout=100)
    assert "null pointer" in result.stderr
    assert "LAB_DIAGNOSTICS" not in result.stderr
