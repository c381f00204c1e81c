# SPDX-License-Identifier: MIT
"""When a file was last committed, by a repository of a student's: Git runs in the sandbox.

A repository's own settings can name programs for Git to start. So Git is not run without a sandbox.
"""

from grader.judging.runner import Limits
from grader.sandbox.sandbox import NONE
from grader.sandbox.sandboxed_run import Access

LIMITS = Limits(seconds=20)
VARIABLES = {
    "GIT_CONFIG_NOSYSTEM": "1",  # Landlock closes /etc, and Git gives up if its file there can't be read
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
# Some students have signatures shown, which stand before the time.
SETTINGS = ("-c", "log.showSignature=false")


def commit_time(sandbox, file, levels):
    """In seconds since 1970; None if the file is in no repository, was not committed, or if there is no
    real sandbox.

    The repository is looked for in the file's folder and in those around it, `levels` in all: above
    them is the instructor's.
    """
    repository = _repository_of(file, levels)
    if not repository or not sandbox or sandbox.kind == NONE:
        return None
    inner = file.parent.resolve().relative_to(repository) / file.name
    command = ["git", *SETTINGS, "--literal-pathspecs", "--no-pager", "-C", str(repository)]
    command += ["log", "-1", "--format=%ct", "--", str(inner)]
    with sandbox.folder() as work:
        run = sandbox.run(command, Access(work, (repository,)), VARIABLES, LIMITS)
    text = run.output.strip()
    return float(text) if run.code == 0 and text.isdigit() and len(text) < 15 else None


def _repository_of(file, levels):
    """The folder with .git."""
    folder = file.parent.resolve()
    for each in [folder, *folder.parents][:levels]:
        if (each / ".git").exists():
            return each
    return None
