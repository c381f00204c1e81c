# SPDX-License-Identifier: MIT
"""What docs/use and docs/race-check-your-project.md promise to other projects: example_project takes the
headers from subprojects/ or as they are installed, checked_project is checked for races, built_project is
built by make, CMake and Meson with engine/bin/nvcc."""

import json
import os
import re
import shutil
import sys

import pytest
from reusable_headers_test import needs_nvcc, run

from engine.command.processes import on_path
from lab_runs import SETTINGS, needs_cpu_backend, needs_racecheck
from lab_tool.paths import VENV
from lab_tool.setup.probe import first_tool
from lab_tool.setup.requirements import minimum_of
from this_build import BUILD, ROOT

MESON = first_tool(["meson", str(VENV / "bin/meson")], minimum_of("Meson")).path
NAME = "inter_block_communication"
PIECES = ("block_reduce", "grid_barrier", "last_block", "look_back", "work_queue")
HEADERS = {f"include/{NAME}/{piece}.cuh" for piece in PIECES}
INSTALLED = {*HEADERS, f"share/pkgconfig/{NAME}.pc"}
needs_pkg_config = pytest.mark.skipif(
    not shutil.which("pkg-config"), reason="pkg-config is not here"
)


def environment(pkg_config_path=""):
    """The environment in which pkg-config knows that folder and no other."""
    return {
        **os.environ,
        "CXX": " ".join(SETTINGS["cxx"].split("\n")),
        "PKG_CONFIG_LIBDIR": str(pkg_config_path),
        "PKG_CONFIG_PATH": "",
    }


class OtherProject:
    def __init__(self, folder):
        self.folder = folder
        self.project = self.folder / "project"
        shutil.copytree(ROOT / "tests/own_code/example_project", self.project)

    def succeed(self, *command, **variables):
        code, printed = run(command, self.folder, **(variables or environment()))
        assert code == 0, printed
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
            assert other not in printed


@pytest.fixture
def other(tmp_path):
    return OtherProject(tmp_path)


@needs_cpu_backend
def test_subproject_for_the_cpu(other):
    other.put_into_subprojects()
    build, printed = other.configure("-Dgpu=false")
    other.assert_asks_for_nothing(printed)
    other.succeed(MESON, "compile", "-C", build)
    assert other.succeed(build / "sum_of_rows") == "449994, expected 449994\n"
    # And the parent installs none of it.
    assert other.succeed(MESON, "introspect", "--installed", build).strip() == "{}"
    targets = json.loads(other.succeed(MESON, "introspect", "--targets", build))
    assert {row["name"] for row in targets} == {"sum_of_rows", "cpu_backend"}


@needs_cpu_backend
def test_the_translator_starts_no_ccache(other):
    other.put_into_subprojects()
    ccache = other.folder / "ccache"
    ccache.write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
    ccache.chmod(0o755)
    variables = environment()
    build, _ = other.configure(
        "-Dgpu=false", **{**variables, "CXX": f"{ccache} {variables['CXX']}"}
    )
    rules = (build / "build.ninja").read_text(encoding="utf-8")
    assert f"command = {ccache} " in rules  # Meson takes it
    compilers = re.findall(r"--compiler ('[^']*'|\S+)", rules)
    assert compilers != []
    for compiler in compilers:
        assert "ccache" not in compiler


@needs_nvcc
def test_subproject_for_a_gpu(other):
    other.put_into_subprojects()
    build, printed = other.configure()
    assert f"Subproject {NAME} finished." in printed
    other.succeed(MESON, "compile", "-C", build)
    targets = json.loads(other.succeed(MESON, "introspect", "--targets", build))
    assert {row["name"] for row in targets} == {"sum_of_rows"}


@needs_nvcc
@needs_pkg_config
def test_installed_for_a_gpu(other):
    prefix = other.install()
    variables = environment(prefix / "share/pkgconfig")
    build, printed = other.configure(**variables)
    assert f"Run-time dependency {NAME} found: YES" in printed
    other.succeed(MESON, "compile", "-C", build, **variables)


@needs_cpu_backend
@needs_pkg_config
def test_installed_for_the_cpu(other):
    prefix = other.install()
    variables = environment(prefix / "share/pkgconfig")
    flags = other.succeed("pkg-config", "--cflags", NAME, **variables).split()
    assert flags == [f"-I{prefix}/include"]
    lab = (sys.executable, ROOT / "lab", "run", "--build", BUILD)
    folders = (flags[0].removeprefix("-I"), other.project / "include")
    include = [word for folder in folders for word in ("--include", folder)]
    printed = other.succeed(*lab, *include, other.project / "sum_of_rows.cu")
    assert "449994, expected 449994\n" in printed


def test_what_is_installed(other):
    build, stage = other.folder / "headers", other.folder / "stage"
    other.succeed(MESON, "setup", "-Dheaders_only=true", "--prefix=/opt/course", ROOT, build)
    other.succeed(MESON, "install", "-C", build, "--destdir", stage)
    files = {str(path.relative_to(stage)) for path in stage.rglob("*") if path.is_file()}
    assert files == {f"opt/course/{path}" for path in INSTALLED}


def test_the_whole_build_installs_no_more(other):
    installed = json.loads(other.succeed(MESON, "introspect", "--installed", BUILD))
    (prefix,) = [
        option["value"]
        for option in json.loads(other.succeed(MESON, "introspect", "--buildoptions", BUILD))
        if option["name"] == "prefix"
    ]
    assert set(installed.values()) == {f"{prefix}/{path}" for path in INSTALLED}


NVCC = ROOT / "engine/bin/nvcc"
CUDACHECK = (sys.executable, ROOT / "engine/cudacheck")
LINE_OF_THE_RACE = "include/sum.cuh:11"  # *sum = *sum + mine;


class CheckedProject:
    def __init__(self, name, folder, cache):
        self.project = folder / "project"
        shutil.copytree(ROOT / "tests/own_code" / name, self.project)
        self.environment = {
            **os.environ,
            "CXX": " ".join(SETTINGS["cxx"].split("\n")),
            "XDG_CACHE_HOME": str(cache),
        }

    def run_in_project(self, *command):
        return run(command, self.project, **self.environment)

    def succeed(self, *command):
        code, printed = self.run_in_project(*command)
        assert code == 0, printed
        return printed


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")  # the engine is built in it once


@pytest.fixture
def checked(tmp_path, cache):
    return CheckedProject("checked_project", tmp_path, cache)


@pytest.fixture
def built(tmp_path, cache):
    return CheckedProject("built_project", tmp_path, cache)


@needs_cpu_backend
@needs_racecheck
def test_by_meson(checked):
    (checked.project / "subprojects").mkdir()
    (checked.project / "subprojects" / NAME).symlink_to(ROOT, target_is_directory=True)
    code, printed = checked.run_in_project(MESON, "setup", "-Doptimization=0", "build")
    assert code == 0, printed
    test = (MESON, "test", "-C", "build", "--print-errorlogs")
    code, printed = checked.run_in_project(*test)
    assert code == 0, printed
    code, printed = checked.run_in_project(
        MESON, "configure", "build", "-Ddefinitions=-DWITHOUT_ATOMIC"
    )
    assert code == 0, printed
    code, printed = checked.run_in_project(*test)
    assert code == 1, printed
    assert "race (managed memory) on allocation 1" in printed
    assert LINE_OF_THE_RACE in printed
    check = (*CUDACHECK, "check")
    code, printed = checked.run_in_project(*check, "--program", "build/sum_racecheck")
    assert code == 1, printed
    assert "20 schedules" in printed


@needs_cpu_backend
@needs_racecheck
def test_without_a_build_system(checked):
    check = (*CUDACHECK, "check", "sum.cu")
    code, printed = checked.run_in_project(*check, "--include", "include")
    assert code == 0, printed
    assert re.search(r"Next: \S*cudacheck run sum.cu --include include\n", printed)
    code, printed = checked.run_in_project(*check, "--include", "include", "-DWITHOUT_ATOMIC")
    assert code == 1, printed
    assert "race (managed memory) on allocation 1" in printed
    assert LINE_OF_THE_RACE in printed
    assert re.search(r"Next: \S*cudacheck check sum.cu ", printed)


@needs_cpu_backend
@needs_racecheck
def test_by_the_printed_commands_alone(checked):
    check = (*CUDACHECK, "check", "sum.cu", "--verbose")
    words = ("--include", "include", "-DWITHOUT_ATOMIC")
    code, printed = checked.run_in_project(*check, *words)
    assert code == 1, printed
    commands = [line[2:] for line in printed.splitlines() if line.startswith("$ ")]
    *_, translate, compile, link, program = commands  # before these the engine is built
    (checked.project / program).unlink()
    for command in (translate, compile, link):
        code, printed = checked.run_in_project("sh", "-c", command)
        assert (code, printed) == (0, ""), command
    code, printed = checked.run_in_project(checked.project / program)
    assert code == 1, printed
    assert "race (managed memory) on allocation 1" in printed
    assert LINE_OF_THE_RACE in printed


@needs_cpu_backend
@needs_racecheck
def test_proof_of_a_program_of_ones_own(checked):
    prove = (*CUDACHECK, "prove", "sum.cu", "-O3", "-Iinclude")
    code, printed = checked.run_in_project(*prove, "-DWITHOUT_ATOMIC")
    assert code == 1, printed
    assert "refuted by execution 1:\n\nrace (managed memory) on allocation 1, " in printed
    (again,) = re.findall(r"Next: \S*cudacheck (prove .*?)  \(", printed)
    code, printed = checked.run_in_project(*CUDACHECK, *again.split())
    assert code == 1, printed
    assert LINE_OF_THE_RACE in printed


@needs_cpu_backend
@needs_racecheck
def test_options_of_nvcc_without_a_build_system(built):
    files = ("kernels/scale.cu", "kernels/twice.cu", "tests/sum_test.cu", "-Iinclude", "-rdc=true")
    options = ("-O3", "-arch=sm_90", "-std=c++17", "-code", "sm_80", "-lineinfo")
    assert "260\n" in built.succeed(*CUDACHECK, "run", *options, *files)
    code, printed = built.run_in_project(*CUDACHECK, "check", "-DWITHOUT_ATOMIC", *options, *files)
    assert code == 1, printed
    assert "kernels/scale.cu:14\n" in printed
    assert "--include include -DWITHOUT_ATOMIC -rdc=true --seed 0  (" in printed


MAKE = ("make", f"NVCC={NVCC}")
CMAKES = [*on_path("cmake"), *filter(os.path.exists, [str(VENV / "bin/cmake")])]


@needs_cpu_backend
@needs_racecheck
def test_nvcc_with_make(built):
    printed = built.succeed(*MAKE, "-j2", "test").splitlines()
    assert "warning" not in " ".join(printed)
    assert [line for line in printed if line.isdigit()] == ["2", "260"]
    (built.project / "kernels/twice.cu").write_text("__device__ float twice(float x) {}\n")
    (built.project / "kernels/scale.cu").write_text("nonsense;\n")
    code, printed = built.run_in_project(*MAKE, "test")
    assert code == 2, printed
    assert "kernels/scale.cu:1:1: error: " in printed


@needs_cpu_backend
@needs_racecheck
@pytest.mark.parametrize("cmake", CMAKES or [pytest.param("", marks=pytest.mark.skip("no cmake"))])
def test_nvcc_with_cmake(built, cmake):
    configure = (cmake, "-B", "build", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_BUILD_TYPE=Debug")
    printed = built.succeed(*configure)
    assert f"Found CUDAToolkit: {built.environment['XDG_CACHE_HOME']}" in printed
    built.succeed(cmake, "--build", "build", "--parallel", "2")
    printed = built.succeed(cmake.replace("cmake", "ctest"), "--test-dir", "build", "--verbose")
    assert re.findall(r"\d: (\d+)\n", printed) == ["2", "260"]
    used = built.succeed("cat", "build/CMakeFiles/kernels.dir/kernels/scale.cu.o.d")
    assert f"{built.project}/include/scale.cuh" in used


@needs_cpu_backend
@needs_racecheck
def test_nvcc_with_meson(built):
    (built.project / "nvcc.ini").write_text(f"[binaries]\ncuda = '{NVCC}'\n", encoding="utf-8")
    built.environment["CUDA_PATH"] = built.succeed(NVCC, "--toolkit").splitlines()[-1]
    options = ("--native-file", "nvcc.ini", "-Dwerror=true", "-Dwarning_level=3")
    built.succeed(MESON, "setup", "build", *options)
    built.succeed(MESON, "test", "-C", "build")
    assert built.succeed("build/sum_test") == "260\n"


@needs_cpu_backend
@needs_racecheck
def test_what_make_starts_is_checked(built):
    test = ("--seeds", "3", "--", *MAKE, "test")
    built.succeed(*MAKE, "all")
    code, printed = built.run_in_project(*CUDACHECK, *test)
    assert code == 1
    why = "was built without the race checker; build it anew under cudacheck --."
    assert f"\nbuild/app {why}\n\nbuild/sum_test {why}\n" in printed
    (
        built.project / "build/sum_test"
    ).unlink()  # of one form the library, and of the other the program
    code, printed = built.run_in_project(*CUDACHECK, *test)
    assert code == 2  # make's own
    assert "undefined reference to `compiled_without_cudacheck'" in printed
    shutil.rmtree(built.project / "build")
    printed = built.succeed(*CUDACHECK, *test)
    assert "260\n" in printed
    assert printed.endswith("\n2 programs with kernels, none with something to fix\n")
    assert built.succeed("build/sum_test").startswith("260\nracecheck: seed 0, ")
    code, printed = built.run_in_project(*CUDACHECK, "--", "true")
    assert code == 1
    assert "cudacheck: no program was checked; " in printed


@needs_cpu_backend
@needs_racecheck
def test_what_meson_starts_is_checked(built):
    (built.project / "nvcc.ini").write_text(f"[binaries]\ncuda = '{NVCC}'\n", encoding="utf-8")
    built.environment["CUDA_PATH"] = built.succeed(NVCC, "--toolkit").splitlines()[-1]
    options = ("--native-file", "nvcc.ini", "-Ddefinitions=-DWITHOUT_ATOMIC")
    built.succeed(MESON, "setup", "build", *options)
    files = ("--json", "found.json", "--junit", "found.xml", "--sarif", "found.sarif")
    for _ in range(2):  # files of its own are replaced
        command = (*CUDACHECK, "--seeds", "3", *files, "--", MESON, "test", "-C", "build")
        code, printed = built.run_in_project(*command)
        assert code == 1
        assert "race (managed memory) on allocation 1, element 130 " in printed
        assert "2 programs with kernels, 1 with something to fix\n" in printed
    results = json.loads((built.project / "found.json").read_text(encoding="utf-8"))
    assert sorted((each["program"], each["code"]) for each in results) == [
        ("build/app", 0),
        ("build/sum_test", 1),
    ]
    junit = (built.project / "found.xml").read_text(encoding="utf-8")
    assert junit.startswith('<testsuite name="cudacheck" tests="2" failures="1">')
    sarif = json.loads((built.project / "found.sarif").read_text(encoding="utf-8"))
    (found,) = sarif["runs"][0]["results"]
    places = [each["physicalLocation"] for each in found["locations"]]
    assert [each["artifactLocation"]["uri"] for each in places] == ["kernels/scale.cu"] * 2
    assert [each["region"]["startLine"] for each in places] == [14, 14]


@needs_cpu_backend
@needs_racecheck
@pytest.mark.skipif(not CMAKES, reason="no cmake")
def test_what_ctest_starts_is_checked(built):
    cmake, ctest = CMAKES[0], CMAKES[0].replace("cmake", "ctest")
    checked = (*CUDACHECK, "--seeds", "3", "--")
    built.succeed(cmake, "-B", "build", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DDEFINES=WITHOUT_ATOMIC")
    built.succeed(*checked, cmake, "--build", "build")
    code, printed = built.run_in_project(*checked, ctest, "--test-dir", "build")
    assert code == 1
    assert "race (managed memory) on allocation 1, element 130 " in printed
    assert "2 programs with kernels, 1 with something to fix\n" in printed


@needs_cpu_backend
@needs_racecheck
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-c", "kernels/twice.cu", "-fno-such"], 1, "nvcc: -fno-such: nvcc has no such option;"),
        (["-ptx", "kernels/twice.cu"], 1, "nvcc: -ptx: there is no code for a GPU here;"),
        (["-c", "missing.cu"], 1, "nvcc: there is no file missing.cu."),
        (["README"], 1, "nvcc: README: that is neither a source nor an object."),
        (["--options-file", "missing"], 1, "nvcc: missing: No such file or directory."),
        (["-c", "kernels/twice.cu", "-o"], 1, "nvcc: -o: a value is missing after it."),
        (["--default-stream=per-thread", "-c", "kernels/twice.cu"], 1, "nvcc: --default-stream per-thread: "),
        (["-Iinclude", "-M", "kernels/twice.cu"], 0, "twice.o: kernels/twice.cu "),
        (["-Iinclude", "-E", "kernels/twice.cu"], 0, "float twice(float x) { return 2 * x; }"),
        (["--version"], 0, "release 13.0, V13.0.88\n"),
    ],
)  # fmt: skip
def test_options_of_nvcc(built, words, code, said):
    assert built.run_in_project(NVCC, *words)[0] == code
    assert said in built.run_in_project(NVCC, *words)[1]


@needs_cpu_backend
@needs_racecheck
def test_nvcc_ignores_what_has_no_meaning(built):
    ignored = (
        "-arch=sm_90", "-gencode", "arch=compute_80,code=sm_80", "-G", "-lineinfo", "--extended-lambda",
        "-O3", "--expt-relaxed-constexpr", "-use_fast_math", "-Xptxas", "-v", "--maxrregcount=32",
        "-m64", "-Xcudafe", "--diag_suppress=20012", "-t0", "--threads", "4", "-dc", "-fPIC", "-Iinclude",
    )  # fmt: skip
    assert built.succeed(NVCC, *ignored, "kernels/twice.cu", "kernels/scale.cu") == ""
    program = (NVCC, "-shared", "twice.o", "scale.o", "-o", "libkernels.so")
    assert built.succeed(*program) == ""
    words = (
        "-Iinclude",
        "tests/sum_test.cu",
        "-L.",
        "-lkernels",
        "-Xlinker",
        "-rpath,.",
        "-o",
        "sum_test",
    )
    assert built.succeed(NVCC, *words) == ""
    assert built.succeed("./sum_test") == "260\n"
    assert built.succeed(NVCC, *words, "-run") == "260\n"
