# SPDX-License-Identifier: MIT
"""Runs a submission, which nobody has read, in the sandbox.

Each process has one case, in the form that the race checker sees: there the same bytes and the same seed
give the same results.
"""

import shutil

from grader.judging.compiling import compiled_alone
from grader.judging.programs import OBSERVED, ORDINARY
from grader.judging.runner import Runner
from grader.sandbox.sandboxed_run import PATIENCE, Access, SandboxFailed


class SandboxRunner(Runner):
    """Each program has a folder of its own in `folder`, which is one of Sandbox.folder()."""

    results_form = OBSERVED
    one_process_per_case = True
    patience = PATIENCE

    def __init__(self, sandbox, builds, exercise, source, folder):
        self.sandbox, self.builds, self.folder = sandbox, builds, folder
        self.folders = 0
        self.programs = {}  # {a form's prefix: its Program}
        super().__init__(builds.cpu, exercise, self._copy_of(source))

    def _copy_of(self, source):
        """Where another user than the grader can read it."""
        copy = self.new_folder() / source.name
        shutil.copyfile(source, copy)
        copy.chmod(0o644)
        return copy

    def new_folder(self):
        self.folders += 1
        made = self.folder / str(self.folders)
        made.mkdir()
        made.chmod(0o755)
        return made

    def compiled(self, form):
        if form.prefix not in self.programs:
            self.programs[form.prefix] = self._compiled(self.build, form)
        return self.programs[form.prefix]

    def compiled_for_gpu(self):
        """Raises NotCompiled."""
        return self._compiled(self.builds.gpu, ORDINARY)._replace(is_for_gpu=True)

    def _compiled(self, build, form):
        folder = self.new_folder()
        return compiled_alone(self.sandbox, build, self.exercise, self.source, folder, form)

    def run(self, program, folder, arguments, environment, limits):
        """Raises Stopped, and SandboxFailed."""
        access = Access(folder, program.readable, program.is_for_gpu)
        run = self.sandbox.run([program.path, *arguments], access, environment, limits)
        if not run.has_begun:
            raise SandboxFailed(f"no program could be run in the sandbox: {run.output.strip()}")
        return run.as_run
