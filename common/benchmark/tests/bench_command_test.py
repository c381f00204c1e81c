# SPDX-License-Identifier: MIT
"""`./lab bench` and `./lab plot`: what they refuse, and what a recorded run holds."""

import contextlib
import io
import json
import os
import pathlib
import unittest
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
from test_setup import temporary_folder
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


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)

    def refuses(self, *words, says, code=2):
        """One sentence, this exit code, and nothing is built or run."""
        with self.subTest(words=words), unittest.mock.patch.object(processes, "_start") as started:
            got, out, problem = run_lab(*map(str, words))
            self.assertEqual((got, out), (code, ""))
            self.assertRegex(problem, r"\Alab: [^\n]+\n\Z")
            self.assertRegex(problem, says)
            started.assert_not_called()

    def test_unknown_chapter(self):
        self.refuses("bench", "vectr_add", says="did you mean vector_add")
        self.refuses("bench", "99", says="there is no chapter 99")

    def test_unknown_option(self):
        self.refuses("bench", "--fast", says="no option --fast")
        self.refuses("plot", "x.json", "--backend", "cpu", says="no option --backend")
        self.refuses("bench", "--", "--quick", says="go with run")

    def test_unwritable_json(self):
        self.refuses("bench", "--json", "no/such/run.json", says="there is no folder no/such")
        self.refuses("bench", "--json", self.folder, says="no regular file")
        self.refuses("bench", "--json", "/dev/null", says="no regular file")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_json_without_rights(self):
        self.folder.chmod(0o500)
        self.refuses("bench", "--json", self.folder / "run.json", says="cannot be written")

    def test_what_only_names_is_known_before_a_gpu_is_looked_for(self):
        self.refuses("bench", "--only", "nope", says="no such subject; there are kernels and l")
        self.refuses("bench", "--only", "launch", says="did you mean launches")
        self.refuses("bench", "04", "--backend", "cpu", says="the backend itself, and no chapter")

    def test_a_file_of_another_kind_is_kept(self):
        thesis = self.folder / "thesis.txt"
        thesis.write_text("mine", encoding="utf-8")
        self.refuses("bench", "--json", thesis, says="of another kind is there.* add --force")
        self.refuses("plot", self.folder, says="is a folder, and a file is needed")
        self.assertEqual(thesis.read_text(encoding="utf-8"), "mine")

    def test_no_gpu(self):
        nothing = BackendChoice("cpu", ["75"], "there is no GPU in this test")
        with unittest.mock.patch.object(benchmarks, "choose_backend", return_value=nothing):
            self.refuses(
                "bench", says="bench needs a GPU: there is no GPU in this test", code=NO_GPU
            )

    def test_plot(self):
        self.refuses("plot", says="lab plot needs FILE.json")
        self.refuses("plot", self.folder / "none.json", says="there is no file")
        for content in ("", "[]", "{}", '{"format": 0}'):
            (self.folder / "some.json").write_text(content, encoding="utf-8")
            self.refuses("plot", self.folder / "some.json", says="is no recorded run")
        self.refuses("plot", __file__, "--output", "no/such", says="there is no such folder")

    def test_plot_without_jsonschema(self):
        run = pathlib.Path(__file__).with_name("invented_run.json")
        missing = CommandError("jsonschema could not be installed.")
        with unittest.mock.patch.object(
            benchmarks, "python_with_installed", side_effect=missing
        ) as asked:
            self.refuses(
                "plot", run, "--output", self.folder, says="could not be installed", code=1
            )
        asked.assert_called_once_with(JSONSCHEMA)
        self.assertEqual(os.listdir(self.folder), [])

    def test_goals(self):
        """1 if the recorded run misses one; what the table says has a test of its own."""
        pytest.importorskip("jsonschema")
        run = pathlib.Path(__file__).with_name("invented_run.json")
        self.assertEqual(run_lab("bench", "--goals", str(run))[0], 1)
        rows = json.loads(run.read_text(encoding="utf-8"))
        rows["rows"] = [row for row in rows["rows"] if row["elements"] == 2**29]
        reached = self.folder / "run.json"
        reached.write_text(json.dumps(rows, indent=2), encoding="utf-8")
        self.assertEqual(run_lab("bench", "--goals", str(reached))[0], 0)
        self.refuses("bench", "--goals", __file__, says="is no recorded run")

    def test_plot_draws(self):
        pytest.importorskip("jsonschema")
        run = pathlib.Path(__file__).with_name("invented_run.json")
        code, out, problem = run_lab("plot", str(run), "--output", str(self.folder))
        self.assertEqual((code, out), (0, ""))
        self.assertIn("invented_run-04.svg", problem)
        self.assertEqual(os.listdir(self.folder), ["invented_run-04.svg"])


class RecordedRuns(unittest.TestCase):
    def setUp(self):
        pytest.importorskip("jsonschema")
        self.folder = temporary_folder(self)
        self.file = self.folder / "run.json"
        invented = pathlib.Path(__file__).with_name("invented_run.json")
        run = json.loads(invented.read_text(encoding="utf-8"))
        self.found = {name: run[name] for name in ("device", "rounds", "not_run", "rows")}

    def write_program(self, name, text):
        program = self.folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def bench(self, *words, status=0, backend="cuda", **settings):
        """./lab bench of a build folder whose program is PROGRAM."""
        text = PROGRAM.replace("{CONTENT}", json.dumps(self.found))
        self.write_program(benchmarks.BENCHMARKS[backend], text.replace("{STATUS}", str(status)))
        self.write_program(benchmarks.ALL_CORES_BENCHMARK, "#!/bin/sh\necho what all cores do\n")
        place = BuildFolder(self.folder, {})
        with (
            unittest.mock.patch.object(benchmarks, "configured", return_value=place),
            unittest.mock.patch.object(
                benchmarks, "settings_of", return_value={"backend": backend, **settings}
            ),
            unittest.mock.patch.object(benchmarks, "build") as built,
        ):
            result = run_lab("bench", "--build", BUILD_FOLDER, "--json", str(self.file), *words)
            if result[0] != 2:
                self.built = [call.args[1][0] for call in built.call_args_list]
                self.assertEqual(self.built[0], benchmarks.BENCHMARKS[backend])
        return result

    def test_what_a_recorded_run_holds(self):
        code, _, problem = self.bench("04", "--quick", "--verbose")
        command, recorded, following = problem.splitlines()
        self.assertEqual(code, 0)
        self.assertIn("chapter_benchmark --quick --chapter 04 --json ", command)
        self.assertEqual(recorded, f"{self.file} is the recorded run.")
        self.assertEqual(following, f"Next: ./lab plot {self.file}")
        run = recorded_run.load(self.file)
        self.assertEqual(run["rows"], self.found["rows"])
        self.assertEqual(run["command"], "./lab bench 04 --quick --json FILE")
        self.assertEqual(run["backend"], "cuda")
        self.assertEqual(run["machine"]["cores"], os.cpu_count())
        self.assertRegex(run["date"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\Z")
        self.assertIn(run["tree_has_changes"], (True, False, None))
        if run["commit"] is not None:
            self.assertRegex(run["commit"], r"\A[0-9a-f]{40}\Z")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o644)

    def test_one_subject(self):
        code, _, problem = self.bench("--only", "launches", "--verbose")
        self.assertEqual(code, 0)
        self.assertIn("chapter_benchmark --only launches --json ", problem)
        command = recorded_run.load(self.file)["command"]
        self.assertEqual(command, "./lab bench --only launches --json FILE")

    def test_one_line_a_row(self):
        self.bench()
        lines = self.file.read_text(encoding="utf-8").splitlines()
        rows = [line for line in lines if line.startswith("    {")]
        self.assertEqual(len(rows), len(self.found["rows"]))

    def test_a_failed_run_leaves_the_old_file_alone(self):
        for status in (1, 77):
            self.file.write_text(OLD_RUN, encoding="utf-8")
            self.assertEqual(self.bench(status=status)[0], status)
            self.assertEqual(self.file.read_text(encoding="utf-8"), OLD_RUN)
        self.assertEqual(sorted(os.listdir(self.folder)), ["common", "run.json"])

    def test_cpu_backend(self):
        code, _, problem = self.bench("--quick", "--verbose", backend="cpu")
        self.assertEqual(code, 0)
        self.assertIn("cpu_backend_benchmark --quick --json ", problem)
        command = recorded_run.load(self.file)["command"]
        self.assertEqual(command, "./lab bench --quick --backend cpu --json FILE")
        self.assertEqual(self.built[1:], [benchmarks.ALL_CORES_BENCHMARK])

    def test_cpu_backend_with_the_race_checker(self):
        self.write_program(
            benchmarks.RACECHECK_BENCHMARK, "#!/bin/sh\necho what a check costs\nexit 3\n"
        )
        code, _, _ = self.bench(backend="cpu", scheduled_libraries="here")
        self.assertEqual((code, len(self.built)), (3, 3))
        self.assertTrue(self.file.exists())
        self.bench("--quick", backend="cpu", scheduled_libraries="here")
        self.assertEqual(len(self.built), 2)

    def test_cpu_backend_has_no_chapters(self):
        for words in (["04"], ["--only", "launches"]):
            code, _, problem = self.bench(*words, backend="cpu")
            self.assertEqual(code, 2)
            self.assertIn("measures the backend itself, and no chapter", problem)
