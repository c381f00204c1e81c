# SPDX-License-Identifier: MIT
"""What a command writes for its user: no file of theirs is lost, no link is followed, and a full disk
leaves all as it was."""

import errno
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

from engine.command.checking import RESULTS
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.drawing import Figure
from engine.command.errors import CommandError
from engine.command.output_files import (
    NamedOutputs,
    make_own_folder,
    write_new,
    write_whole,
)
from lab_tool.authoring.new_exercise import TEMPLATES, make_folder
from lab_tool.builds.recorded_runs import BEGINNING as RECORDED_RUN
from lab_tool.builds.recorded_runs import recorded
from lab_tool.verbs.exercises import VERDICTS
from test_setup import captured, temporary_folder
from this_build import BUILD, ROOT

FULL = OSError(errno.ENOSPC, "No space left on device")
MINE = b"my thesis\n"


class Scratch(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.thesis = self.folder / "thesis.txt"
        self.thesis.write_bytes(MINE)

    def link(self, name="link"):
        """A link to the thesis."""
        path = self.folder / name
        path.symlink_to(self.thesis)
        return path

    def assert_nothing_is_lost(self, *others):
        self.assertEqual(self.thesis.read_bytes(), MINE)
        self.assertEqual(set(os.listdir(self.folder)), {"thesis.txt", *others})


class Writing(Scratch):
    def test_a_link_is_replaced_and_not_followed(self):
        link = self.link()
        write_whole(link, "new")
        self.assertFalse(link.is_symlink())
        self.assertEqual(link.read_text(encoding="utf-8"), "new")
        self.assert_nothing_is_lost("link")

    def test_a_new_file_takes_no_links_place(self):
        with self.assertRaises(FileExistsError):
            write_new(self.link(), "new")
        with self.assertRaises(FileExistsError):
            write_new(self.thesis, "new")
        self.assert_nothing_is_lost("link")

    def test_a_full_disk_leaves_the_old_file_and_names_it(self):
        for call in ("os.fsync", "os.chmod", "tempfile.mkstemp"):
            for write in (write_whole, write_new):
                with self.subTest(call=call, write=write), mock.patch(call, side_effect=FULL):
                    with self.assertRaises(OSError) as raised:
                        write(self.thesis, "new")
                    self.assertEqual(os.path.basename(raised.exception.filename), "thesis.txt")
                    self.assert_nothing_is_lost()

    def test_the_mode_is_the_old_files_or_what_the_umask_leaves(self):
        self.thesis.chmod(0o640)
        write_whole(self.thesis, MINE)
        old = os.umask(0o077)
        self.addCleanup(os.umask, old)
        write_whole(self.folder / "new", "")
        modes = [os.stat(self.folder / name).st_mode & 0o777 for name in ("thesis.txt", "new")]
        self.assertEqual(modes, [0o640, 0o600])

    def test_a_name_as_long_as_a_name_may_be(self):
        path = self.folder / ("n" * 255)
        write_whole(path, "new")
        self.assertEqual(path.read_text(encoding="utf-8"), "new")

    def test_a_folder_of_labs_own_is_no_link(self):
        other = self.folder / "other"
        other.mkdir()
        (self.folder / "own").symlink_to(other)
        with self.assertRaisesRegex(CommandError, "is a link to .*other, and nothing is written"):
            make_own_folder(self.folder / "own")
        make_own_folder(other)


class Naming(Scratch):
    """What an option may name."""

    def refuses(self, path, says, force=False, inputs=(), beginning=PICTURE):
        with self.subTest(path=path), self.assertRaisesRegex(CommandError, says) as raised:
            NamedOutputs(force, inputs).add("--picture", str(path), beginning)
        self.assertEqual(raised.exception.code, 2)
        self.assertNotIn("\n", str(raised.exception))

    def test_a_file_of_another_kind(self):
        self.refuses(self.thesis, "--picture .*thesis.txt: a file of another kind .* add --force")
        self.thesis.write_bytes(b'<?xml version="1.0" encoding="UTF-8"?>\n<svg width="600">')
        self.refuses(self.thesis, "a file of another kind is there")
        NamedOutputs(True).add("--picture", str(self.thesis), PICTURE).write("new")
        self.assertEqual(self.thesis.read_text(encoding="utf-8"), "new")

    def test_an_input_whatever_its_name_and_with_force_too(self):
        os.link(self.thesis, self.folder / "same")
        for path in (self.thesis, self.folder / "same"):
            self.refuses(path, "reads or writes that file itself", True, [str(self.thesis)])

    def test_a_link_a_folder_a_pipe_a_device(self):
        os.mkfifo(self.folder / "pipe")
        self.refuses(self.link(), "is a link to .*thesis.txt, and nothing is written", force=True)
        self.refuses(self.link("other"), "is a link to", inputs=[str(self.thesis)])
        (self.folder / "nowhere").symlink_to("not_there")
        self.refuses(self.folder / "nowhere", "is a link to not_there")
        for path in (self.folder, self.folder / "pipe", "/dev/full", "/dev/stdout"):
            self.refuses(path, "no regular file|is a link")
        self.refuses(self.folder / "no/such/file", "there is no folder")
        self.refuses(self.folder / ("n" * 300), "File name too long")
        self.refuses(self.thesis / "below", "Not a directory|there is no folder")

    def test_two_options_and_one_file(self):
        outputs = NamedOutputs(False)
        outputs.add("--json", str(self.folder / "a"), RESULTS)
        with self.assertRaisesRegex(CommandError, "--picture and --json name the same file"):
            outputs.add("--picture", str(self.folder / "../") + f"/{self.folder.name}/a", PICTURE)

    def test_a_file_that_comes_up_meanwhile(self):
        file = NamedOutputs(False).add("--json", str(self.folder / "new"), RESULTS)
        (self.folder / "new").write_bytes(MINE)
        with self.assertRaisesRegex(CommandError, "a file of another kind is there"):
            file.write("new")
        self.assertIsNotNone(file.remove())
        self.assertEqual((self.folder / "new").read_bytes(), MINE)

    def test_what_lab_writes_is_known_again(self):
        made = {
            PICTURE: Figure(100, "title", "description").svg(),
            RESULTS: json.dumps([{"program": "a"}], indent=2),
            VERDICTS: json.dumps([{"exercise": "04.2"}], indent=2),
            RECORDED_RUN: recorded({"not_run": [], "rows": []}, {"format": 1, "backend": "cpu"}),
        }
        for beginning, content in made.items():
            self.thesis.write_text(content, encoding="utf-8")
            NamedOutputs(False).add("--json", str(self.thesis), beginning).require_writable()
            for other in set(made) - {beginning}:
                self.refuses(self.thesis, "of another kind", beginning=other)
        self.thesis.write_bytes(b"")  # as mktemp makes it
        NamedOutputs(False).add("--json", str(self.thesis), RESULTS).require_writable()


class Verbs(Scratch):
    """Refused before anything is built or run."""

    def setUp(self):
        super().setUp()
        self.source = self.folder / "keep.cu"
        self.source.write_text("int main() {}\n", encoding="utf-8")
        self.before = self.source.read_bytes()

    def refuses(self, *words, says, code=2):
        with self.subTest(words=words):
            result = captured(
                [sys.executable, ROOT / "lab", *map(str, words)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                timeout=60,
            )
            self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
            self.assertRegex(result.stderr, r"\Alab: [^\n]+\n\Z")
            self.assertRegex(result.stderr, says)
            self.assertEqual(self.source.read_bytes(), self.before)
            self.assertEqual(self.thesis.read_bytes(), MINE)

    def test_an_input_of_the_command(self):
        for force in ((), ("--force",)):
            self.refuses(
                "racecheck", "keep.cu", "--json", "keep.cu", *force, says="that file itself"
            )
        self.source.chmod(0o755)
        self.refuses(
            "racecheck", "--program", "keep.cu", "--json", "keep.cu", says="that file itself"
        )
        self.source.chmod(0o644)
        chapter = ROOT / "chapters/04_last_block_guard/last_block.cuh"
        self.refuses("racecheck", "04", "--json", chapter, "--force", says="that file itself")
        self.source = self.source.rename(self.folder / "04_fullest_bin.cu")
        words = ["check", "04_fullest_bin.cu", "--json", "04_fullest_bin.cu"]
        self.refuses(*words, says="that file itself")

    def test_a_file_of_the_users(self):
        kept = "a file of another kind is there, and would be lost"
        picture = self.thesis.with_suffix(".svg")
        self.thesis.rename(picture)
        self.thesis = picture
        self.refuses("racecheck", "keep.cu", "--picture", picture, says=kept)
        self.refuses("trace", "05", "--output", picture, says=kept)
        for words in (["racecheck", "keep.cu"], ["trace", "05"], ["bench", "--backend", "cpu"]):
            self.refuses(*words, "--json", picture, says=kept)
        self.source = self.source.rename(self.folder / "04_fullest_bin.cu")
        self.refuses("check", "04_fullest_bin.cu", "--json", picture, says=kept)
        words = ["exercises", "--write-cases", "04.2", picture]
        self.refuses(*words, says=f"{kept}: choose another name\\.$")

    def test_a_link(self):
        link = self.link("link.svg")
        self.refuses("racecheck", "keep.cu", "--json", link, says="is a link to .*thesis.txt")
        self.refuses("trace", "05", "--output", link, "--force", says="is a link to")
        self.refuses("site", "--output", link, says="is a link to")
        work = self.folder / "work"
        work.mkdir()
        (work / "04_fullest_bin.cu").symlink_to(self.thesis)
        self.refuses("reset", "04.2", "--work", work, says="is a link to .*thesis.txt, and lab wr")
        (work / "01_saxpy.cu").symlink_to("not_there")
        self.refuses("reset", "01.1", "--work", work, says="is a link to not_there")
        (work / ".checked").symlink_to(self.folder)
        self.refuses("hint", "01.1", "--work", work, says="is a link to", code=1)
        self.refuses("export", link, "--exercises", "04.2", says="that is no folder")

    def test_two_options_and_one_file(self):
        words = ["racecheck", "keep.cu", "--json", "a.svg", "--picture", "./a.svg"]
        self.refuses(*words, says="--picture and --json name the same file")
        words = ["trace", "05", "--json", "a.svg", "--output", "a.svg"]
        self.refuses(*words, says="--json and --output name the same file")

    def test_a_program_that_is_built_and_something_to_build(self):
        self.refuses("racecheck", "04", "--program", "/bin/true", says="leave 04 out")
        self.refuses("racecheck", "keep.cu", "--program", "x", says="leave keep.cu out")
        self.refuses("racecheck", "--program", "x", "-DN=4", says="leave -DN=4 out")
        self.refuses(
            "racecheck", "--program", self.folder, says="is a folder, and a file is needed"
        )
        self.refuses("racecheck", "--program", "keep.cu", says="is no program that can be started")

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no full disk to be had")
    def test_a_full_disk_below_standard_output(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [sys.executable, ROOT / "lab", "exercises"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        said = "lab: standard output: No space left on device.\n"
        self.assertEqual((result.returncode, result.stderr), (1, said))

    def test_its_own_files_are_written_again(self):
        if not json.loads((BUILD / "single_file.json").read_text()).get("scheduled_libraries"):
            self.skipTest("this build has no racecheck")
        self.source.write_text(
            "__global__ void all(int* p) { *p = threadIdx.x; }\n"
            "int main() { int* p; cudaMalloc(&p, 4); all<<<2, 32>>>(p); cudaDeviceSynchronize(); }\n",
            encoding="utf-8",
        )
        words = ["racecheck", "--build", str(BUILD), "keep.cu", "--seeds", "1"]
        words += ["--json", "found.json", "--picture", "race.svg"]
        for _ in range(2):
            result = captured([sys.executable, ROOT / "lab", *words], cwd=self.folder)
            self.assertEqual(result.returncode, 1, result)
            self.assertIn("drawn in race.svg", result.stdout)
            self.assert_nothing_is_lost("keep.cu", "found.json", "race.svg")


class New(Scratch):
    """./lab new: all of a folder or nothing."""

    def test_a_full_disk_at_each_moment(self):
        folder = self.folder / "exercises/new"
        number = 0
        while True:
            number += 1
            calls = iter([None] * (number - 1) + [FULL])

            def fsync(handle, calls=calls):
                problem = next(calls, None)
                if problem:
                    raise problem

            with mock.patch("os.fsync", fsync):
                try:
                    made = make_folder(folder, TEMPLATES / "exercise", {})
                    break
                except OSError as error:
                    self.assertTrue(error.filename, "the file has no name")
            self.assertEqual(os.listdir(folder.parent), [])
        self.assertGreater(number, 3)  # files, and at each of them the disk was full once
        self.assertTrue(all(file.is_file() for file in made))


if __name__ == "__main__":
    unittest.main()
