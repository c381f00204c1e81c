# SPDX-License-Identifier: MIT
"""What lab and its programs write for a terminal: commands that can be copied, and no control character
of a name or a source."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from unittest import mock

import pytest

from engine.command import output
from engine.command.build_folder import settings_of
from lab_runs import lab, on_a_terminal
from lab_tool import command_line
from lab_tool.grading import autograders
from lab_tool.setup import packages, probe, set_up
from this_build import BUILD, ROOT

NOBODY = 65534
SYSTEMS = {
    "debian_13": {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian 13"},
    "debian_12": {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": "Debian 12"},
    "ubuntu_24": {"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04"},
}
MIRROR = packages.Source("http://mirror.example/debian/", "bookworm", "main")
COMMANDS = {
    "run": lambda: command_line.main(["run", "--backend", "cpu"]),
    "test": lambda: command_line.main(["test", "--backend", "cpu"]),
    "setup": lambda: command_line.main(["setup", "--backend", "cpu"]),
    "autograder": lambda: autograders.main(["autolab", "."]),
}
SUDO = """\
#!/bin/sh
{ for word; do printf '[%s]' "$word"; done; echo; } >> "$0.record"
[ "$1" != tee ] || cat >> "$0.record"
"""

# A colour, a title, a clearing, DEL, a C1 control, a letter that turns the direction, and a bell.
EVIL = "a\x1b[31mb\x1b]0;t\x1b[2J\x7f\x9b1m\u202e\x07c"
SHOWN = r"a\x1b[31mb\x1b]0;t\x1b[2J\x7f\x9b1m\u202e\x07c"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
KERNEL = f"""\
__global__ void kernel(int* p) {{ /* {EVIL} */ p[WHERE] = static_cast<int>(threadIdx.x); }}
int main() {{
  int* p;
  if (cudaMalloc(&p, 4) != cudaSuccess) return 77;
  kernel<<<1, 2>>>(p);
  return cudaDeviceSynchronize() != cudaSuccess;
}}
"""


@pytest.fixture(name="folder")
def folder_for_all():
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield pathlib.Path(name)


def printed_without_rights(system, act, missing=("g++",)):
    """What act() prints for a user of this system who may install nothing."""
    here = {
        each.name: set_up.Found(each.minimum, "/x") for each in set_up.requirements.REQUIREMENTS
    }
    here = {} if "g++" in missing else {k: v for k, v in here.items() if k not in missing}
    with contextlib.ExitStack() as patches:
        for module, name, value in (
            (set_up, "STAMP", ROOT / "no stamp"),
            (probe, "look_around", lambda: here),
            (probe, "seen_by_the_system_alone", lambda *_: []),
            (set_up, "operating_system", lambda: system),
            (set_up, "makes_virtual_environments", lambda: True),
            (packages, "makes_virtual_environments", lambda: False),
            (packages, "sources", lambda: [MIRROR]),
            (packages, "output_of", lambda _: None),
            (os, "geteuid", lambda: NOBODY),
            (set_up.shutil, "which", lambda name: f"/usr/bin/{name}"),
            (autograders, "SYSTEMS", {"autolab": lambda _: set_up.set_up("cpu")}),
        ):
            patches.enter_context(mock.patch.object(module, name, value))
        printed = patches.enter_context(contextlib.redirect_stderr(io.StringIO()))
        assert act() == 1
    return printed.getvalue()


def handed_to_sudo(commands, folder):
    """What sudo gets if a user without rights copies the commands into bash."""
    (folder / "sudo").write_text(SUDO)
    (folder / "sudo").chmod(0o755)
    is_root = os.geteuid() == 0
    shell = subprocess.run(
        ["bash"],
        input=commands,
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root else {}),
    )
    assert (shell.returncode, shell.stdout, shell.stderr) == (0, "", ""), commands
    return (folder / "sudo.record").read_text().splitlines()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_commands_for_somebody_without_rights_can_be_copied(system, command, folder):
    printed = printed_without_rights(SYSTEMS[system], COMMANDS[command])
    sentence, commands = printed.split("then run lab again:")
    assert "\n" not in sentence
    *added, update, install = handed_to_sudo(commands, folder)
    assert update == "[apt-get][update]"
    installed = install.removeprefix("[env][DEBIAN_FRONTEND=noninteractive][apt-get][install][-y]")
    assert installed.startswith("[--no-install-recommends][g++]")
    assert ("[python3-venv]" in installed) == (system == "ubuntu_24")
    assert ("[catch2/bookworm-backports]" in installed) == (system == "debian_12")
    if system == "debian_12":
        assert added[:3] == [
            f"[tee][{packages.BACKPORTS_FILE}]",
            "Types: deb",
            "URIs: http://mirror.example/debian/",
        ]


def test_commands_for_this_folder_alone_can_be_copied():
    act = COMMANDS["setup"]
    printed = printed_without_rights(SYSTEMS["debian_13"], act, ("Meson", "Catch2"))
    _, commands = printed.split("\nOr, if nobody here may, install it into this folder alone:\n")
    assert subprocess.run(["bash", "-n"], input=commands, text=True, check=False).returncode == 0
    *first, last = commands.splitlines()
    assert all(line.startswith("  ") and line.endswith(" &&") for line in first)
    assert last.endswith(" wrap install catch2")


@pytest.mark.parametrize(
    "text, shown",
    [
        (EVIL, SHOWN),
        ("two\nlines\tand a tab\r", r"two\nlines\tand a tab\r"),
        ("K\u00fcche \u65b0\u3000\U0001f600\u00a0e\u0301", None),
        ("\udcff", r"\udcff"),  # a byte of a name that is no UTF-8
    ],
    ids=["controls", "lines", "letters", "bytes"],
)
def test_what_a_terminal_may_obey_is_written_as_python_does(text, shown):
    assert output.escaped(text) == (text if shown is None else shown)


def test_a_problem_has_its_own_lines_and_no_others(capsys):
    output.say_problem("no file a\nb; do this:", "  first &&", "  second\n\x1b[31m")
    lines = [r"no file a\nb; do this:", "  first &&", r"  second\n\x1b[31m"]
    assert capsys.readouterr().err.partition(": ")[2].splitlines() == lines


@pytest.mark.parametrize(
    "words, text",
    [
        (["run", f"{EVIL}.cu"], None),
        (["run", f"{EVIL}.cu"], "int main() {}\n"),
        (["run", "own.cu"], f'int main() {{ int x = "{EVIL}"; }}\n'),
        (["run", "own.cu", "--verbose"], f'int main() {{ int x = "{EVIL}"; }}\n'),
        (["run", "own.cu", "-DWHERE=1<<28"], KERNEL),
        (["racecheck", "own.cu", "-DWHERE=0"], KERNEL),
        (["prove", "own.cu", "-DWHERE=0"], KERNEL),
        (["run", "01", "--", f"--{EVIL}"], None),
    ],
    ids=["no file", "name", "compiler", "verbose", "fault", "race", "prove", "option of a program"],
)
def test_no_control_character_of_somebody_else_reaches_the_terminal(words, text, tmp_path):
    if settings_of(BUILD)["backend"] != "cpu" and words[-1].startswith("-DWHERE"):
        pytest.skip("a GPU names no line")
    if text is not None:
        (tmp_path / words[1]).write_text(text)
    words = [*words[:1], "--build", str(BUILD), *words[1:]]
    result = lab(*words, folder=tmp_path)
    printed = result.stdout + result.stderr
    assert SHOWN in printed
    assert not CONTROLS.search(printed)


def test_only_the_colours_of_the_compiler_and_of_lab_reach_a_terminal(tmp_path):
    (tmp_path / "own.cu").write_text(f'int main() {{ int x = "{EVIL}"; }}\n')
    command = [sys.executable, str(ROOT / "lab"), "run", "own.cu", "--build", str(BUILD)]
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    printed, code = on_a_terminal(command, environment, tmp_path)
    assert code == 1
    own = rf"{output.COMPILERS_COLOURS}|\x1b\[31mlab:\x1b\[0m|\r\n|\r[^\r\n]*\x1b\[K"
    assert not CONTROLS.search(re.sub(own, "", printed)), printed
    assert r"\x1b]0;t\x1b[2J\x7f\x9b1m" in printed
