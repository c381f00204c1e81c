# SPDX-License-Identifier: MIT
"""./lab site: wrong use, bad networks and odd machines, each answered by one sentence."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from engine.driver.errors import CommandError
from lab_tool.setup.operating_system import makes_virtual_environments
from lab_tool.site import building, failed_installation, packages, serving
from this_build import ROOT

# Lines of the kind that pip and venv print, and a few words of the sentence that each must lead to.
SEEN = {
    "disk is full": "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    "no connection": "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError("
    "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/",
    "proxy refused": "WARNING: Retrying after 'ProxyError('Cannot connect to proxy.', "
    "OSError('Tunnel connection failed: 407 Proxy Authentication Required'))': /simple/sphinx/",
    "certificate": "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'",
    "python3-venv": "The virtual environment was not created successfully as ensurepip is not\navailable",
    "can't be written": "OSError: [Errno 30] Read-only file system: '/course/.venv'",
    "no right to write": "PermissionError: [Errno 13] Permission denied: '/course/.venv/lib'",
    "fits this Python": "ERROR: No matching distribution found for sphinx==9.0.4",
}


# Not that of a virtual environment, which may have Sphinx already.
PYTHON = os.path.realpath(sys.executable)


def run_lab(*words, checkout=ROOT, **variables):
    return subprocess.run(
        [PYTHON, checkout / "lab", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **variables},
    )


class WrongUse(unittest.TestCase):
    def assert_refused(self, words, sentence):
        result = run_lab("site", *words)
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertIn(sentence, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_a_folder_with_something_else_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "thesis.txt").write_text("mine", encoding="utf-8")
            self.assert_refused(["--output", folder], "holds something else than a site")
            self.assertTrue((pathlib.Path(folder) / "thesis.txt").is_file())

    def test_an_output_that_is_a_file_or_nowhere(self):
        self.assert_refused(["--output", str(ROOT / "README.md")], "that is no folder")
        self.assert_refused(["--output", "/no/such/folder"], "there is no folder /no/such")

    def test_a_port_without_serve_and_no_port_at_all(self):
        self.assert_refused(["--port", "80"], "add --serve")
        self.assert_refused(["--serve", "--port", "65536"], "from 0 to 65535")

    def test_a_port_that_is_taken(self):
        refused = self.assertRaisesRegex(CommandError, "can't be used .* --port 0")
        with serving.http.server.HTTPServer((serving.ADDRESS, 0), None) as taken, refused:
            serving.serve("/", taken.server_address[1])


class Causes(unittest.TestCase):
    def test_each_cause_is_told_from_the_others(self):
        for words, printed in SEEN.items():
            with self.subTest(words=words):
                self.assertIn(words, failed_installation.cause_of(printed.splitlines()))

    def test_an_unknown_cause_is_none(self):
        self.assertIsNone(failed_installation.cause_of(["Segmentation fault"]))


class Installation(unittest.TestCase):
    """In a copy of the checkout's tool that has no .venv."""

    def enterContext(self, context):  # noqa: N802 (unittest's name, from Python 3.11 on)
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def copy_of_checkout(self, name="course"):
        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / name
        work.mkdir()
        shutil.copy(ROOT / "lab", work)
        for folder in ("docs", "engine", "grader", "lab_tool"):
            shutil.copytree(
                ROOT / folder, work / folder, ignore=shutil.ignore_patterns("__pycache__")
            )
        return work

    def assert_not_installed(self, result, sentence, checkout):
        self.assertEqual(result.returncode, 1, result.stderr)
        told = [line for line in result.stderr.splitlines() if line.startswith("lab:")]
        self.assertEqual(len(told), 1, result.stderr)
        self.assertIn(sentence, told[0])
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse((checkout / ".venv").exists(), "something half-installed was left")
        self.assertFalse((checkout / "build-site").exists())

    def site_of(self, checkout, **variables):
        if sys.version_info < packages.OLDEST_PYTHON:
            self.skipTest("the site takes a newer Python than the one of these tests")
        if not makes_virtual_environments():
            self.skipTest("this Python has no venv, so that nothing gets as far as the network")
        return run_lab("site", checkout=checkout, **variables)

    def test_without_a_network(self):
        # An index that nobody serves, and no wheel on the disk: as a laptop on a train.
        checkout = self.copy_of_checkout("a course of Zoë's")
        result = self.site_of(
            checkout,
            PIP_INDEX_URL="http://127.0.0.1:9/simple",
            PIP_FIND_LINKS="",
            PIP_DEFAULT_TIMEOUT="2",
            PIP_CONFIG_FILE=os.devnull,
        )
        self.assert_not_installed(result, "there is no connection to the package index", checkout)

    def test_with_a_proxy_that_is_not_there(self):
        checkout = self.copy_of_checkout()
        result = self.site_of(
            checkout,
            PIP_INDEX_URL="https://packages.example/simple",
            PIP_PROXY="http://127.0.0.1:9",
            PIP_FIND_LINKS="",
            PIP_CONFIG_FILE=os.devnull,
        )
        self.assert_not_installed(result, "the proxy refused the connection", checkout)

    def test_an_old_python_is_refused(self):
        self.enterContext(mock.patch.object(packages, "OLDEST_PYTHON", (3, 99)))
        self.enterContext(mock.patch.object(packages, "VENV_PYTHON", "/no/such/python"))
        with self.assertRaisesRegex(CommandError, r"takes Python 3\.99 or newer"):
            packages._refuse_old_python()

    def test_a_tree_that_cannot_be_written(self):
        self.enterContext(mock.patch.object(packages.os, "access", return_value=False))
        with self.assertRaisesRegex(CommandError, "nothing can be written there"):
            packages._install()

    def test_a_full_disk_while_it_is_built_leaves_the_old_site(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "site"
        folder.mkdir()
        (folder / building.MARK).write_text("old", encoding="utf-8")

        def full_disk(command, read_line):
            read_line("OSError: [Errno 28] No space left on device")
            return 2

        self.enterContext(
            mock.patch.object(building, "python_with_packages", return_value="python")
        )
        self.enterContext(mock.patch.object(building, "watch", full_disk))
        with self.assertRaisesRegex(CommandError, "the disk is full"):
            building.build_site(folder)
        self.assertEqual((folder / building.MARK).read_text(encoding="utf-8"), "old")
        self.assertEqual([one.name for one in folder.parent.iterdir()], ["site"])
