# SPDX-License-Identifier: MIT
"""Building the site: whole, or not at all."""

import os
import pathlib
import shutil
import tempfile

from engine.driver.errors import WRONG_USE, CommandError
from engine.driver.output import Progress, is_verbose, remark_lines
from engine.driver.paths import shown
from engine.driver.processes import run_step, watch
from lab_tool.paths import ROOT
from lab_tool.site.failed_installation import cause_of
from lab_tool.site.packages import python_with_packages

MARK = "searchindex.js"  # in each site that Sphinx has built


def check_output(folder):
    """Refuses a folder that can't be written, or that holds something else than a site."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--output {folder}: that is no folder.", WRONG_USE)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise CommandError(
            f"--output {folder}: that folder holds something else than a site; take an empty or a new one.",
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
        if folder.exists():
            shutil.rmtree(folder)
        made.replace(folder)


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
