# SPDX-License-Identifier: MIT
"""lab's decisions: what to install and how, which backend, and how tests are counted."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import python_test

ROOT = pathlib.Path(os.environ["LAB_SOURCE_ROOT"])
lab = python_test.load_lab()

DEBIAN_12 = {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
DEBIAN_13 = {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
UBUNTU_24 = {"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04.1 LTS"}
UBUNTU_22 = {"ID": "ubuntu", "VERSION_ID": "22.04", "PRETTY_NAME": "Ubuntu 22.04.4 LTS"}
FEDORA = {"ID": "fedora", "VERSION_ID": "41", "PRETTY_NAME": "Fedora Linux 41"}

EVERYTHING = [item.name for item in lab.REQUIREMENTS]
MIRROR = {
    "Types": "deb",
    "URIs": "http://mirror.example/debian",
    "Suites": "bookworm",
    "Components": "main",
}


class sources_of_apt(unittest.TestCase):
    def sources(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return lab.apt_sources(folder)

    def test_one_line_format(self):
        text = (
            "# deb http://old.example/debian bookworm main\n"
            "deb [arch=amd64,arm64 signed-by=/usr/share/keyrings/k.gpg] http://mirror.example/debian "
            "bookworm main contrib  # the mirror of our school\n"
            "deb-src http://mirror.example/debian bookworm main\n"
        )
        binary, source = self.sources({"sources.list": text})
        self.assertEqual(
            binary,
            {
                "Types": "deb",
                "URIs": "http://mirror.example/debian",
                "Suites": "bookworm",
                "Components": "main contrib",
                "Architectures": "amd64 arm64",
                "Signed-By": "/usr/share/keyrings/k.gpg",
            },
        )
        self.assertEqual(source["Types"], "deb-src")

    def test_deb822_format(self):
        text = (
            "# comment\nTypes: deb deb-src\nURIs: http://mirror.example/debian\n# comment\n"
            "suites: bookworm bookworm-updates\nComponents: main\nSigned-By:\n -----BEGIN\n .\n -----END\n"
            "\nEnabled: no\nTypes: deb\nURIs: http://off.example\nSuites: bookworm\nComponents: main\n"
        )
        (source,) = self.sources({"sources.list.d/debian.sources": text})
        self.assertEqual(source["Suites"], "bookworm bookworm-updates")
        self.assertEqual(source["Signed-By"], "\n -----BEGIN\n .\n -----END")

    def test_files_of_other_names_are_not_apts(self):
        self.assertEqual(
            self.sources({"sources.list.d/old.list.disabled": "deb http://x.example y main"}), []
        )


class backports(unittest.TestCase):
    def test_come_from_the_mirror_that_apt_uses(self):
        source = {**MIRROR, "Signed-By": "/k.gpg", "Suites": "bookworm bookworm-updates"}
        (command,) = lab.backports_commands([source], "sudo ")
        self.assertEqual(
            command,
            r"printf '%s\n' 'Types: deb' 'URIs: http://mirror.example/debian' 'Suites: bookworm-backports' "
            "'Components: main' 'Signed-By: /k.gpg' | "
            "sudo tee /etc/apt/sources.list.d/bookworm-backports.sources",
        )

    def test_are_left_alone_where_they_are(self):
        there = {**MIRROR, "Suites": "bookworm-backports"}
        self.assertEqual(lab.backports_commands([MIRROR, there], ""), [])

    def test_without_any_mirror(self):
        for sources in (
            [],
            [{**MIRROR, "Types": "deb-src"}],
            [{**MIRROR, "Suites": "bookworm-security"}],
        ):
            with self.subTest(sources=sources), self.assertRaisesRegex(lab.failure, "backports"):
                lab.backports_commands(sources, "")


class installing(unittest.TestCase):
    def commands(self, missing, system):
        with mock.patch.object(lab, "apt_sources", lambda: [MIRROR]):
            return lab.apt_commands(missing, system, "")

    def test_debian_12_takes_two_packages_from_backports(self):
        add, update, install = self.commands(EVERYTHING, DEBIAN_12)
        self.assertIn("Suites: bookworm-backports", add)
        self.assertEqual(update, "apt-get update")
        self.assertTrue(
            install.endswith(
                " g++ meson/bookworm-backports ninja-build pkg-config catch2/bookworm-backports "
                "libboost-context-dev libcli11-dev"
            ),
            install,
        )

    def test_debian_12_without_need_of_backports(self):
        update, install = self.commands(["CLI11"], DEBIAN_12)
        self.assertTrue(
            install.endswith("apt-get install -y --no-install-recommends libcli11-dev"), install
        )

    def test_debian_13(self):
        _, install = self.commands(EVERYTHING, DEBIAN_13)
        self.assertIn(" meson ninja-build pkg-config catch2 ", install)

    def test_ubuntu_has_no_meson_that_is_new_enough(self):
        with mock.patch.object(lab, "makes_virtual_environments", lambda: False):
            _, install = self.commands(EVERYTHING, UBUNTU_24)
        self.assertNotIn("meson", install)
        self.assertTrue(install.endswith(" python3-venv"), install)
        self.assertEqual(
            self.commands(["Meson"], {**UBUNTU_24, "VERSION_ID": "25.04"})[1].split()[-1], "meson"
        )

    def test_systems_that_lab_installs_on(self):
        with mock.patch.object(lab.shutil, "which", lambda name: f"/usr/bin/{name}"):
            self.assertTrue(
                all(map(lab.installs_with_apt, (DEBIAN_12, DEBIAN_13, UBUNTU_24, {"ID": "debian"})))
            )
            self.assertFalse(any(map(lab.installs_with_apt, (UBUNTU_22, FEDORA))))

    def install(self, missing, system, user, sudo, here=()):
        """What install() runs, and the message it fails with."""
        ran = []
        with contextlib.ExitStack() as patches:
            for name, value in {
                "operating_system": lambda: system,
                "apt_sources": lambda: [MIRROR],
                "run": lambda command: ran.append(command) or 0,
                "output_of": lambda command, text="": "" if sudo and command[0] == "sudo" else None,
                "makes_virtual_environments": lambda: True,
            }.items():
                patches.enter_context(mock.patch.object(lab, name, value))
            patches.enter_context(mock.patch.object(lab.os, "geteuid", lambda: user))
            patches.enter_context(
                mock.patch.object(lab.shutil, "which", lambda name: f"/usr/bin/{name}")
            )
            printed = patches.enter_context(contextlib.redirect_stdout(io.StringIO()))
            try:
                lab.install(missing, dict(here))
            except lab.failure as problem:
                return ran, str(problem), problem.code
        for command in ran:
            self.assertIn(command, printed.getvalue())  # printed before it is run
        return ran, "", 0

    def test_as_root(self):
        ran, _, code = self.install(["CLI11"], DEBIAN_13, user=0, sudo=False)
        self.assertEqual((code, ran[0]), (0, "apt-get update"))

    def test_libpng_comes_along_where_it_is_not_here(self):
        ran, _, _ = self.install(["CLI11"], DEBIAN_13, user=0, sudo=False)
        self.assertTrue(ran[1].endswith(" libcli11-dev libpng-dev"), ran)
        here = {"libpng": lab.found((1, 6, 39), "/usr/include/png.h")}
        ran, _, _ = self.install(["CLI11"], DEBIAN_13, user=0, sudo=False, here=here)
        self.assertTrue(ran[1].endswith(" libcli11-dev"), ran)

    def test_with_passwordless_sudo(self):
        ran, _, code = self.install(["CLI11"], DEBIAN_13, user=1000, sudo=True)
        self.assertEqual((code, ran[0]), (0, "sudo apt-get update"))

    def test_without_rights_nothing_is_run_and_the_command_is_said(self):
        ran, message, code = self.install(EVERYTHING, DEBIAN_12, user=1000, sudo=False)
        self.assertEqual((ran, code), ([], 1))
        for words in (
            "sudo tee /etc/apt",
            "sudo apt-get update",
            "apt-get install",
            "Catch2 3.4.0",
        ):
            self.assertIn(words, message)

    def test_without_rights_meson_and_ninja_come_from_pypi(self):
        ran, _, code = self.install(["Meson", "Ninja"], DEBIAN_13, user=1000, sudo=False)
        self.assertEqual(code, 0)
        self.assertIn("-m venv", ran[0])
        self.assertIn("'meson>=1.4.0,<2' ninja", ran[1])

    def test_ubuntu_takes_meson_from_pypi_and_the_rest_from_apt(self):
        ran, _, code = self.install(["Meson", "CLI11"], UBUNTU_24, user=0, sudo=False)
        self.assertEqual(code, 0)
        self.assertTrue(ran[1].endswith(" libcli11-dev libpng-dev"), ran)
        self.assertIn("pip install --quiet 'meson>=1.4.0,<2'", ran[3])

    def test_other_systems_get_the_list(self):
        for system in (FEDORA, UBUNTU_22, {"ID": "Darwin", "PRETTY_NAME": "Darwin 24.1"}):
            here = {"Meson": lab.found((1, 0, 1), "/usr/bin/meson")}
            ran, message, code = self.install(
                ["Meson", "Catch2"], system, user=0, sudo=False, here=here
            )
            self.assertEqual((ran, code), ([], 1))
            self.assertIn("Meson 1.4.0 (1.0.1 is here), Catch2 3.4.0", message)
            self.assertIn(system["PRETTY_NAME"], message)


class what_is_missing(unittest.TestCase):
    def here(self, **changes):
        versions = {item.name: item.minimum for item in lab.REQUIREMENTS}
        versions.update({name.replace("_", " "): version for name, version in changes.items()})
        return {name: lab.found(version, "/x") for name, version in versions.items() if version}

    def test_minimum_is_enough(self):
        self.assertEqual(lab.missing_from(self.here(), "cpu"), [])

    def test_too_old(self):
        self.assertEqual(lab.missing_from(self.here(Meson=(1, 3, 2)), "cpu"), ["Meson"])
        self.assertEqual(lab.missing_from(self.here(Meson=(1, 10, 0)), "cpu"), [])

    def test_not_there(self):
        self.assertEqual(lab.missing_from({}, "cpu"), EVERYTHING)

    def test_nothing_is_missing_without_libpng(self):
        self.assertNotIn("libpng", self.here())
        self.assertEqual(lab.missing_from(self.here(), "cpu"), [])

    def test_only_the_cpu_backend_needs_fibers(self):
        here = self.here()
        del here["Boost.Context"]
        self.assertEqual(lab.missing_from(here, "cpu"), ["Boost.Context"])
        self.assertEqual(lab.missing_from(here, "cuda"), [])


class choice_of_backend(unittest.TestCase):
    def choose(self, nvcc, gpus, driver="13.0"):
        answers = {
            "nvcc --version": (
                f"Cuda compilation tools, release {nvcc}, V{nvcc}.88" if nvcc else None
            ),
            "nvcc --list-gpu-code": "sm_75\nsm_80\nsm_86\nsm_89\nsm_90\nsm_100\nsm_120",
            "nvidia-smi --query-gpu=name,compute_cap,driver_version": "\n".join(gpus) or None,
            "nvidia-smi --version": f"NVIDIA-SMI version  : 580.1\nCUDA Version        : {driver}\n",
        }
        with mock.patch.object(lab, "output_of", lambda command: answers[" ".join(command[:2])]):
            return lab.choose_backend()

    def test_nvcc_and_gpu(self):
        choice = self.choose("13.0", ["NVIDIA H200, 9.0, 580.1", "NVIDIA H200, 9.0, 580.1"])
        self.assertEqual((choice.backend, choice.architectures), ("cuda", ["90"]))

    def test_without_gpu_the_common_architectures(self):
        choice = self.choose("13.0", [])
        self.assertEqual(choice.backend, "cpu")
        self.assertEqual(choice.architectures, ["75", "80", "86", "89", "90", "100", "120"])

    def test_without_nvcc(self):
        self.assertEqual(
            self.choose(None, ["NVIDIA H200, 9.0, 580.1"]).reason, "nvcc is not on PATH"
        )
        self.assertEqual(self.choose(None, []).backend, "cpu")

    def test_gpu_that_nvcc_does_not_know(self):
        choice = self.choose("13.0", ["NVIDIA GeForce GTX 1060, 6.1, 580.1"])
        self.assertEqual(choice.backend, "cpu")
        self.assertIn("GTX 1060 (sm_61)", choice.reason)

    def test_driver_older_than_nvcc(self):
        choice = self.choose("13.0", ["NVIDIA A100, 8.0, 535.1"], driver="12.2")
        self.assertEqual(choice.backend, "cpu")
        self.assertIn("12.2", choice.reason)


class counting(unittest.TestCase):
    def count(self, lines, outcomes):
        counts, remarks = lab.counted(lines, outcomes)
        return (counts["passed"], counts["failed"], counts["skipped"]), remarks

    def test_counts_cases_and_not_binaries(self):
        lines = ["passed\tone\ta", "passed\tone\tb", "skipped\tone\tc", "failed\ttwo\td"]
        counts, remarks = self.count(lines, [("one", "one", "OK"), ("two", "two", "FAIL")])
        self.assertEqual((counts, remarks), ((2, 1, 1), ["failed: two: d"]))

    def test_crash_counts_as_one_failure(self):
        for result in ("FAIL", "ERROR", "INTERRUPT"):
            self.assertEqual(self.count(["passed\tone\ta"], [("one", "one", result)])[0], (1, 1, 0))

    def test_time_out_counts_as_one_failure(self):
        counts, remarks = self.count(["passed\tone\ta"], [("one", "one", "TIMEOUT")])
        self.assertEqual(counts, (1, 1, 0))
        self.assertIn("deadlock", remarks[0])

    def test_skip_without_a_case(self):
        self.assertEqual(self.count([], [("one", "one", "SKIP")])[0], (0, 0, 1))

    def test_silence_is_no_success(self):
        self.assertEqual(self.count([], [("one", "one", "OK")])[0], (0, 1, 0))


class chapters(unittest.TestCase):
    def test_table_names_folders_that_are_there(self):
        rows = lab.all_chapters()
        folders = sorted(
            path.name for path in (ROOT / "chapters").glob("[0-9][0-9]_*") if path.is_dir()
        )
        self.assertEqual([row.folder for row in rows], folders)
        for row in rows:
            self.assertTrue((ROOT / "chapters" / row.folder / f"{row.program}.cu").is_file(), row)


if __name__ == "__main__":
    python_test.main()
