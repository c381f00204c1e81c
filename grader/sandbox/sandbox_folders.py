# SPDX-License-Identifier: MIT
"""The folders that sandboxes write into: each is gone at its end, also if whoever made it was killed."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import stat
import tempfile
import time

PREFIX = "lab-sandbox-"
YOUNG = 3600  # seconds: until it is locked, a new folder looks like one that nobody has any more


@contextlib.contextmanager
def sandbox_folder():
    """An empty folder, which is gone afterwards. Others can't list it and may pass through: if the
    grader is root, each program runs as another user. Removes folders that killed graders have left."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as made, contextlib.ExitStack() as locks:
        with contextlib.suppress(OSError):  # without locks it is never taken for an abandoned one
            locks.enter_context(_locked(made))
        folder = pathlib.Path(made).resolve()
        folder.chmod(0o711)
        yield folder


def _remove_abandoned():
    for path in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Somebody else removes it, or its file system has no locks.
        with contextlib.suppress(OSError):
            state = path.lstat()
            is_own = stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid()
            if is_own and time.time() - state.st_mtime > YOUNG:
                with _locked(path):
                    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _locked(path):
    """The lock ends with this process, however that ends. Raises OSError if another one has it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
