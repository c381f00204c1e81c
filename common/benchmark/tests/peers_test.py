# SPDX-License-Identifier: MIT
"""Which CCCL `./lab bench` compares with, and how old its pin may grow. Without a network."""

import argparse
import datetime
import types
import unittest.mock

import pytest

from engine.command.build_folder import BuildFolder
from engine.command.errors import CommandError
from lab_tool.setup import cccl
from lab_tool.verbs import benchmarks


def options(*words):
    parser = argparse.ArgumentParser()
    benchmarks.add_bench_options(parser)
    return parser.parse_args(words)


def write_headers(folder, number):
    file = folder / cccl.VERSION_FILE
    file.parent.mkdir(parents=True)
    file.write_text(f"#ifndef X\n#define CCCL_VERSION {number}\n#endif\n", encoding="utf-8")
    return folder


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A toolkit with CCCL 3.0.1, an empty .venv, and no network."""
    found = types.SimpleNamespace(venv=tmp_path / ".venv", toolkit="3000001", installed=[])
    found.headers = found.venv / cccl.HEADERS.replace("*", "3.11")

    def install(command):
        found.installed.append(command)
        return 1

    monkeypatch.setattr(cccl, "VENV", found.venv)
    monkeypatch.setattr(cccl, "output_of", lambda command, text: f"# 1\n{found.toolkit}\n")
    monkeypatch.setattr(cccl, "commands_for", lambda names: [f"pip install {names[0]}"])
    monkeypatch.setattr(cccl, "run_installation", install)
    return found


def test_the_newer_one_is_taken(machine):
    write_headers(machine.headers, 3_005_000)
    assert cccl.headers_to_take(options()) == str(machine.headers)
    assert cccl.headers_to_take(options("--toolkit-libraries")) == ""
    for number in ("3005000", "3006000", "4000000"):
        machine.toolkit = number
        assert cccl.headers_to_take(options()) == ""
    assert machine.installed == []


def test_an_older_one_of_pypi_is_replaced(machine):
    write_headers(machine.headers, 3_004_002)
    with pytest.raises(CommandError):
        cccl.headers_to_take(options())
    assert machine.installed == [f"pip install {cccl.PACKAGE}=={cccl.PINNED}"]


def test_without_a_network_one_sentence_says_how_to_go_on(machine):
    with pytest.raises(
        CommandError, match=r"^CCCL 3\.5\.0 could not be .*`--toolkit-libraries`.*\.$"
    ):
        cccl.headers_to_take(options())


def test_a_folder_of_headers(machine, tmp_path):
    folder = write_headers(tmp_path / "mine", 3_006_001)
    arguments = options("--cccl", str(folder))
    cccl.require_headers(arguments)
    assert cccl.headers_to_take(arguments) == str(folder)
    with pytest.raises(CommandError, match="these are no headers of CCCL"):
        cccl.require_headers(options("--cccl", str(tmp_path)))
    with pytest.raises(CommandError, match="give one"):
        cccl.require_headers(options("--cccl", str(folder), "--toolkit-libraries"))


def test_only_another_folder_is_configured(tmp_path):
    meson = types.SimpleNamespace(path="/no/such/meson")
    place = BuildFolder(tmp_path, {"Meson": meson})
    with (
        unittest.mock.patch.object(benchmarks, "configure") as configured,
        unittest.mock.patch.object(benchmarks, "headers_to_take", return_value="/new"),
    ):
        benchmarks.take_cccl(place, {"cccl_headers": "/new"}, options())
        configured.assert_not_called()
        benchmarks.take_cccl(place, {}, options())
    assert configured.call_args.args[0][-1] == "-Dcccl_headers=/new"


@pytest.mark.parametrize(
    "newest, days, code",
    [(cccl.PINNED, 400, 0), ("13.4.0.0.1", 60, 0), ("13.4.0.0.1", 61, 1), ("13.3.4.9.9", 400, 0)],
)
def test_a_pin_grows_old(monkeypatch, capsys, newest, days, code):
    listing = f"{cccl.PACKAGE} ({newest})\nAvailable versions: {newest}, 13.0.50\n"
    monkeypatch.setattr(cccl, "output_of", lambda command: listing)
    today = cccl.PINNED_ON + datetime.timedelta(days=days)
    assert cccl.check_peers(today) == code
    said = capsys.readouterr().out
    assert f"{days} days ago; the newest is {newest}\n" in said
    assert ("pin it in lab_tool/setup/cccl.py" in said) == bool(code)


def test_a_pin_is_not_judged_without_a_list(monkeypatch):
    monkeypatch.setattr(cccl, "output_of", lambda command: None)
    with pytest.raises(CommandError, match="is there a network"):
        cccl.check_peers()
