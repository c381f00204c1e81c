# SPDX-License-Identifier: MIT
"""What docs/use and docs/race-check-your-project.md promise to other projects: example_project takes the
headers from subprojects/ or as they are installed, checked_project is checked for races."""

import json
import os
import re
import shutil
import sys
import tempfile
import unittest

from reusable_headers_test import SETTINGS, needs_cpu_backend, needs_nvcc, needs_racecheck, run

from lab_tool.paths import VENV
from lab_tool.setup.probe import first_tool
from lab_tool.setup.requirements import minimum_of
from test_setup import temporary_folder
from this_build import BUILD, ROOT

MESON = first_tool(["meson", str(VENV / "bin/meson")], minimum_of("Meson")).path
NAME = "inter_block_communication"
PIECES = ("block_reduce", "grid_barrier", "last_block", "look_back", "work_queue")
HEADERS = {f"include/{NAME}/{piece}.cuh" for piece in PIECES}
INSTALLED = {*HEADERS, f"share/pkgconfig/{NAME}.pc"}
needs_pkg_config = unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not here")


def environment(pkg_config_path=""):
    """The environment in which pkg-config knows that folder and no other."""
    return {
        **os.environ,
        "CXX": " ".join(SETTINGS["cxx"].split("\n")),
        "PKG_CONFIG_LIBDIR": str(pkg_config_path),
        "PKG_CONFIG_PATH": "",
    }


class OtherProjects(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.project = self.folder / "project"
        shutil.copytree(ROOT / "tests/own_code/example_project", self.project)

    def succeed(self, *command, **variables):
        code, printed = run(command, self.folder, **(variables or environment()))
        self.assertEqual(code, 0, printed)
        return printed

    def put_into_subprojects(self):
        (self.project / "subprojects").mkdir()
        (self.project / "subprojects" / NAME).symlink_to(ROOT, target_is_directory=True)

    def configure(self, *options, **variables):
        """Configures the project without a build type: to optimize would take most of the time."""
        build = self.folder / "build"
        options = ("-Doptimization=0", *options)
        return build, self.succeed(MESON, "setup", *options, self.project, build, **variables)

    def install(self, *options):
        """Installs the headers alone below a new prefix, which is returned."""
        build, prefix = self.folder / "headers", self.folder / "prefix"
        options = ("-Dheaders_only=true", f"--prefix={prefix}", *options)
        printed = self.succeed(MESON, "setup", *options, ROOT, build)
        self.assert_asks_for_nothing(printed)
        self.succeed(MESON, "install", "-C", build)
        return prefix

    def assert_asks_for_nothing(self, printed):
        for other in ("catch2", "CLI11", "nlohmann_json", "libpng", "nvcc"):
            self.assertNotIn(other, printed)

    @needs_cpu_backend
    def test_subproject_for_the_cpu(self):
        self.put_into_subprojects()
        build, printed = self.configure("-Dgpu=false")
        self.assert_asks_for_nothing(printed)
        self.succeed(MESON, "compile", "-C", build)
        self.assertEqual(self.succeed(build / "sum_of_rows"), "449994, expected 449994\n")
        # And the parent installs none of it.
        self.assertEqual(self.succeed(MESON, "introspect", "--installed", build).strip(), "{}")
        targets = json.loads(self.succeed(MESON, "introspect", "--targets", build))
        self.assertEqual({row["name"] for row in targets}, {"sum_of_rows", "cpu_backend"})

    @needs_cpu_backend
    def test_the_translator_starts_no_ccache(self):
        self.put_into_subprojects()
        ccache = self.folder / "ccache"
        ccache.write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
        ccache.chmod(0o755)
        variables = environment()
        build, _ = self.configure(
            "-Dgpu=false", **{**variables, "CXX": f"{ccache} {variables['CXX']}"}
        )
        rules = (build / "build.ninja").read_text(encoding="utf-8")
        self.assertIn(f"command = {ccache} ", rules)  # Meson takes it
        compilers = re.findall(r"--compiler ('[^']*'|\S+)", rules)
        self.assertNotEqual(compilers, [])
        for compiler in compilers:
            self.assertNotIn("ccache", compiler)

    @needs_nvcc
    def test_subproject_for_a_gpu(self):
        self.put_into_subprojects()
        build, printed = self.configure()
        self.assertIn(f"Subproject {NAME} finished.", printed)
        self.succeed(MESON, "compile", "-C", build)
        targets = json.loads(self.succeed(MESON, "introspect", "--targets", build))
        self.assertEqual({row["name"] for row in targets}, {"sum_of_rows"})

    @needs_nvcc
    @needs_pkg_config
    def test_installed_for_a_gpu(self):
        prefix = self.install()
        variables = environment(prefix / "share/pkgconfig")
        build, printed = self.configure(**variables)
        self.assertIn(f"Run-time dependency {NAME} found: YES", printed)
        self.succeed(MESON, "compile", "-C", build, **variables)

    @needs_cpu_backend
    @needs_pkg_config
    def test_installed_for_the_cpu(self):
        prefix = self.install()
        variables = environment(prefix / "share/pkgconfig")
        flags = self.succeed("pkg-config", "--cflags", NAME, **variables).split()
        self.assertEqual(flags, [f"-I{prefix}/include"])
        lab = (sys.executable, ROOT / "lab", "run", "--build", BUILD)
        folders = (flags[0].removeprefix("-I"), self.project / "include")
        include = [word for folder in folders for word in ("--include", folder)]
        printed = self.succeed(*lab, *include, self.project / "sum_of_rows.cu")
        self.assertIn("449994, expected 449994\n", printed)

    def test_what_is_installed(self):
        build, stage = self.folder / "headers", self.folder / "stage"
        self.succeed(MESON, "setup", "-Dheaders_only=true", "--prefix=/opt/course", ROOT, build)
        self.succeed(MESON, "install", "-C", build, "--destdir", stage)
        files = {str(path.relative_to(stage)) for path in stage.rglob("*") if path.is_file()}
        self.assertEqual(files, {f"opt/course/{path}" for path in INSTALLED})

    def test_the_whole_build_installs_no_more(self):
        installed = json.loads(self.succeed(MESON, "introspect", "--installed", BUILD))
        (prefix,) = [
            option["value"]
            for option in json.loads(self.succeed(MESON, "introspect", "--buildoptions", BUILD))
            if option["name"] == "prefix"
        ]
        self.assertEqual(set(installed.values()), {f"{prefix}/{path}" for path in INSTALLED})


PROJECT = ROOT / "tests/own_code/checked_project"
LINE_OF_THE_RACE = "include/sum.cuh:11"  # *sum = *sum + mine;


@needs_cpu_backend
@needs_racecheck
class RaceCheckYourProject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cache = tempfile.TemporaryDirectory()  # the engine is built in it once
        cls.addClassCleanup(cache.cleanup)
        cls.cache = cache.name

    def setUp(self):
        self.folder = temporary_folder(self)
        self.project = self.folder / "project"
        shutil.copytree(PROJECT, self.project)
        self.environment = {
            **os.environ,
            "CXX": " ".join(SETTINGS["cxx"].split("\n")),
            "XDG_CACHE_HOME": self.cache,
        }

    def run_in_project(self, *command):
        return run(command, self.project, **self.environment)

    def test_by_meson(self):
        (self.project / "subprojects").mkdir()
        (self.project / "subprojects" / NAME).symlink_to(ROOT, target_is_directory=True)
        code, printed = self.run_in_project(MESON, "setup", "-Doptimization=0", "build")
        self.assertEqual(code, 0, printed)
        test = (MESON, "test", "-C", "build", "--print-errorlogs")
        code, printed = self.run_in_project(*test)
        self.assertEqual(code, 0, printed)
        code, printed = self.run_in_project(
            MESON, "configure", "build", "-Ddefinitions=-DWITHOUT_ATOMIC"
        )
        self.assertEqual(code, 0, printed)
        code, printed = self.run_in_project(*test)
        self.assertEqual(code, 1, printed)
        self.assertIn("race (managed memory) on allocation 1", printed)
        self.assertIn(LINE_OF_THE_RACE, printed)
        check = (sys.executable, ROOT / "engine/cudacheck", "check")
        code, printed = self.run_in_project(*check, "--program", "build/sum_racecheck")
        self.assertEqual(code, 1, printed)
        self.assertIn("20 schedules", printed)

    def test_without_a_build_system(self):
        check = (sys.executable, ROOT / "engine/cudacheck", "check", "sum.cu")
        code, printed = self.run_in_project(*check, "--include", "include")
        self.assertEqual(code, 0, printed)
        self.assertRegex(printed, r"Next: \S*cudacheck run sum.cu --include include\n")
        code, printed = self.run_in_project(*check, "--include", "include", "-DWITHOUT_ATOMIC")
        self.assertEqual(code, 1, printed)
        self.assertIn("race (managed memory) on allocation 1", printed)
        self.assertIn(LINE_OF_THE_RACE, printed)
        self.assertRegex(printed, r"Next: \S*cudacheck check sum.cu ")

    def test_by_the_printed_commands_alone(self):
        check = (sys.executable, ROOT / "engine/cudacheck", "check", "sum.cu", "--verbose")
        words = ("--include", "include", "-DWITHOUT_ATOMIC")
        code, printed = self.run_in_project(*check, *words)
        self.assertEqual(code, 1, printed)
        commands = [line[2:] for line in printed.splitlines() if line.startswith("$ ")]
        *_, translate, compile, link, program = commands  # before these the engine is built
        (self.project / program).unlink()
        for command in (translate, compile, link):
            code, printed = self.run_in_project("sh", "-c", command)
            self.assertEqual((code, printed), (0, ""), command)
        code, printed = self.run_in_project(self.project / program)
        self.assertEqual(code, 1, printed)
        self.assertIn("race (managed memory) on allocation 1", printed)
        self.assertIn(LINE_OF_THE_RACE, printed)
