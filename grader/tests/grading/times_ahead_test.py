# SPDX-License-Identifier: MIT
"""How long a larger class will take: the model, and what it refuses."""

import io
import json
import unittest
from unittest import mock

from grader.submissions.times_ahead import main, sample_of
from test_setup import temporary_folder


class TimesAhead(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        (self.folder / "judged").mkdir()
        for number, seconds in enumerate([4.0, 6.0, 8.0]):
            file = self.folder / f"judged/{number}.json"
            file.write_text(json.dumps({"seconds": seconds}), encoding="utf-8")
        handed = [{"file": "a.cu"}, {"file": "b.cu"}, {"file": None}]
        marks = {"students": [{"exercises": handed}, {"exercises": handed}]}
        (self.folder / "results.json").write_text(json.dumps(marks), encoding="utf-8")

    def told(self, *words):
        with (
            mock.patch("sys.stdout", new_callable=io.StringIO) as said,
            mock.patch("sys.stderr", new_callable=io.StringIO) as problem,
        ):
            return main(list(words)), said.getvalue(), problem.getvalue()

    def test_each_different_text_takes_its_seconds(self):
        sample = sample_of([self.folder])
        self.assertEqual((sample.handed_in, sample.different, sample.mean), (4, 0.75, 6.0))
        seconds, error = sample.ahead(1000, 2)
        self.assertAlmostEqual(seconds, 1000 * 0.75 * 6 / 2)
        self.assertAlmostEqual(error, 375 * 2 / 3**0.5)
        self.assertEqual(sample.ahead(1000, 10_000)[0], 8.0)
        self.assertEqual(sample_of([self.folder, self.folder]).handed_in, 8)

    def test_what_it_says(self):
        code, said, _ = self.told(str(self.folder), "--submissions", "2000", "--at-once", "1")
        self.assertEqual(code, 0)
        self.assertIn("3 judgements of 4 submissions: 6.0 s each (from 4.0 to 8.0 s)", said)
        self.assertIn("    2,000 on    1: 2 h 30 min, give or take 0 h 29 min", said)

    def test_what_it_refuses(self):
        (self.folder / "judged/0.json").write_text("{}", encoding="utf-8")
        code, said, problem = self.told(str(self.folder))
        self.assertEqual((code, said), (2, ""))
        self.assertIn("is no output folder of a finished lab grade", problem)
        for path in (self.folder / "judged").iterdir():
            path.unlink()
        self.assertEqual(self.told(str(self.folder))[0], 2)
