# SPDX-License-Identifier: MIT
"""An item that the work queue cannot hold is refused by the compiler, with a sentence."""

import os
import pathlib
import subprocess
import sys
import unittest

import python_test

BUILD = os.environ["LAB_BUILD_FOLDER"]
ROOT = pathlib.Path(os.environ["LAB_SOURCE_ROOT"])


class work_queue_misuse_test(unittest.TestCase):
    def test_item_with_a_constructor(self):
        source = ROOT / "tests/chapters/refused_item.cu"
        result = subprocess.run(
            [sys.executable, ROOT / "lab", "run", "--build", BUILD, source],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(
            "an item has a trivial default constructor and copy, a none() and an ==",
            result.stdout + result.stderr,
        )


if __name__ == "__main__":
    python_test.main()
