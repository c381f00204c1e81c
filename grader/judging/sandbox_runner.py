# SPDX-License-Identifier: MIT
"""Runs a submission, which nobody has read, in the sandbox.

Each process has one case, in the form that the race checker sees: there the same bytes and the same seed
give the same results.
"""

import contextlib
import shutil

from grader.judging.compiling import compiled_alone
from grader.judging.gpu_turns import GPU_TURNS
from grader.judging.programs import OBSERVED, ORDINARY
from grader.judging.runner import TIME, OutOfTime, Runner
from grader.sandbox.sandboxed_run import Access, SandboxFailed

# What a program is told it reads before any code of the submission's, and its report goes back the same way:
# its environment and its arguments are the same in all runs.
FROM_INPUT = {"LAB_SETTINGS": "stdin"}
OWN_INPUT = "&0"


SECONDS_OF_ALL = 120  # of processors, for all runs of one submission together


class SandboxRunner(Runner):
    """Each program has a folder of its own in `folder`, which is one of Sandbox.folder()."""

    results_form = OBSERVED
    one_process_per_case = True
    goes_by_the_clock = False

    def __init__(self, sandbox, builds, exercise, source, folder):
        self.sandbox, self.builds, self.folder = sandbox, builds, folder
        self.folders, self.seconds = 0, 0.0
        self.programs = {}  # {a form's prefix: its Program}
        self.has_gpu_alone = False
        super().__init__(builds.cpu, exercise, self._copy_of(source))

    def _copy_of(self, source):
        """Where another user than the grader can read it."""
        copy = self._made(self._next_folder()) / source.name
        shutil.copyfile(source, copy)
        copy.chmod(0o644)
        return copy

    def new_folder(self):
        """Of the same name each time, since a name would tell one run from another. What the run before
        left is moved away."""
        folder = self.folder / "run"
        if folder.exists():
            folder.rename(self._next_folder())
        return self._made(folder)

    def remove_last_run(self):
        """Removes the folder that new_folder() has made last."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)

    def _next_folder(self):
        self.folders += 1
        return self.folder / str(self.folders)

    @staticmethod
    def _made(folder):
        folder.mkdir()
        folder.chmod(0o755)
        return folder

    def compiled(self, form):
        if form.prefix not in self.programs:
            self.programs[form.prefix] = self._compiled(self.build, form)
        return self.programs[form.prefix]

    def compiled_for_gpu(self):
        """Raises NotCompiled."""
        return self._compiled(self.builds.gpu, ORDINARY)._replace(is_for_gpu=True)

    def compiled_to_time(self, solution):
        """The same with the course's solution next to it, out of compiling.solution_object()."""
        return self._compiled(self.builds.gpu, ORDINARY, solution)._replace(is_for_gpu=True)

    def _compiled(self, build, form, solution=None):
        folder = self._made(self._next_folder())
        return compiled_alone(
            self.sandbox, build, self.exercise, self.source, folder, form, solution
        )

    @contextlib.contextmanager
    def gpu_alone(self):
        """As long as it lasts, no other submission's program runs on the GPU."""
        with GPU_TURNS.alone():
            self.has_gpu_alone = True
            try:
                yield
            finally:
                self.has_gpu_alone = False

    def _turn(self, program):
        is_to_wait = program.is_for_gpu and not self.has_gpu_alone
        return GPU_TURNS.shared() if is_to_wait else contextlib.nullcontext()

    def run(self, program, folder, arguments, settings, limits):
        """Raises Stopped, SandboxFailed, and OutOfTime."""
        left = SECONDS_OF_ALL - self.seconds
        if left <= 0:
            raise OutOfTime
        if settings.get("LAB_RACECHECK_COUNTS"):
            settings = {**settings, "LAB_RACECHECK_REPORT": OWN_INPUT}
        access = Access(folder, program.readable, program.is_for_gpu)
        command = [program.path, *arguments]
        within = limits._replace(seconds=min(limits.seconds, left))
        with self._turn(program):
            run = self.sandbox.run(command, access, FROM_INPUT, within, given=_as_input(settings))
        self.seconds += run.seconds
        if not run.has_begun:
            raise SandboxFailed(f"no program could be run in the sandbox: {run.output.strip()}")
        if run.limit == TIME and left < limits.seconds:
            raise OutOfTime
        return run.as_run


def _as_input(settings):
    return "".join(f"{name}={value}\0" for name, value in settings.items()).encode()
