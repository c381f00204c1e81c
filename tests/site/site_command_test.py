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
from unittest import mock

import pytest

from engine.command.errors import CommandError
from lab_tool import site, site_packages
from lab_tool.setup.requirements import makes_virtual_environments
from test_setup import captured
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


def assert_refused(words, sentence):
    result = run_lab("site", *words)
    assert (result.returncode, result.stdout) == (2, ""), result.stderr
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr


def test_a_folder_with_something_else_is_kept():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "thesis.txt").write_text("mine", encoding="utf-8")
        assert_refused(["--output", folder], "holds something else than a site")
        assert (pathlib.Path(folder) / "thesis.txt").is_file()


def test_an_output_that_is_a_file_or_nowhere():
    assert_refused(["--output", str(ROOT / "README.md")], "that is no folder")
    assert_refused(["--output", "/no/such/folder"], "there is no folder /no/such")


def test_a_port_without_serve_and_no_port_at_all():
    assert_refused(["--port", "80"], "add --serve")
    assert_refused(["--serve", "--port", "65536"], "from 0 to 65535")


def test_a_port_that_is_taken():
    refused = pytest.raises(CommandError, match=r"can't be used .* --port 0")
    with site.http.server.HTTPServer((site.ADDRESS, 0), None) as taken, refused:
        site.serve("/", taken.server_address[1])


# A site is replaced by the next one, and nothing else is.


@pytest.fixture
def replaced(tmp_path):
    folder = tmp_path / "site"
    (folder / "docs").mkdir(parents=True)
    for name in (site.MARK, "index.html", "docs/page.html"):
        (folder / name).write_text("", encoding="utf-8")
    names = f"{site.LIST}\n{site.MARK}\ndocs/page.html\nindex.html\n"
    (folder / site.LIST).write_text(names, encoding="utf-8")
    return folder


def test_a_site_of_ours(replaced):
    site.check_output(replaced)
    (replaced / site.LIST).unlink()  # as of an earlier version
    (replaced / "index.html").write_text(f"<h1>{site.TITLE}</h1>", encoding="utf-8")
    site.check_output(replaced)


def test_a_file_or_a_link_of_the_users_in_it(replaced):
    for make in (pathlib.Path.touch, lambda path: path.symlink_to("/etc")):
        own = replaced / "docs/own"
        make(own)
        with pytest.raises(CommandError, match="docs/own is no file of the site, and would"):
            site.check_output(replaced)
        own.unlink()


def test_a_site_of_somebody_else(replaced):
    (replaced / site.LIST).unlink()
    (replaced / "index.html").write_text("<h1>My project</h1>", encoding="utf-8")
    with pytest.raises(CommandError, match="holds something else than a site"):
        site.check_output(replaced)


# What `./lab site --serve` answers.


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "site"
    (folder / "docs").mkdir(parents=True)
    (folder / "index.html").write_text("first", encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (folder / "leak").symlink_to("../secret")
    (folder / "docs/up").symlink_to("../..")
    (folder / "alias").symlink_to("index.html")
    handler = functools.partial(site.QuietHandler, directory=str(folder))
    with site.http.server.ThreadingHTTPServer((site.ADDRESS, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def status_of(server, path, host="localhost", method="GET"):
    """The status of the answer; None if there is none."""
    with socket.create_connection(server.server_address, timeout=10) as connection:
        names = f"Host: {host}\r\n" if host is not None else ""
        connection.sendall(f"{method} {path} HTTP/1.0\r\n{names}\r\n".encode())
        answer = b""
        while part := connection.recv(4096):
            answer += part
    assert b"secret" not in answer
    return int(answer.split(b" ")[1]) if answer else None


def test_its_own_files(served):
    for path in ("/", "/index.html", "/alias", "/docs/"):
        for method in ("GET", "HEAD"):
            assert status_of(served, path, method=method) == 200, path
    assert status_of(served, "/none.html") == 404


def test_no_file_from_elsewhere(served):
    for path in ("/leak", "/docs/up/secret", "/../secret", "/%2e%2e/secret"):
        assert status_of(served, path) == 404, path


def test_odd_paths_have_an_answer(served):
    for path in ("/index.html%00", "/%00", "/%ff", "/" + "x" * 5000):
        assert status_of(served, path) == 404, path[:20]


def test_own_names_alone(served):
    port = served.server_address[1]
    for host in ("127.0.0.1", f"localhost:{port}", "LOCALHOST", f"[::1]:{port}"):
        assert status_of(served, "/", host) == 200, host
    for host in (None, "", "evil.example", f"127.0.0.1.evil.example:{port}", "localhost@evil"):
        assert status_of(served, "/", host) == 421, host


@pytest.fixture
def root(tmp_path):
    folder = tmp_path.resolve()
    for name in ("work/04.cu", "chapters/04/guard.cuh", "chapters/04/own.cu", "README.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "chapters/link.cu").symlink_to("../work/04.cu")
    return folder


def is_published(root, name):
    site._tracked.cache_clear()
    return site.is_published(root / name, root)


def test_the_users_own_files_are_not(root):
    for name in ("work/04.cu", "work", "chapters/link.cu", "../", "notes.md", "build-cpu/x"):
        assert not is_published(root, name), name
    for name in ("chapters/04/guard.cuh", "chapters/04", "README.md"):
        assert is_published(root, name), name


@pytest.mark.skipif(not shutil.which("git"), reason="git is not here")
def test_in_a_clone_only_what_git_knows(root):
    for words in (["init", "-q"], ["add", "README.md", "chapters/04/guard.cuh"]):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    assert is_published(root, "chapters/04/guard.cuh")
    assert is_published(root, "chapters/04")
    assert not is_published(root, "chapters/04/own.cu")


def test_a_page_does_not_link_to_them():
    """Every file that a page of ours may lead to is in one of the course's folders."""
    for page in site.PAGES:
        assert (ROOT / page).is_file(), page
    for name in (*site.FOLDERS, *site.FILES):
        assert (ROOT / name).exists() or name.startswith("."), name


@pytest.mark.parametrize("words", SEEN)
def test_each_cause_is_told_from_the_others(words):
    printed = SEEN[words]
    assert words in site_packages.cause_of(printed.splitlines())


def test_an_unknown_cause_is_none():
    assert site_packages.cause_of(["Segmentation fault"]) is None


# An installation in a copy of the checkout's tool that has no .venv.


def copy_of_checkout(tmp_path, name="course"):
    work = tmp_path / name
    work.mkdir()
    shutil.copy(ROOT / "lab", work)
    for folder in ("docs", "engine", "grader", "lab_tool"):
        shutil.copytree(ROOT / folder, work / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return work


def assert_not_installed(result, sentence, checkout):
    assert result.returncode == 1, result.stderr
    told = [line for line in result.stderr.splitlines() if line.startswith("lab:")]
    assert len(told) == 1, result.stderr
    assert sentence in told[0]
    assert "Traceback" not in result.stderr
    assert not (checkout / ".venv").exists(), "something half-installed was left"
    assert not (checkout / "build-site").exists()


def site_of(checkout, **variables):
    if sys.version_info < site_packages.OLDEST_PYTHON:
        pytest.skip("the site takes a newer Python than the one of these tests")
    if not makes_virtual_environments():
        pytest.skip("this Python has no venv, so that nothing gets as far as the network")
    return run_lab("site", checkout=checkout, **variables)


def test_without_a_network(tmp_path):
    # An index without a server, and no wheel on the disk: as a laptop on a train.
    checkout = copy_of_checkout(tmp_path, "a course of Zoë's")
    result = site_of(
        checkout,
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_FIND_LINKS="",
        PIP_DEFAULT_TIMEOUT="2",
        PIP_CONFIG_FILE=os.devnull,
    )
    assert_not_installed(result, "there is no connection to the package index", checkout)


def test_with_a_proxy_that_is_not_there(tmp_path):
    checkout = copy_of_checkout(tmp_path)
    result = site_of(
        checkout,
        PIP_INDEX_URL="https://packages.example/simple",
        PIP_PROXY="http://127.0.0.1:9",
        PIP_FIND_LINKS="",
        PIP_CONFIG_FILE=os.devnull,
    )
    assert_not_installed(result, "the proxy refused the connection", checkout)


def test_an_old_python_is_refused(monkeypatch):
    monkeypatch.setattr(site_packages, "OLDEST_PYTHON", (3, 99))
    monkeypatch.setattr(site_packages, "VENV_PYTHON", "/no/such/python")
    with pytest.raises(CommandError, match=r"takes Python 3\.99 or newer"):
        site_packages._refuse_old_python()


def test_a_tree_that_cannot_be_written(monkeypatch):
    monkeypatch.setattr(site_packages.os, "access", lambda *_, **__: False)
    with pytest.raises(CommandError, match="nothing can be written there"):
        site_packages._install()


def test_a_python_without_venv_is_shown_no_command_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(site_packages, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(site_packages, "makes_virtual_environments", lambda *_, **__: False)
    monkeypatch.setattr(site_packages, "commands_for", lambda *_, **__: ["a", "b"])
    with (
        mock.patch.object(site_packages, "remark") as says_nothing,
        pytest.raises(CommandError, match="apt-get install python3-venv"),
    ):
        site_packages._install()
    says_nothing.assert_not_called()


def test_a_full_disk_while_it_is_built_leaves_the_old_site(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / site.MARK).write_text("old", encoding="utf-8")

    def full_disk(command, read_line):
        read_line("OSError: [Errno 28] No space left on device")
        return 2

    monkeypatch.setattr(site, "python_with_packages", lambda *_, **__: "python")
    monkeypatch.setattr(site, "watch", full_disk)
    with pytest.raises(CommandError, match="the disk is full"):
        site.build_site(folder)
    assert (folder / site.MARK).read_text(encoding="utf-8") == "old"
    assert [one.name for one in folder.parent.iterdir()] == ["site"]
