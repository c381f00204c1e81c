# SPDX-License-Identifier: MIT
"""The folder that a grading run writes: its seed, what is judged so far, and at the end the reports.

OUTPUT/seed                      the secret of this run; no other user can read it
OUTPUT/submitted/04_...-HASH.cu  each text that was handed in, once
OUTPUT/judged/04_...-HASH.json   what was found in it, written whole when it is finished
"""

import functools
import hashlib
import json
import pathlib
import re
import secrets
import time
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output_files import make_own_folder, write_new, write_whole
from engine.command.paths import shown
from grader.exercises.catalogue import chapter_headers
from grader.judging.submission import INTERNAL, Judgement, part_row
from grader.paths import ROOT

SEED = re.compile(r"[0-9A-Za-z_-]{1,64}")
RECORDED_WORK = "work.json"  # in the exercise's folder of an exported grader


class Unit(NamedTuple):
    """A text that at least one student has handed in for an exercise: what is judged once."""

    name: str  # of its files in the run's folder
    exercise: object


class RunFolder:
    """A grading run's files, for the processes that judge a part of it, on this node or another."""

    def __init__(self, folder, seed, conditions):
        self.folder = folder
        self.seed = seed
        self.conditions = conditions  # what else a judgement depends on: sandbox and compilers

    def source_of(self, unit):
        """The file to judge, under the name that the student's own has."""
        return self.folder / "submitted" / unit.name / unit.exercise.file_name

    def take(self, exercise, content):
        """The Unit of this text, which is written into the folder if it is not there."""
        unit = Unit(
            f"{exercise.file_name[:-3]}-{hashlib.sha256(content).hexdigest()[:24]}", exercise
        )
        source = self.source_of(unit)
        if source.is_file():
            return unit
        try:
            make_own_folder(source.parent.parent)
            make_own_folder(source.parent)
            write_new(source, content)
        except OSError as error:  # a full disk has no name
            where = shown(self.folder)
            raise CommandError(f"nothing can be written in {where}: {error.strerror}.") from error
        return unit

    def judgement_of(self, unit):
        """(Judgement, seconds that it took), or None if it is still to be made under these conditions."""
        try:
            data = json.loads(self._file_of(unit).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if data.pop("made_under", None) != self._made_under(unit):
            return None
        seconds = data.pop("seconds")
        return Judgement(**data), seconds

    def keep(self, unit, judgement, seconds):
        """Writes a finished judgement, whole or not at all."""
        data = {
            **judgement._asdict(),
            "seconds": round(seconds, 2),
            "made_under": self._made_under(unit),
        }
        make_own_folder(self._file_of(unit).parent)
        write_whole(self._file_of(unit), json.dumps(data) + "\n")

    def forget(self, unit):
        """Lets a finished judgement be made anew."""
        self._file_of(unit).unlink(missing_ok=True)

    def _file_of(self, unit):
        return self.folder / "judged" / f"{unit.name}.json"

    def _made_under(self, unit):
        """Changes with what a judgement depends on besides the text, as far as the course has it."""
        parts = [self.seed, *self.conditions, course_digest(ROOT)]
        own = ("exercise.py", "README.md", "driver.cpp", f"{unit.exercise.name}.cu", RECORDED_WORK)
        for name in own:
            file = unit.exercise.folder / name
            parts.append(file.read_text(encoding="utf-8") if file.is_file() else "")
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@functools.lru_cache
def course_digest(root):
    """Digest of the files that judge, and of those that submissions are compiled with."""
    digest = hashlib.sha256()
    others = [
        path
        for top in ("common", "engine", "grader", "lab_tool")
        for path in (root / top).rglob("*")
    ]
    for path in sorted([*chapter_headers(root), *others]):
        if path.suffix != ".pyc" and path.is_file():
            digest.update(f"{path.relative_to(root)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def broken(exercise, problem):
    """The Judgement if the grader itself has failed: no points, and the instructor is told."""
    lines = [f"The grader failed: {problem}. This says nothing about the submission."]
    first, *rest = exercise.points
    rows = [part_row(exercise, first, 0, lines), *(part_row(exercise, part) for part in rest)]
    return Judgement(INTERNAL, rows, "", [])


def opened_run(folder, seed_given, conditions=()):
    """The RunFolder, begun or gone on with. Raises CommandError if another seed was used in it before."""
    file = folder / "seed"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.is_file():
            _refuse_what_is_there(folder, file)
        folder.chmod(0o700)
    except OSError as error:
        raise CommandError(f"--output {folder}: {error.strerror}.", WRONG_USE) from error
    wanted = _seed(seed_given) if seed_given else None
    if file.is_file():
        seed = seed_in(folder)
        if wanted and wanted != seed:
            raise CommandError(
                f"--seed: {folder} was begun with another seed; take another --output.", WRONG_USE
            )
    else:
        seed = wanted or secrets.token_hex(16)
        try:
            write_whole(file, f"{seed}\n", mode=0o600)
        except OSError as error:
            raise CommandError(f"{file} can't be written: {error.strerror}.") from error
    return RunFolder(folder.resolve(), seed, conditions)


def _refuse_what_is_there(folder, file):
    """Raises CommandError if other files are in the folder, which then stays as it is."""
    # A call that was killed may have left a seed that is not whole, under a name of its own.
    if any(not path.name.startswith(file.name) for path in folder.iterdir()):
        raise CommandError(
            f"--output {folder} is not empty, and no grading was begun in it.", WRONG_USE
        )


def seed_in(folder):
    """The secret of the run that was begun in this folder. Raises CommandError if there is none whole."""
    try:
        seed = (folder / "seed").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{folder / 'seed'} can't be read.", WRONG_USE) from error
    if not SEED.fullmatch(seed):
        raise CommandError(
            f"{folder / 'seed'} has no seed in it, and what was judged with it is not to be trusted; "
            "take another --output.",
            WRONG_USE,
        )
    return seed


def _seed(given):
    """The seed itself, or the first line of the file that is named."""
    path = pathlib.Path(given)
    if path.is_file():
        try:
            given = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"--seed {path} can't be read.", WRONG_USE) from error
    if not SEED.fullmatch(given):
        raise CommandError(
            "--seed: a file or a word of up to 64 letters, digits, - and _ is expected.", WRONG_USE
        )
    return given


class Stopwatch:
    """How long something has taken so far."""

    def __init__(self):
        self.start = time.monotonic()

    @property
    def seconds(self):
        return time.monotonic() - self.start
