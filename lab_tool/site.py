# SPDX-License-Identifier: MIT
"""The web site: which files it publishes, how it is built, and how it is served."""

import functools
import http.server
import os
import pathlib
import re
import shutil
import tempfile

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import Progress, is_verbose, remark_lines, say
from engine.command.output_files import write_new
from engine.command.paths import shown
from engine.command.processes import output_of, run_step, watch
from lab_tool.paths import ROOT
from lab_tool.site_packages import cause_of, python_with_packages

FOLDERS = {
    ".ci", ".devcontainer", ".github", ".vscode", "chapters", "common", "docs", "engine", "grader",
    "lab_tool", "tests",
}  # fmt: skip
FILES = {
    ".clang-format", ".clangd", ".pre-commit-config.yaml", "CITATION.cff", "Dockerfile", "LICENSE",
    "lab", "meson.build", "meson.options", "pyproject.toml",
}  # fmt: skip
# Pages in the root; a user's own notes may lie there, too.
PAGES = ["README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"]


def is_published(path, root=ROOT):
    """Whether a file or a folder is the course's: in one of its folders, reached by no link that leads
    elsewhere, and known to git if the checkout is a clone."""
    resolved = pathlib.Path(path).resolve()
    if not resolved.is_relative_to(root):
        return False
    name = resolved.relative_to(root).as_posix()
    is_of_course = name.partition("/")[0] in FOLDERS or name in FILES or name in PAGES
    tracked = _tracked(root)
    return is_of_course and (tracked is None or resolved.is_dir() or name in tracked)


@functools.lru_cache
def _tracked(root):
    """The files that git knows; None if this is no clone, or git isn't here."""
    if not os.path.exists(root / ".git"):
        return None
    names = output_of(["git", "-C", str(root), "ls-files", "-z"])
    return set(names.split("\0")) if names else None


MARK = "searchindex.js"  # in each site that Sphinx has built
# In each site of ours: the names of its files, one a line, so that a file of the user's is found.
LIST = "site-files.txt"
TITLE = "Inter-block communication"  # on the first page of ours


def check_output(folder):
    """Refuses a folder that can't be written, or that holds something else than a site of ours."""
    if folder.is_symlink():
        raise CommandError(
            f"--output {folder}: that is a link to {os.readlink(folder)}, and the folder would be "
            "replaced: name the folder itself.",
            WRONG_USE,
        )
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--output {folder}: that is no folder.", WRONG_USE)
    if folder.is_dir() and any(folder.iterdir()) and not _is_our_site(folder):
        raise CommandError(
            f"--output {folder}: that folder holds something else than a site; take an empty or a new one.",
            WRONG_USE,
        )
    other = _other_file(folder)
    if other:
        raise CommandError(
            f"--output {folder}: {other} is no file of the site, and would be lost; move it away.",
            WRONG_USE,
        )
    if not folder.parent.is_dir():
        raise CommandError(f"--output {folder}: there is no folder {folder.parent}.", WRONG_USE)
    for place in (folder.parent, *([folder] if folder.exists() else [])):
        if not os.access(place, os.W_OK):
            raise CommandError(f"--output {folder}: nothing can be written in {place}.", WRONG_USE)


def build_site(folder):
    """Builds the site into the folder. Until it is complete, what was there before stays."""
    folder = pathlib.Path(os.path.abspath(folder))
    check_output(folder)
    python = python_with_packages()
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as work:
        made = pathlib.Path(work) / "html"
        _run_sphinx(python, made, pathlib.Path(work) / "doctrees")
        for unneeded in (".buildinfo", ".doctrees", ".nojekyll"):
            remains = made / unneeded
            if remains.is_file():
                remains.unlink()
        (made / ".nojekyll").touch()  # so that GitHub Pages serves _static and _images
        names = sorted([*_names_in(made), LIST])
        write_new(made / LIST, "".join(f"{name}\n" for name in names))
        check_output(folder)  # once more: a file may have come up meanwhile
        if folder.exists():
            shutil.rmtree(folder)
        made.replace(folder)


def _is_our_site(folder):
    """Whether all of it may be replaced: it lists its files, or is from before there was such a list."""
    if (folder / LIST).is_file():
        return True
    page = folder / "index.html"
    return (folder / MARK).is_file() and (
        not page.is_file() or TITLE in page.read_text(encoding="utf-8", errors="replace")
    )


def _other_file(folder):
    """The name of a file or a link that is not in the site's own list, if it has one; or None."""
    try:
        known = set((folder / LIST).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return None
    return next((name for name in _names_in(folder) if name not in known), None)


def _names_in(folder):
    """The paths of all that is no folder in it, links too, as seen from there."""
    return [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    ]


def _run_sphinx(python, output, doctrees):
    """Every warning is an error: a link that leads nowhere is a defect of the course."""
    command = [python, "-B", "-m", "sphinx", "-q", "-W", "--keep-going", "-N"]
    command += ["-b", "html", "-c", str(ROOT / "docs"), "-d", str(doctrees), str(ROOT), str(output)]
    if is_verbose():
        code, printed = run_step(command), []
    else:
        printed = []
        with Progress("Building the site", stays=False):
            code = watch(command, printed.append)
    if code != 0:
        cause = cause_of(printed)
        if cause is None:
            remark_lines([line.replace(f"{ROOT}{os.sep}", "") for line in printed])
            cause = f"Sphinx's messages are {'above' if printed or is_verbose() else 'missing'}"
        raise CommandError(f"the site could not be built: {cause}.")


def size_of(folder):
    """The bytes of all files in the folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def shown_index(folder):
    """index.html as the user would type it."""
    return shown(folder / "index.html")


ADDRESS = "127.0.0.1"  # no other machine is served
# How a browser of this machine names it. Another name is that of a foreign page, whose server has let
# its own name lead here to read what is served.
OWN_NAMES = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.IGNORECASE)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a folder, and says nothing about each of them."""

    def log_message(self, *words):
        pass

    def send_head(self):
        names = self.headers.get_all("Host") or []
        if len(names) != 1 or not OWN_NAMES.fullmatch(names[0].strip()):
            self.send_error(421, "This server answers to 127.0.0.1 and localhost alone")
            return None
        path = self.translate_path(self.path)
        folder = os.path.realpath(self.directory)
        if "\0" in path or os.path.commonpath([folder, os.path.realpath(path)]) != folder:
            self.send_error(404, "There is no such page")
            return None
        return super().send_head()


def serve(folder, port):
    """Serves the folder until Ctrl-C. Port 0 takes any free one."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer((ADDRESS, port), handler)
    except OSError as error:
        raise CommandError(
            f"port {port} can't be used ({error.strerror}); ./lab site --serve --port 0 takes a free one."
        ) from error
    with server:
        say(f"http://{ADDRESS}:{server.server_address[1]}/  (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("")
    return 0
