# SPDX-License-Identifier: MIT
"""./lab site: wrong use, bad networks and odd machines, each answered by one sentence."""

import functools
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

from engine.command.errors import CommandError
from lab_tool import site, site_packages
from lab_tool.setup.requirements import makes_virtual_environments
from test_setup import captured, temporary_folder
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
    return captured(
        [PYTHON, checkout / "lab", *words], timeout=300, env={**os.environ, **variables}
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
        with site.http.server.HTTPServer((site.ADDRESS, 0), None) as taken, refused:
            site.serve("/", taken.server_address[1])


class Replacing(unittest.TestCase):
    """A site is replaced by the next one, and nothing else is."""

    def setUp(self):
        self.site = temporary_folder(self) / "site"
        (self.site / "docs").mkdir(parents=True)
        for name in (site.MARK, "index.html", "docs/page.html"):
            (self.site / name).write_text("", encoding="utf-8")
        names = f"{site.LIST}\n{site.MARK}\ndocs/page.html\nindex.html\n"
        (self.site / site.LIST).write_text(names, encoding="utf-8")

    def test_a_site_of_ours(self):
        site.check_output(self.site)
        (self.site / site.LIST).unlink()  # as of an earlier version
        (self.site / "index.html").write_text(f"<h1>{site.TITLE}</h1>", encoding="utf-8")
        site.check_output(self.site)

    def test_a_file_or_a_link_of_the_users_in_it(self):
        for make in (pathlib.Path.touch, lambda path: path.symlink_to("/etc")):
            own = self.site / "docs/own"
            make(own)
            with self.assertRaisesRegex(CommandError, "docs/own is no file of the site, and would"):
                site.check_output(self.site)
            own.unlink()

    def test_a_site_of_somebody_else(self):
        (self.site / site.LIST).unlink()
        (self.site / "index.html").write_text("<h1>My project</h1>", encoding="utf-8")
        with self.assertRaisesRegex(CommandError, "holds something else than a site"):
            site.check_output(self.site)


class Serving(unittest.TestCase):
    """What `./lab site --serve` answers."""

    def setUp(self):
        self.folder = temporary_folder(self) / "site"
        (self.folder / "docs").mkdir(parents=True)
        (self.folder / "index.html").write_text("first", encoding="utf-8")
        (self.folder.parent / "secret").write_text("secret", encoding="utf-8")
        (self.folder / "leak").symlink_to("../secret")
        (self.folder / "docs/up").symlink_to("../..")
        (self.folder / "alias").symlink_to("index.html")
        handler = functools.partial(site.QuietHandler, directory=str(self.folder))
        self.server = site.http.server.ThreadingHTTPServer((site.ADDRESS, 0), handler)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)

    def status_of(self, path, host="localhost", method="GET"):
        """Of the answer; b"" if there is none."""
        with socket.create_connection(self.server.server_address, timeout=10) as connection:
            names = f"Host: {host}\r\n" if host is not None else ""
            connection.sendall(f"{method} {path} HTTP/1.0\r\n{names}\r\n".encode())
            answer = b""
            while part := connection.recv(4096):
                answer += part
        self.assertNotIn(b"secret", answer)
        return int(answer.split(b" ")[1]) if answer else None

    def test_its_own_files(self):
        for path in ("/", "/index.html", "/alias", "/docs/"):
            for method in ("GET", "HEAD"):
                self.assertEqual(self.status_of(path, method=method), 200, path)
        self.assertEqual(self.status_of("/none.html"), 404)

    def test_no_file_from_elsewhere(self):
        for path in ("/leak", "/docs/up/secret", "/../secret", "/%2e%2e/secret"):
            self.assertEqual(self.status_of(path), 404, path)

    def test_odd_paths_have_an_answer(self):
        for path in ("/index.html%00", "/%00", "/%ff", "/" + "x" * 5000):
            self.assertEqual(self.status_of(path), 404, path[:20])

    def test_own_names_alone(self):
        port = self.server.server_address[1]
        for host in ("127.0.0.1", f"localhost:{port}", "LOCALHOST", f"[::1]:{port}"):
            self.assertEqual(self.status_of("/", host), 200, host)
        for host in (None, "", "evil.example", f"127.0.0.1.evil.example:{port}", "localhost@evil"):
            self.assertEqual(self.status_of("/", host), 421, host)


class Published(unittest.TestCase):
    def setUp(self):
        self.root = temporary_folder(self).resolve()
        for name in ("work/04.cu", "chapters/04/guard.cuh", "chapters/04/own.cu", "README.md"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()
        (self.root / "chapters/link.cu").symlink_to("../work/04.cu")

    def is_published(self, name):
        site._tracked.cache_clear()
        return site.is_published(self.root / name, self.root)

    def test_the_users_own_files_are_not(self):
        for name in ("work/04.cu", "work", "chapters/link.cu", "../", "notes.md", "build-cpu/x"):
            self.assertFalse(self.is_published(name), name)
        for name in ("chapters/04/guard.cuh", "chapters/04", "README.md"):
            self.assertTrue(self.is_published(name), name)

    @unittest.skipUnless(shutil.which("git"), "git is not here")
    def test_in_a_clone_only_what_git_knows(self):
        for words in (["init", "-q"], ["add", "README.md", "chapters/04/guard.cuh"]):
            subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)
        self.assertTrue(self.is_published("chapters/04/guard.cuh"))
        self.assertTrue(self.is_published("chapters/04"))
        self.assertFalse(self.is_published("chapters/04/own.cu"))

    def test_a_page_does_not_link_to_them(self):
        """Every file that a page of ours may lead to is in one of the course's folders."""
        for page in site.PAGES:
            self.assertTrue((ROOT / page).is_file(), page)
        for name in (*site.FOLDERS, *site.FILES):
            self.assertTrue((ROOT / name).exists() or name.startswith("."), name)


class Causes(unittest.TestCase):
    def test_each_cause_is_told_from_the_others(self):
        for words, printed in SEEN.items():
            with self.subTest(words=words):
                self.assertIn(words, site_packages.cause_of(printed.splitlines()))

    def test_an_unknown_cause_is_none(self):
        self.assertIsNone(site_packages.cause_of(["Segmentation fault"]))


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
        if sys.version_info < site_packages.OLDEST_PYTHON:
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
        self.enterContext(mock.patch.object(site_packages, "OLDEST_PYTHON", (3, 99)))
        self.enterContext(mock.patch.object(site_packages, "VENV_PYTHON", "/no/such/python"))
        with self.assertRaisesRegex(CommandError, r"takes Python 3\.99 or newer"):
            site_packages._refuse_old_python()

    def test_a_tree_that_cannot_be_written(self):
        self.enterContext(mock.patch.object(site_packages.os, "access", return_value=False))
        with self.assertRaisesRegex(CommandError, "nothing can be written there"):
            site_packages._install()

    def test_a_python_without_venv_is_shown_no_command_that_fails(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(site_packages, "VENV", folder / ".venv"))
        self.enterContext(
            mock.patch.object(site_packages, "makes_virtual_environments", return_value=False)
        )
        self.enterContext(mock.patch.object(site_packages, "commands_for", return_value=["a", "b"]))
        says_nothing = self.enterContext(mock.patch.object(site_packages, "remark"))
        with self.assertRaisesRegex(CommandError, "apt-get install python3-venv"):
            site_packages._install()
        says_nothing.assert_not_called()

    def test_a_full_disk_while_it_is_built_leaves_the_old_site(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "site"
        folder.mkdir()
        (folder / site.MARK).write_text("old", encoding="utf-8")

        def full_disk(command, read_line):
            read_line("OSError: [Errno 28] No space left on device")
            return 2

        self.enterContext(mock.patch.object(site, "python_with_packages", return_value="python"))
        self.enterContext(mock.patch.object(site, "watch", full_disk))
        with self.assertRaisesRegex(CommandError, "the disk is full"):
            site.build_site(folder)
        self.assertEqual((folder / site.MARK).read_text(encoding="utf-8"), "old")
        self.assertEqual([one.name for one in folder.parent.iterdir()], ["site"])
