# SPDX-License-Identifier: MIT
"""`./lab bench` and `./lab plot`: what they refuse, and what a recorded run holds."""

import contextlib
import io
import json
import os
import pathlib
import re
import unittest.mock

import pytest

import recorded_run
from engine.command import processes
from engine.command.build_folder import BuildFolder
from engine.command.errors import CommandError
from lab_tool.builds.backends import BackendChoice
from lab_tool.command_line import main
from lab_tool.setup.packages import JSONSCHEMA
from lab_tool.verbs import benchmarks
from this_build import BUILD

BUILD_FOLDER = str(BUILD)
NO_GPU = 77
OLD_RUN = '{\n  "format": 0,\n'  # as far as it tells a recorded run from a file of another kind


# A benchmark that writes what it was told to write, and ends with the status it was told.
PROGRAM = """\
#!/bin/sh
while [ "$1" != --json ]; do echo "option $1"; shift; done
cat > "$2" << 'END'
{CONTENT}
END
exit {STATUS}
"""


def run_lab(*words):
    """lab's exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        unittest.mock.patch.dict(os.environ),
    ):
        code = main(list(words))
    return code, out.getvalue(), err.getvalue()


def refuses(*words, says, code=2):
    """One sentence, this exit code, and nothing is built or run."""
    with unittest.mock.patch.object(processes, "_start") as started:
        got, out, problem = run_lab(*map(str, words))
        assert (got, out) == (code, "")
        assert re.search(r"\Alab: [^\n]+\n\Z", problem)
        assert re.search(says, problem)
        started.assert_not_called()


def test_unknown_chapter():
    refuses("bench", "vectr_add", says="did you mean vector_add")
    refuses("bench", "99", says="there is no chapter 99")


def test_unknown_option():
    refuses("bench", "--fast", says="no option --fast")
    refuses("plot", "x.json", "--backend", "cpu", says="no option --backend")
    refuses("bench", "--", "--quick", says="go with run")


def test_unwritable_json(tmp_path):
    refuses("bench", "--json", "no/such/run.json", says="there is no folder no/such")
    refuses("bench", "--json", tmp_path, says="no regular file")
    refuses("bench", "--json", "/dev/null", says="no regular file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_json_without_rights(tmp_path):
    tmp_path.chmod(0o500)
    refuses("bench", "--json", tmp_path / "run.json", says="cannot be written")


def test_what_only_names_is_known_before_a_gpu_is_looked_for():
    refuses("bench", "--only", "nope", says="no such subject; there are kernels and l")
    refuses("bench", "--only", "launch", says="did you mean launches")
    refuses("bench", "04", "--backend", "cpu", says="the backend itself, and no chapter")


def test_a_file_of_another_kind_is_kept(tmp_path):
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("mine", encoding="utf-8")
    refuses("bench", "--json", thesis, says="of another kind is there.* add --force")
    refuses("plot", tmp_path, says="is a folder, and a file is needed")
    assert thesis.read_text(encoding="utf-8") == "mine"


def test_no_gpu():
    nothing = BackendChoice("cpu", ["75"], "there is no GPU in this test")
    with unittest.mock.patch.object(benchmarks, "choose_backend", return_value=nothing):
        refuses("bench", says="bench needs a GPU: there is no GPU in this test", code=NO_GPU)


def test_plot(tmp_path):
    refuses("plot", says="lab plot needs FILE.json")
    refuses("plot", tmp_path / "none.json", says="there is no file")
    for content in ("", "[]", "{}", '{"format": 0}'):
        (tmp_path / "some.json").write_text(content, encoding="utf-8")
        refuses("plot", tmp_path / "some.json", says="is no recorded run")
    refuses("plot", __file__, "--output", "no/such", says="there is no such folder")


def test_plot_without_jsonschema(tmp_path):
    run = pathlib.Path(__file__).with_name("invented_run.json")
    missing = CommandError("jsonschema could not be installed.")
    with unittest.mock.patch.object(
        benchmarks, "python_with_installed", side_effect=missing
    ) as asked:
        refuses("plot", run, "--output", tmp_path, says="could not be installed", code=1)
    asked.assert_called_once_with(JSONSCHEMA)
    assert os.listdir(tmp_path) == []


def test_goals(tmp_path):
    """1 if the recorded run misses one; what the table says has a test of its own."""
    pytest.importorskip("jsonschema")
    run = pathlib.Path(__file__).with_name("invented_run.json")
    assert run_lab("bench", "--goals", str(run))[0] == 1
    rows = json.loads(run.read_text(encoding="utf-8"))
    rows["rows"] = [row for row in rows["rows"] if row["elements"] == 2**29]
    reached = tmp_path / "run.json"
    reached.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    assert run_lab("bench", "--goals", str(reached))[0] == 0
    refuses("bench", "--goals", __file__, says="is no recorded run")


def test_plot_draws(tmp_path):
    pytest.importorskip("jsonschema")
    run = pathlib.Path(__file__).with_name("invented_run.json")
    code, out, problem = run_lab("plot", str(run), "--output", str(tmp_path))
    assert (code, out) == (0, "")
    assert "invented_run-04.svg" in problem
    assert os.listdir(tmp_path) == ["invented_run-04.svg"]


class Bench:
    """./lab bench of a build folder whose program is PROGRAM."""

    def __init__(self, folder):
        pytest.importorskip("jsonschema")
        self.folder = folder
        self.file = self.folder / "run.json"
        invented = pathlib.Path(__file__).with_name("invented_run.json")
        run = json.loads(invented.read_text(encoding="utf-8"))
        self.found = {name: run[name] for name in ("device", "rounds", "not_run", "rows")}

    def write_program(self, name, text):
        program = self.folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def run(self, *words, status=0, backend="cuda", **settings):
        text = PROGRAM.replace("{CONTENT}", json.dumps(self.found))
        self.write_program(benchmarks.BENCHMARKS[backend], text.replace("{STATUS}", str(status)))
        self.write_program(benchmarks.ALL_CORES_BENCHMARK, "#!/bin/sh\necho what all cores do\n")
        place = BuildFolder(self.folder, {})
        with (
            unittest.mock.patch.object(benchmarks, "headers_to_take", return_value=""),
            unittest.mock.patch.object(benchmarks, "configured", return_value=place),
            unittest.mock.patch.object(
                benchmarks, "settings_of", return_value={"backend": backend, **settings}
            ),
            unittest.mock.patch.object(benchmarks, "build") as built,
        ):
            result = run_lab("bench", "--build", BUILD_FOLDER, "--json", str(self.file), *words)
            if result[0] != 2:
                self.built = [call.args[1][0] for call in built.call_args_list]
                assert self.built[0] == benchmarks.BENCHMARKS[backend]
        return result


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_what_a_recorded_run_holds(bench):
    code, _, problem = bench.run("04", "--quick", "--verbose")
    command, recorded, following = problem.splitlines()
    assert code == 0
    assert "chapter_benchmark --quick --chapter 04 --json " in command
    assert recorded == f"{bench.file} is the recorded run."
    assert following == f"Next: ./lab plot {bench.file}"
    run = recorded_run.load(bench.file)
    assert run["rows"] == bench.found["rows"]
    assert run["command"] == "./lab bench 04 --quick --json FILE"
    assert run["backend"] == "cuda"
    assert run["machine"]["cores"] == os.cpu_count()
    assert re.search(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\Z", run["date"])
    assert run["tree_has_changes"] in (True, False, None)
    if run["commit"] is not None:
        assert re.search(r"\A[0-9a-f]{40}\Z", run["commit"])
    assert bench.file.stat().st_mode & 0o777 == 0o644


def test_one_subject(bench):
    code, _, problem = bench.run("--only", "launches", "--verbose")
    assert code == 0
    assert "chapter_benchmark --only launches --json " in problem
    command = recorded_run.load(bench.file)["command"]
    assert command == "./lab bench --only launches --json FILE"


def test_one_line_a_row(bench):
    bench.run()
    lines = bench.file.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("    {")]
    assert len(rows) == len(bench.found["rows"])


def test_a_failed_run_leaves_the_old_file_alone(bench):
    for status in (1, 77):
        bench.file.write_text(OLD_RUN, encoding="utf-8")
        assert bench.run(status=status)[0] == status
        assert bench.file.read_text(encoding="utf-8") == OLD_RUN
    assert sorted(os.listdir(bench.folder)) == ["common", "run.json"]


def test_cpu_backend(bench):
    code, _, problem = bench.run("--quick", "--verbose", backend="cpu")
    assert code == 0
    assert "cpu_backend_benchmark --quick --json " in problem
    command = recorded_run.load(bench.file)["command"]
    assert command == "./lab bench --quick --backend cpu --json FILE"
    assert bench.built[1:] == [benchmarks.ALL_CORES_BENCHMARK]


def test_cpu_backend_with_the_race_checker(bench):
    bench.write_program(
        benchmarks.RACECHECK_BENCHMARK, "#!/bin/sh\necho what a check costs\nexit 3\n"
    )
    code, _, _ = bench.run(backend="cpu", scheduled_libraries="here")
    assert (code, len(bench.built)) == (3, 3)
    assert bench.file.exists()
    bench.run("--quick", backend="cpu", scheduled_libraries="here")
    assert len(bench.built) == 2


@pytest.mark.parametrize("words", (["04"], ["--only", "launches"]), ids="chapter subject".split())
def test_cpu_backend_has_no_chapters(bench, words):
    code, _, problem = bench.run(*words, backend="cpu")
    assert code == 2
    assert "measures the backend itself, and no chapter" in problem
