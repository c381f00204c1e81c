# SPDX-License-Identifier: MIT
"""lab's decisions: what to install and how, which backend, and how tests are counted."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import sys
import tempfile
from unittest import mock

import pytest

from engine.command import build_folder, cudacheck
from engine.command.errors import CommandError
from lab_tool.builds import backends, build_folders
from lab_tool.chapters import all_chapters
from lab_tool.setup import packages, probe, requirements, set_up
from lab_tool.setup.packages import (
    JSONSCHEMA,
    PYTEST,
    VENV_PYTHON,
    PythonPackage,
    installation,
    python_with,
)
from lab_tool.verbs import machine
from test_setup import captured
from this_build import ROOT

DEBIAN_12 = {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
DEBIAN_13 = {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
UBUNTU_24 = {"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04.1 LTS"}
UBUNTU_22 = {"ID": "ubuntu", "VERSION_ID": "22.04", "PRETTY_NAME": "Ubuntu 22.04.4 LTS"}
FEDORA = {"ID": "fedora", "VERSION_ID": "41", "PRETTY_NAME": "Fedora Linux 41"}

EVERYTHING = [item.name for item in requirements.REQUIREMENTS]
MIRROR = packages.Source("http://mirror.example/debian/", "bookworm", "main")


def test_are_what_apt_says():
    answer = (
        "http://mirror.example/debian/ bookworm main\n"
        "http://mirror.example/debian/ bookworm main\n"  # once for each architecture
        "http://mirror.example/debian-security/ bookworm-security main\n"
    )
    with mock.patch.object(packages, "output_of", return_value=answer):
        assert packages.sources() == [
            MIRROR,
            packages.Source("http://mirror.example/debian-security/", "bookworm-security", "main"),
        ]


def test_without_apt_there_are_none():
    with mock.patch.object(packages, "output_of", return_value=None):
        assert packages.sources() == []


@pytest.mark.skipif(not shutil.which("apt-get"), reason="apt is not here")
def test_every_format_that_apt_reads():
    """apt itself reads these files, in a folder of our own and before any `apt-get update`."""
    files = {
        "sources.list": "deb [arch=amd64,arm64] http://one.example/debian bookworm main contrib"
        "  # a comment\ndeb-src http://one.example/debian bookworm main\n",
        "sources.list.d/two.sources": "Types: deb deb-src\nURIs: http://two.example/debian\n"
        "# a comment\nsuites: bookworm bookworm-updates\nComponents: main\n"
        "\nEnabled: no\nTypes: deb\nURIs: http://off.example\nSuites: sid\nComponents: main\n",
        "sources.list.d/old.list.disabled": "deb http://old.example bookworm main\n",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in files.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "lists" / "partial").mkdir(parents=True)
        own = folder / "apt.conf"
        own.write_text(f'Dir::Etc "{name}/"; Dir::State::Lists "{name}/lists";')
        with mock.patch.dict(os.environ, {"APT_CONFIG": str(own)}):
            found = packages.sources()
    assert {(source.uri, source.suite, source.component) for source in found} == {
        ("http://one.example/debian/", "bookworm", "main"),
        ("http://one.example/debian/", "bookworm", "contrib"),
        ("http://two.example/debian/", "bookworm", "main"),
        ("http://two.example/debian/", "bookworm-updates", "main"),
    }


def test_come_from_the_mirror_that_apt_uses():
    with mock.patch.object(packages.os.path, "exists", return_value=True):
        (command,) = packages.backports_commands([MIRROR], "sudo ")
    assert command == (
        r"printf '%s\n' 'Types: deb' 'URIs: http://mirror.example/debian/' "
        "'Suites: bookworm-backports' 'Components: main' "
        "'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' | "
        "sudo tee /etc/apt/sources.list.d/bookworm-backports.sources"
    )


def test_are_left_alone_where_they_are():
    there = MIRROR._replace(suite="bookworm-backports")
    assert packages.backports_commands([MIRROR, there], "") == []


@pytest.mark.parametrize(
    "sources", [[], [MIRROR._replace(suite="bookworm-security")]], ids=["none", "another_suite"]
)
def test_without_any_mirror(sources):
    with pytest.raises(CommandError, match="backports"):
        packages.backports_commands(sources, "")


def commands(missing, system):
    with mock.patch.object(packages, "sources", lambda: [MIRROR]):
        return packages.apt_commands(missing, system, "")


def test_debian_12_takes_two_packages_from_backports():
    add, update, install = commands(EVERYTHING, DEBIAN_12)
    assert "Suites: bookworm-backports" in add
    assert update == "apt-get update"
    assert install.endswith(
        " g++ meson/bookworm-backports ninja-build pkg-config catch2/bookworm-backports "
        "libcli11-dev nlohmann-json3-dev"
    ), install


def test_debian_12_without_need_of_backports():
    _, install = commands(["CLI11"], DEBIAN_12)
    assert install.endswith("apt-get install -y --no-install-recommends libcli11-dev"), install


def test_debian_13():
    _, install = commands(EVERYTHING, DEBIAN_13)
    assert " meson ninja-build pkg-config catch2 " in install


def test_ubuntu_has_no_meson_that_is_new_enough():
    with mock.patch.object(packages, "makes_virtual_environments", lambda: False):
        _, install = commands(EVERYTHING, UBUNTU_24)
    assert "meson" not in install
    assert install.endswith(" python3-venv"), install
    assert commands(["Meson"], {**UBUNTU_24, "VERSION_ID": "25.04"})[1].split()[-1] == "meson"


def test_systems_that_lab_installs_on():
    with mock.patch.object(shutil, "which", lambda name: f"/usr/bin/{name}"):
        assert all(
            map(requirements.installs_with_apt, (DEBIAN_12, DEBIAN_13, UBUNTU_24, {"ID": "debian"}))
        )
        assert not any(map(requirements.installs_with_apt, (UBUNTU_22, FEDORA)))


def test_without_apt_get_on_path():
    with (
        mock.patch.object(shutil, "which", lambda name: None),
        mock.patch.object(set_up, "operating_system", lambda: DEBIAN_13),
        pytest.raises(CommandError) as raised,
    ):
        set_up.install(["pkg-config"], {})
    assert "lab installs with apt-get, which is not on PATH" in str(raised.value)
    assert "Debian" not in str(raised.value)


def install(missing, system, user, sudo, here=()):
    """What install() runs, and the message it fails with."""
    ran = []
    with contextlib.ExitStack() as patches:
        for module, name, value in (
            (set_up, "operating_system", lambda: system),
            (set_up, "run_installation", lambda command: ran.append(command) or 0),
            (set_up, "makes_virtual_environments", lambda: True),
            (packages, "makes_virtual_environments", lambda: True),
            (packages, "VENV", pathlib.Path("/nowhere/.venv")),
            (packages, "sources", lambda: [MIRROR]),
            (packages, "output_of", lambda command: "" if sudo and command[0] == "sudo" else None),
            (os, "geteuid", lambda: user),
            (shutil, "which", lambda name: f"/usr/bin/{name}"),
        ):
            patches.enter_context(mock.patch.object(module, name, value))
        printed = patches.enter_context(contextlib.redirect_stderr(io.StringIO()))
        try:
            set_up.install(missing, dict(here))
        except CommandError as problem:
            return ran, str(problem), problem.code
    for command in ran:
        assert command in printed.getvalue()  # printed before it is run
    return ran, "", 0


def test_as_root():
    ran, _, code = install(["CLI11"], DEBIAN_13, user=0, sudo=False)
    assert (code, ran[0]) == (0, "apt-get update")


def test_libpng_comes_along_where_it_is_not_here():
    ran, _, _ = install(["CLI11"], DEBIAN_13, user=0, sudo=False)
    assert ran[1].endswith(" libcli11-dev libpng-dev"), ran
    here = {"libpng": requirements.Found((1, 6, 39), "/usr/include/png.h")}
    ran, _, _ = install(["CLI11"], DEBIAN_13, user=0, sudo=False, here=here)
    assert ran[1].endswith(" libcli11-dev"), ran


def test_with_passwordless_sudo():
    ran, _, code = install(["CLI11"], DEBIAN_13, user=1000, sudo=True)
    assert (code, ran[0]) == (0, "sudo apt-get update")


def test_without_rights_nothing_is_run_and_the_command_is_said():
    ran, message, code = install(EVERYTHING, DEBIAN_12, user=1000, sudo=False)
    assert (ran, code) == ([], 1)
    for words in ("sudo tee /etc/apt", "sudo apt-get update", "apt-get install", "Catch2 3.4.0"):
        assert words in message
    assert "into this folder" not in message  # a compiler is missing, too


def test_without_rights_the_way_without_any_is_said():
    ran, message, code = install(["Meson", "Catch2"], DEBIAN_12, user=1000, sudo=False)
    assert (ran, code) == ([], 1)
    assert "sudo apt-get update" in message
    assert "/.venv/bin/meson wrap install catch2" in message


def test_without_rights_meson_and_ninja_come_from_pypi():
    ran, _, code = install(["Meson", "Ninja"], DEBIAN_13, user=1000, sudo=False)
    assert code == 0
    assert "-m venv" in ran[0]
    assert "'meson>=1.4.0,<2' ninja" in ran[1]


def test_ubuntu_takes_meson_from_pypi_and_the_rest_from_apt():
    ran, _, code = install(["Meson", "CLI11"], UBUNTU_24, user=0, sudo=False)
    assert code == 0
    assert ran[1].endswith(" libcli11-dev libpng-dev"), ran
    assert "pip install --quiet 'meson>=1.4.0,<2'" in ran[3]


@pytest.mark.parametrize("system", [FEDORA, UBUNTU_22], ids=["fedora", "ubuntu_22"])
def test_other_systems_take_everything_into_the_folder(system):
    ran, _, code = install(["Meson", "Catch2", "nlohmann_json"], system, user=1000, sudo=False)
    assert code == 0
    assert "pip install --quiet 'meson>=1.4.0,<2'" in ran[1]
    assert "mkdir -p" in ran[2]
    assert [command.partition("meson wrap ")[2] for command in ran[3:]] == [
        "install catch2",
        "install nlohmann_json",
    ]


def test_with_a_meson_that_is_here():
    here = {"Meson": requirements.Found((1, 7, 0), "/opt/my tools/meson")}
    ran, _, _ = install(["CLI11"], FEDORA, user=1000, sudo=False, here=here)
    assert ran[1].endswith(" && '/opt/my tools/meson' wrap install cli11"), ran


def test_other_systems_get_the_list():
    for system in (FEDORA, UBUNTU_22, {"ID": "Darwin", "PRETTY_NAME": "Darwin 24.1"}):
        here = {"Meson": requirements.Found((1, 0, 1), "/usr/bin/meson")}
        missing = ["Meson", "Catch2"]
        if system["ID"] != "Darwin":
            missing.append("pkg-config")
        ran, message, code = install(missing, system, user=0, sudo=False, here=here)
        assert (ran, code) == ([], 1)
        assert "Meson 1.4.0 (1.0.1 is here), Catch2 3.4.0" in message
        assert system["PRETTY_NAME"] in message


# One sentence says what to do, and nothing is left half-installed.


def fails(venv):
    """The message of an installation whose last command fails, as without a network."""

    def run(command):
        if " -m venv " in command:
            venv.mkdir()
            return 0
        return 1

    with contextlib.ExitStack() as patches:
        for module, name, value in (
            (set_up, "operating_system", lambda: FEDORA),
            (set_up, "run_installation", run),
            (set_up, "makes_virtual_environments", lambda: True),
            (set_up, "VENV", venv),
            (packages, "VENV", venv),
            (packages, "output_of", lambda command: "pip 25"),
        ):
            patches.enter_context(mock.patch.object(module, name, value))
        patches.enter_context(contextlib.redirect_stderr(io.StringIO()))
        with pytest.raises(CommandError) as caught:
            set_up.install(["Meson"], {})
    return str(caught.value)


def test_behind_a_proxy_that_does_not_answer():
    proxy = {"https_proxy": "http://me:secret@127.0.0.1:9"}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, proxy):
        message = fails(pathlib.Path(folder, ".venv"))
    assert "this command failed, and its own message is above: " in message
    assert re.search("; the proxy in .*https_proxy.* may be what does not answer: ", message), (
        message
    )
    assert "secret" not in message
    assert "\n" not in message


def test_without_a_network():
    without = dict.fromkeys(set_up.PROXIES, "")
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, without):
        venv = pathlib.Path(folder, ".venv")
        message = fails(venv)
        assert not venv.exists()
    assert "if there is no network, connect this machine" in message
    assert "behind a proxy set http_proxy and https_proxy" in message
    assert "\n" not in message


def test_after_a_dpkg_that_was_interrupted():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tmp.i", "0001"):
            pathlib.Path(folder, name).touch()
            with contextlib.ExitStack() as patches:
                for module, name, value in (
                    (packages, "DPKGS_UPDATES", folder),
                    (packages, "output_of", lambda command: ""),
                    (os, "geteuid", lambda: 1000),
                    (shutil, "which", lambda name: f"/usr/bin/{name}"),
                    (set_up, "operating_system", lambda: DEBIAN_13),
                    (set_up, "run_installation", lambda command: "apt-get install" in command),
                ):
                    patches.enter_context(mock.patch.object(module, name, value))
                patches.enter_context(contextlib.redirect_stderr(io.StringIO()))
                with pytest.raises(CommandError) as caught:
                    set_up.install(["CLI11"], {})
            message = str(caught.value)
            has_journal = os.path.exists(f"{folder}/0001")
            assert ("network" not in message) == has_journal, message
            assert ("run `sudo dpkg --configure -a`, and run" in message) == has_journal


def test_a_venv_that_was_there_stays():
    with tempfile.TemporaryDirectory() as folder:
        venv = pathlib.Path(folder, ".venv")
        venv.mkdir()
        fails(venv)
        assert venv.exists()


def free(mebibytes):
    usage = shutil.disk_usage(".")._replace(free=mebibytes << 20)
    return mock.patch.object(shutil, "disk_usage", lambda folder: usage)


def test_a_full_disk():
    with free(12), pytest.raises(CommandError, match=r"12 MiB left, .* 300 MiB: make room"):
        build_folders.require_free_space(ROOT)
    with free(400):
        build_folders.require_free_space(ROOT)


def test_the_doctor_names_a_full_disk():
    with free(12), contextlib.redirect_stdout(io.StringIO()) as printed:
        machine.doctor(mock.Mock(choice=False))
    assert re.search(r"disk +12 MiB free +too little for a first build", printed.getvalue())


def test_cudacheck_says_what_to_set():
    kept = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")
    }
    with (
        mock.patch.dict(os.environ, kept, clear=True),
        mock.patch("pwd.getpwuid", side_effect=KeyError("no such user")),
        pytest.raises(CommandError) as caught,
    ):
        cudacheck.default_build_folder()
    said = "there is no home folder to build in: set HOME, or name a folder with --build."
    assert (str(caught.value), caught.value.code) == (said, 2)


def found_wraps(text):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "catch2.wrap").write_text(text, encoding="utf-8")
        with mock.patch.object(probe, "FOLDER", folder):
            return probe.found_wraps(), probe.wrap_commands(["Catch2", "CLI11"], "meson")[1:]


def test_the_version_is_that_of_the_sources():
    found, _ = found_wraps("[wrap-file]\ndirectory = Catch2-3.7.1\n[provide]\ncatch2 = it\n")
    assert [(name, each.version) for name, each in found.items()] == [("Catch2", (3, 7, 1))]


def test_one_that_is_here_is_updated():
    _, commands = found_wraps("[wrap-file]\ndirectory = Catch2-2.13.1\n")
    assert [command.partition(" wrap ")[2] for command in commands] == [
        "update catch2",
        "install cli11",
    ]


@pytest.mark.parametrize(
    "text", ["", "directory = 1", "[wrap-file]\nurl = x", "[wrap-file\n", "\0"]
)
def test_what_is_no_wrap_is_not_found(text):
    assert found_wraps(text)[0] == {}


@pytest.mark.parametrize(
    "letter, name", [("'", "'"), ("\\", "\\"), ("\n", "a line feed"), (":", ":")]
)
def test_what_meson_or_ninja_can_not_take_is_one_sentence(letter, name):
    with pytest.raises(CommandError) as raised:
        build_folder.require_usable_path(pathlib.Path(f"/home/a{letter}b"))
    assert f"Meson and Ninja can't take: {name}; move" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_other_letter():
    build_folder.require_usable_path(pathlib.Path("/home/K\u00fcche \u65b0 $x#%@(=,)~+-_."))


class Shadows:
    """Programs that come first on PATH and are too old, with good ones after them."""

    def __init__(self, folder):
        folder = folder
        self.old, self.good = folder / "old", folder / "good"
        for folder, versions in (
            (self.old, ("1.0.1", "1.5.0", 9)),
            (self.good, ("1.7.0", "1.11.1", 13)),
        ):
            folder.mkdir()
            meson, ninja, compiler = versions
            self.write(folder / "meson", f"echo {meson}")
            self.write(folder / "ninja", f"echo {ninja}")
            self.write(folder / "c++", f"echo lab_probe gcc {compiler} 1 0")

    def write(self, path, line):
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)


@pytest.fixture
def shadows(tmp_path, monkeypatch):
    made = Shadows(tmp_path)
    for name, value in (("PATH", f"{made.old}:{made.good}:/nowhere"), ("CXX", ""), ("NINJA", "")):
        monkeypatch.setenv(name, value)
    return made


def test_the_good_one_is_taken_and_the_old_one_is_named(shadows):
    here = probe.look_around()
    for name, file in (("Meson", "meson"), ("Ninja", "ninja"), ("C++ compiler", "c++")):
        assert here[name].path == str(shadows.good / file)
        assert here[name].shadow == str(shadows.old / file)
    assert probe.cxx_command() == [str(shadows.good / "c++")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        machine.say_requirements(here, [])
    says = f"{shadows.good}/meson; {shadows.old}/meson comes first on PATH and is too old\n"
    assert says in printed.getvalue()
    set_up.tell_meson_of(here)
    assert os.environ["NINJA"] == str(shadows.good / "ninja")
    assert os.environ["CXX"] == str(shadows.good / "c++")


def test_nothing_is_said_of_an_old_one_that_comes_later(shadows):
    os.environ["PATH"] = f"{shadows.good}:{shadows.old}"
    here = probe.look_around()
    assert {here[name].shadow for name in ("Meson", "Ninja", "C++ compiler")} == {""}
    assert probe.cxx_command() == ["c++"]
    set_up.tell_meson_of(here)
    assert (os.environ["NINJA"], os.environ["CXX"]) == ("", "")


def test_without_a_good_one_the_old_one_is_too_old(shadows):
    os.environ["PATH"] = str(shadows.old)
    here = probe.look_around()
    assert requirements.missing_from(here, "cpu")[:3] == ["C++ compiler", "Meson", "Ninja"]


def test_a_compiler_that_looks_into_its_own_environment_alone(shadows):
    os.environ["PATH"] = str(shadows.good)
    system = shadows.old / "c++"
    shadows.write(system, "echo lab_probe gcc 13 1 0; echo lab_probe Catch2 3 7 1")
    with (
        mock.patch.object(probe, "SYSTEM_COMPILER", str(system)),
        mock.patch.object(set_up, "STAMP", shadows.old / "no stamp"),
        pytest.raises(CommandError) as raised,
    ):
        set_up.set_up("cpu")
    assert f"the compiler {shadows.good}/c++ does not find Catch2, which {system} does: " in str(
        raised.value
    )
    assert f"set CXX={system}." in str(raised.value)


@pytest.mark.parametrize(
    "path, says",
    [
        ("{old}:{good}:/usr/bin:/bin", "{old}/python3 comes first on PATH"),
        ("{old}", "lab: this is Python 3.6, and 3.9 or newer is needed."),
    ],
    ids=["to_a_newer_one", "to_none"],
)
def test_an_old_python_hands_over(shadows, path, says):
    shadows.write(
        shadows.old / "python3",
        f'[ "$1" = -c ] && exit 1\nexec {sys.executable} -c \'import runpy, sys\n'
        "sys.version_info = (3, 6, 9)\nsys.argv = sys.argv[1:]\n"
        'runpy.run_path(sys.argv[0], run_name="__main__")\' "$@"',
    )
    (shadows.good / "python3").symlink_to(sys.executable)
    lab = [str(shadows.old / "python3"), str(ROOT / "lab"), "doctor"]
    folders = {"old": shadows.old, "good": shadows.good}
    result = captured(lab, env={**os.environ, "PATH": path.format(**folders)})
    assert says.format(**folders) in result.stdout + result.stderr


def all_here(**changes):
    versions = {item.name: item.minimum for item in requirements.REQUIREMENTS}
    versions.update({name.replace("_", " "): version for name, version in changes.items()})
    return {
        name: requirements.Found(version, "/x") for name, version in versions.items() if version
    }


def test_minimum_is_enough():
    assert requirements.missing_from(all_here(), "cpu") == []


def test_too_old():
    assert requirements.missing_from(all_here(Meson=(1, 3, 2)), "cpu") == ["Meson"]
    assert requirements.missing_from(all_here(Meson=(1, 10, 0)), "cpu") == []


def test_not_there():
    assert requirements.missing_from({}, "cpu") == EVERYTHING


def test_nothing_is_missing_without_libpng():
    assert "libpng" not in all_here()
    assert requirements.missing_from(all_here(), "cpu") == []


def test_what_only_the_cpu_backend_needs():
    here = all_here()
    del here["nlohmann_json"]
    assert requirements.missing_from(here, "cpu") == ["nlohmann_json"]
    assert requirements.missing_from(here, "cuda") == []


def test_the_cpu_backend_runs_on_two_kinds_of_processors():
    for processor in ("x86_64", "aarch64"):
        with running_on(processor):
            assert requirements.why_no_cpu_backend() == ""
    with running_on("riscv64"), pytest.raises(CommandError, match=r"AArch64.* riscv64"):
        set_up._found_or_installed("cpu")


def running_on(machine):
    return mock.patch.object(requirements.platform, "machine", lambda: machine)


def choose(nvcc, gpus, driver="13.0"):
    answers = {
        "nvcc --version": (f"Cuda compilation tools, release {nvcc}, V{nvcc}.88" if nvcc else None),
        "nvcc --list-gpu-code": "sm_75\nsm_80\nsm_86\nsm_89\nsm_90\nsm_100\nsm_120",
        "nvidia-smi --query-gpu=name,compute_cap,driver_version": "\n".join(gpus) or None,
        "nvidia-smi --version": f"NVIDIA-SMI version  : 580.1\nCUDA Version        : {driver}\n",
    }
    with mock.patch.object(
        backends, "output_of", lambda command, **_: answers[" ".join(command[:2])]
    ):
        return backends.choose_backend()


def test_nvcc_and_gpu():
    choice = choose("13.0", ["NVIDIA H200, 9.0, 580.1", "NVIDIA H200, 9.0, 580.1"])
    assert (choice.backend, choice.architectures) == ("cuda", ["90"])


def test_without_gpu_the_common_architectures():
    choice = choose("13.0", [])
    assert choice.backend == "cpu"
    assert choice.architectures == ["75", "80", "86", "89", "90", "100", "120"]


def test_without_nvcc():
    assert choose(None, ["NVIDIA H200, 9.0, 580.1"]).reason == "nvcc is not on PATH"
    assert choose(None, []).backend == "cpu"


def test_gpu_that_nvcc_does_not_know():
    choice = choose("13.0", ["NVIDIA GeForce GTX 1060, 6.1, 580.1"])
    assert choice.backend == "cpu"
    assert "GTX 1060 (sm_61)" in choice.reason


def test_driver_older_than_nvcc():
    choice = choose("13.0", ["NVIDIA A100, 8.0, 535.1"], driver="12.2")
    assert choice.backend == "cpu"
    assert "12.2" in choice.reason


def commands_for(wanted, as_root, apt=True):
    with (
        mock.patch.object(packages, "prefix_for_root", lambda: as_root),
        mock.patch.object(packages, "installs_with_apt", lambda system: apt),
        mock.patch.object(packages, "VENV", pathlib.Path("/nowhere/.venv")),
    ):
        return installation(*wanted)


def test_pytest_comes_from_the_distribution():
    update, install = commands_for([PYTEST], "sudo ")
    assert update == "sudo apt-get update"
    assert install.endswith("apt-get install -y --no-install-recommends python3-pytest")


def test_without_rights_or_apt_from_pypi():
    for as_root, apt in ((None, True), ("", False)):
        create, install = commands_for([PYTEST], as_root, apt)
        assert "-m venv" in create
        assert install.endswith("-m pip install --quiet 'pytest>=7.2'"), install


def test_what_is_not_for_apt_always_from_pypi():
    package = PythonPackage("some_package", (3, 6), "An invented one", from_apt=False)
    assert "'some_package>=3.6'" in commands_for([package], "")[1]
    # One Python must have both, and apt has no Python that has this one.
    both = commands_for([PYTEST, package], "")[1]
    assert both.endswith("--quiet 'pytest>=7.2' 'some_package>=3.6'"), both


def test_several_are_installed_at_once():
    _, install = commands_for([PYTEST, JSONSCHEMA], "")
    assert install.endswith(" python3-pytest python3-jsonschema"), install
    _, install = commands_for([PYTEST, JSONSCHEMA], None)
    assert install.endswith("'pytest>=7.2' 'jsonschema>=4.10'"), install


def test_one_python_has_all_of_them():
    here = {(sys.executable, "pytest"): "8.3.4", (VENV_PYTHON, "pytest"): "8.3.4"}
    here[sys.executable, "jsonschema"] = "3.2.0"  # older than what we need
    here[VENV_PYTHON, "jsonschema"] = "4.10.3"

    def version(command):
        python, _, statement = command
        return here.get((python, re.search(r"import (\w+)", statement)[1]))

    with mock.patch.object(packages, "output_of", version):
        assert python_with(PYTEST) == sys.executable
        assert python_with(PYTEST, JSONSCHEMA) == VENV_PYTHON
        del here[VENV_PYTHON, "pytest"]
        assert python_with(PYTEST, JSONSCHEMA) is None


def test_table_names_folders_that_are_there():
    rows = all_chapters()
    folders = sorted(
        path.name for path in (ROOT / "chapters").glob("[0-9][0-9]_*") if path.is_dir()
    )
    assert [row.folder for row in rows] == folders
    for row in rows:
        assert (ROOT / "chapters" / row.folder / f"{row.program}.cu").is_file(), row
