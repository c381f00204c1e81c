# SPDX-License-Identifier: MIT
"""Building the site: whole, or not at all."""

import os
import pathlib
import shutil
import tempfile

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import Progress, is_verbose, remark_lines
from engine.command.output_files import write_new
from engine.command.paths import shown
from engine.command.processes import run_step, watch
from lab_tool.paths import ROOT
from lab_tool.site.failed_installation import cause_of
from lab_tool.site.packages import python_with_packages

MARK = "searchindex.js"  # in each site that Sphinx has built
# In each site of ours: the names of its files, one a line, so that a file of the user's is found.
FILES = "site-files.txt"
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
        names = sorted([*_names_in(made), FILES])
        write_new(made / FILES, "".join(f"{name}\n" for name in names))
        check_output(folder)  # once more: a file may have come up meanwhile
        if folder.exists():
            shutil.rmtree(folder)
        made.replace(folder)


def _is_our_site(folder):
    """Whether all of it may be replaced: it lists its files, or is from before there was such a list."""
    if (folder / FILES).is_file():
        return True
    page = folder / "index.html"
    return (folder / MARK).is_file() and (
        not page.is_file() or TITLE in page.read_text(encoding="utf-8", errors="replace")
    )


def _other_file(folder):
    """The name of a file or a link that is not in the site's own list, if it has one; or None."""
    try:
        known = set((folder / FILES).read_text(encoding="utf-8").splitlines())
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
