# SPDX-License-Identifier: MIT
"""Gives the chapters' programs wrong input: one clear sentence, the right exit code, no file."""

import json
import os
import pathlib
import re
import resource
import struct
import tempfile
import zlib

import pytest

from test_setup import captured
from this_build import BUILD, ROOT

NO_DEVICE = 77


def programs():
    table = (ROOT / "chapters/meson.build").read_text(encoding="utf-8")
    rows = re.findall(r"^  '(\d\d_\w+)': '(\w+)',$", table, re.M)
    return [BUILD / "chapters" / program for _, program in rows]


def options_of(program):
    """The names of the program's options, as its --help lists them."""
    return set(re.findall(r"^\s+(?:-h,)?(--\w+)", run(program, "--help").stdout, re.M))


each_program = pytest.mark.parametrize("program", programs(), ids=lambda path: path.name)


def programs_with(option):
    return [program for program in programs() if option in options_of(program)]


def run(program, *options, folder=None):
    return captured([program, *options], cwd=folder, timeout=300)


@pytest.fixture(scope="module", autouse=True)
def libraries():
    """A build that lacks one of two libraries refuses options that are tested here."""
    refusal = run(programs()[0], "--json", "").stderr
    if "this build has no" in refusal:
        pytest.skip(refusal)


def pixels_of(png):
    """Width, height and the pixels, as (red, green, blue), of a PNG of 8 bits a colour, row by row.

    The PNG specification (second edition), sections 5 (chunks) and 9 (filters).
    """
    position, data = 8, b""
    while position < len(png):
        length, kind = struct.unpack(">I4s", png[position : position + 8])
        body = png[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack(">I", png[position + 8 + length : position + 12 + length])
        assert checksum == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            width, height, depth, colours, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert (depth, colours, interlace) == (8, 2, 0), body
        if kind == b"IDAT":
            data += body
        position += 12 + length
    data = zlib.decompress(data)
    above = [0] * (3 * width)
    pixels = []
    for row in range(height):
        filtered = data[row * (3 * width + 1) : (row + 1) * (3 * width + 1)]
        line = []
        for i, value in enumerate(filtered[1:]):
            left = line[i - 3] if i >= 3 else 0
            corner = above[i - 3] if i >= 3 else 0
            nearest = min(
                (left, above[i], corner), key=lambda each: abs(left + above[i] - corner - each)
            )
            guess = (0, left, above[i], (left + above[i]) // 2, nearest)[filtered[0]]
            line.append((value + guess) % 256)
        pixels += [tuple(line[i : i + 3]) for i in range(0, 3 * width, 3)]
        above = line
    return width, height, pixels


def refuses(code, *options, names, by=None):
    """Every program says one sentence that contains `names`, exits with `code`, prints no report."""
    for program in by or programs():
        with tempfile.TemporaryDirectory() as folder:
            result = run(program, *options, folder=folder)
            if result.returncode == NO_DEVICE:
                pytest.skip(result.stderr)
            assert result.returncode == code, result
            assert result.stdout == ""
            assert re.search(rf"\A{program.name}: [^\n]+\n\Z", result.stderr)
            assert names in result.stderr
            assert os.listdir(folder) == []


def test_there_are_programs():
    assert len(programs()) >= 2


@each_program
def test_the_usual_table_fits_into_80_columns_and_takes_no_time(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run(program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Less than five seconds on two cores.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 10
    if result.returncode == NO_DEVICE:
        pytest.skip(result.stderr)
    assert "median ms" in result.stdout
    wide = [line for line in result.stdout.splitlines() if len(line) > 79]
    assert wide == []


def test_a_wide_table_has_the_fastest_and_the_slowest_run():
    for option, columns in ((), 0), (("--wide",), 2):
        result = run(programs()[0], "--repeat", "1", *option)
        if result.returncode == NO_DEVICE:
            pytest.skip(result.stderr)
        (heading,) = [line for line in result.stdout.splitlines() if "median ms" in line]
        assert ("min ms" in heading) + ("max ms" in heading) == columns


def test_unknown_option():
    refuses(2, "--thread", "128", names="--thread")


def test_stray_word():
    refuses(2, "128", names="128")


def test_option_without_value():
    refuses(2, "--threads", names="--threads")


@pytest.mark.parametrize(
    "threads", ["0", "-1", "1025", "2048", "12abc", "", "1.5", "99999999999999999999"]
)
def test_threads_out_of_range(threads):
    refuses(2, "--threads", threads, names="--threads")


@pytest.mark.parametrize("elements", ["1e30", "-1", "many", "2^64", "18446744073709551616"])
def test_elements_out_of_range(elements):
    refuses(2, "--elements", elements, names="--elements")


@pytest.mark.parametrize("blocks", ["0", "-1", "2147483648"])
def test_blocks_out_of_range(blocks):
    refuses(2, "--blocks", blocks, names="--blocks")


def test_blocks_that_are_not_resident_together_are_refused_first():
    by = [program for program in programs() if program.name == "grid_barrier"]
    refuses(1, "--blocks", "100000", names="cudaErrorCooperativeLaunchTooLarge", by=by)


@pytest.mark.parametrize("repeat", ["0", "-1"])
def test_repeat_out_of_range(repeat):
    refuses(2, "--repeat", repeat, names="--repeat")


def test_unknown_variant():
    refuses(2, "--variant", "fastest", names="fastest")


def test_more_memory_than_there_is():
    # 2^40 elements of 4 bytes and more: 4 TiB.
    by = programs_with("--elements")
    assert by
    refuses(1, "--elements", "2^40", "--json", "report.json", names="memory", by=by)


def test_option_of_another_program():
    by = [program for program in programs() if program not in programs_with("--tile")]
    assert by
    refuses(2, "--tile", "8", names="--tile", by=by)
    by = [program for program in programs() if program not in programs_with("--elements")]
    refuses(2, "--elements", "8", names="--elements", by=by)


def test_picture_out_of_range():
    by = programs_with("--tile")
    assert [program.name for program in by] == ["work_queue", "work_stealing"]
    for option in ("--size", "--tile", "--iterations"):
        for value in ("0", "-1", "1e3", "many", "", "2^63", "99999999999999999999"):
            refuses(2, option, value, names=f"{option} must be a whole number", by=by)
    refuses(2, "--size", "32769", names="from 1 to 32768", by=by)
    refuses(2, "--view", "nowhere", names="--view must be one of whole, ", by=by)


def test_unwritable_picture_or_trace():
    by = programs_with("--tile")
    options = ["--trace"]
    # Without libpng --image is refused for that, whatever it names.
    if run(by[0], "--image", "no/such/folder/file").stderr.count("no/such/folder"):
        options.append("--image")
    for option in options:
        refuses(2, option, "no/such/folder/file", names="no/such/folder", by=by)
        refuses(2, option, ".", names="not a regular file", by=by)
        refuses(2, option, "", names=f"{option} needs the name of a file", by=by)
    refuses(2, "--trace", "a", "--json", "a", names="the same file", by=by)


@pytest.mark.parametrize("size, tile", [(50, 7), (5, 32768), (1, 1)])
def test_tile_that_does_not_divide_the_picture(size, tile):
    for program in programs_with("--tile"):
        result = run(program, "--size", str(size), "--tile", str(tile), "--repeat", "1")
        if result.returncode == NO_DEVICE:
            pytest.skip(result.stderr)
        assert result.returncode == 0, result
        assert re.search(r"\nall \d+ results are right\n\Z", result.stdout)


def test_picture_and_trace():
    for program in programs_with("--tile"):
        with tempfile.TemporaryDirectory() as folder:
            words = ["--size", "70", "--tile", "10", "--repeat", "1", "--trace", "trace.json"]
            result = run(program, *words, "--image", "picture.png", folder=folder)
            if result.returncode == NO_DEVICE:
                pytest.skip(result.stderr)
            if result.returncode == 2:
                assert "libpng" in result.stderr
                assert os.listdir(folder) == []
                result = run(program, *words, folder=folder)
            else:
                picture = pathlib.Path(folder, "picture.png").read_bytes()
                assert picture[:8] == b"\x89PNG\r\n\x1a\n"
                width, height, pixels = pixels_of(picture)
                assert (width, height) == (70, 70)
                # The whole set: a corner leaves at once, in the colour of the count 1; the
                # middle of the heart stays.
                assert pixels[0] == (140, 59, 44)
                assert pixels[35 * 70 + 48] == (16, 16, 16)
            assert result.returncode == 0, result
            trace = json.loads(pathlib.Path(folder, "trace.json").read_text(encoding="utf-8"))
            runs = [run["variant"] for run in trace["otherData"]["schedules"]]
            assert runs == re.findall(r"^schedule of (\w+): 49 items", result.stdout, re.M)
            for variant, name in enumerate(runs):
                bars = [
                    event
                    for event in trace["traceEvents"]
                    if event["ph"] == "X" and event["pid"] == variant
                ]
                names = {event["name"] for event in bars}
                assert names == {f"item {item}" for item in range(49)}, name
                assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in bars)
                assert min(event["ts"] for event in bars) == 0


def test_unwritable_json():
    refuses(2, "--json", "no/such/folder/report.json", names="no/such/folder")
    refuses(2, "--json", "/dev/null/report.json", names="/dev/null/report.json")


@each_program
def test_wrong_use_leaves_an_old_json_file_alone(tmp_path, program):
    old = tmp_path / "report.json"
    old.write_text("old", encoding="utf-8")
    run(program, "--json", "report.json", "--threads", "0", folder=tmp_path)
    assert old.read_text(encoding="utf-8") == "old"


def test_a_file_of_another_kind_and_a_link_are_kept():
    with tempfile.TemporaryDirectory() as folder:
        thesis = pathlib.Path(folder, "thesis.txt")
        thesis.write_text("mine", encoding="utf-8")
        link = pathlib.Path(folder, "link")
        link.symlink_to(thesis)
        by_option = {"--json": programs(), "--trace": programs_with("--trace")}
        for option, by in by_option.items():
            refuses(2, option, str(thesis), names="of another kind is there", by=by)
            refuses(2, option, str(link), "--force", names="it is a link", by=by)
        words = ["--trace", "a", "--json", "./a"]
        refuses(2, *words, names="the same file", by=programs_with("--trace"))
        assert thesis.read_text(encoding="utf-8") == "mine"
        words = ["--repeat", "1", "--json", str(thesis)]
        result = run(programs()[0], *words, "--force")
        if result.returncode == NO_DEVICE:
            pytest.skip(result.stderr)
        assert run(programs()[0], *words).returncode == 0  # its own, again
        assert sorted(os.listdir(folder)) == ["link", "thesis.txt"]


@each_program
def test_help(program):
    result = run(program, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    for option in ("--threads", "--repeat", "--variant", "--json"):
        assert option in result.stdout
    # A block per tile: chapter 08's elements and threads say how many blocks that are.
    assert ("--blocks" in result.stdout) == (program.name != "look_back_scan")
    # Chapter 05 and 07 have a size of another kind, and chapter 05 no random input.
    with_elements = program.name not in ("work_queue", "grid_barrier")
    assert ("--elements" in result.stdout) == with_elements
    assert ("--seed" in result.stdout) == (program.name != "work_queue")


@each_program
def test_json_report(tmp_path, program):
    few = ["--elements", "1000"] if "--elements" in options_of(program) else []
    words = [*few, "--repeat", "1", "--json", "report.json"]
    result = run(program, *words, folder=tmp_path)
    if result.returncode == NO_DEVICE:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result
    assert os.listdir(tmp_path) == ["report.json"]
    json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
