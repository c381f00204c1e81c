# SPDX-License-Identifier: MIT
"""What a student is told of a file that does not compile, wherever it was compiled."""

import pathlib
import tempfile
import unittest

from grading_runs import CAN_GRADE, SHOPS, real_sandboxes, solution_text

from lab_tool.exercises.catalogue import chosen_exercise
from lab_tool.exercises.programs import OBSERVED
from lab_tool.grading.compiling import NotCompiled, compiled_alone
from lab_tool.grading.sandbox import Sandbox


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "compiling takes a sandbox")
class MessagesTest(unittest.TestCase):
    def test_the_first_errors_are_told_whatever_the_folders_are_called(self):
        first = solution_text("01.1").count("\n") + 1
        wrong = "".join(
            f"int f{n}(int a) {{ return a + undeclared_{n:03}; }}\n" for n in range(150)
        )
        exercise = chosen_exercise("01.1")
        said = []
        for name in ("short", "a_folder_with_a_name_that_is_quite_a_bit_longer"):
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary).resolve() / name
                folder.mkdir()
                source = folder / exercise.file_name
                source.write_text(solution_text("01.1") + wrong, encoding="utf-8")
                work = folder / "work"
                work.mkdir()
                sandbox = Sandbox(real_sandboxes()[0])
                with self.assertRaises(NotCompiled) as caught:
                    compiled_alone(sandbox, SHOPS.judge, exercise, source, work, OBSERVED)
            said.append(caught.exception.lines)
        self.assertEqual(*said)
        self.assertIn(f"01_saxpy.cu:{first}:", "\n".join(said[0][:2]))
        self.assertIn("undeclared_000", "\n".join(said[0][:3]))


if __name__ == "__main__":
    unittest.main()
