# SPDX-License-Identifier: MIT
"""The site that the tests look at: built once for each run of a test file, or already there.

LAB_SITE_FOLDER may name a site that is built already. Tests are skipped, with the reason, if Sphinx or
the browser is not here: `./lab site` installs the one, .ci/run the other.
"""

import atexit
import functools
import http.server
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import unittest

from engine.command.processes import output_of
from lab_runs import lab
from lab_tool.paths import VENV
from lab_tool.setup.packages import VENV_PYTHON
from lab_tool.site_packages import ASK, REQUIREMENTS, pinned

PREFIX = "/a course/site/"  # of the server's paths, as on Pages; with a space on purpose


def take_packages_of_venv():
    """Makes the packages in .venv importable here, if they are for this Python."""
    folder = VENV / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


@functools.cache
def built_site():
    """The folder of the site. Raises unittest.SkipTest if it can't be built here without the network."""
    known = os.environ.get("LAB_SITE_FOLDER")
    if known:
        return pathlib.Path(known)
    wanted = pinned(REQUIREMENTS.read_text(encoding="utf-8"))
    if output_of([VENV_PYTHON, "-c", ASK, *wanted]) is None:
        raise unittest.SkipTest("what builds the site is not in .venv; ./lab site installs it")
    work = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    folder = pathlib.Path(work) / "site"
    result = lab("site", "--output", folder)
    assert result.returncode == 0, result.stderr
    return folder


def pages_of(folder):
    """The names of all pages, as paths from the site's root."""
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))


class SiteServer:
    """Serves the site under PREFIX; `missing` are the paths that it was asked for in vain."""

    def __init__(self, folder):
        self.missing = []
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                asked = super().translate_path(path)
                relative = pathlib.Path(asked).relative_to(self.directory)
                parts = relative.parts[len(PREFIX.strip("/").split("/")) :]
                inside = relative.as_posix().startswith(PREFIX.strip("/"))
                return str(pathlib.Path(self.directory, *parts)) if inside else "/nowhere"

            def send_error(self, code, *words):
                if not self.path.endswith("favicon.ico"):  # a browser asks for it by itself
                    outer.missing.append(self.path)
                super().send_error(code, *words)

            def log_message(self, *words):
                pass

        handler = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = (
            f"http://127.0.0.1:{self.server.server_address[1]}{PREFIX.replace(' ', '%20')}"
        )

    def close(self):
        self.server.shutdown()
        self.server.server_close()
