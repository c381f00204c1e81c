# SPDX-License-Identifier: MIT
"""What a contributor's editor, Git and pre-commit do is what .ci/run asks for."""

import fnmatch
import re
import unittest

from test_setup import captured
from this_build import ROOT


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def git(*words):
    """The lines that a git command prints about this checkout."""
    result = captured(["git", "-C", ROOT, *words])
    if result.returncode:
        raise unittest.SkipTest(f"this is no checkout: {result.stderr}")
    return result.stdout.splitlines()


class ContributorsFiles(unittest.TestCase):
    def test_editors_and_formatters_agree_on_the_length_of_a_line(self):
        (of_clang_format,) = re.findall(r"^ColumnLimit: (\d+)$", text_of(".clang-format"), re.M)
        (of_ruff,) = re.findall(r"^line-length = (\d+)", text_of("pyproject.toml"), re.M)
        of_editors = re.findall(
            r"^\[(.*)\]\n(?:.*=.*\n)*?max_line_length = (\d+)$", text_of(".editorconfig"), re.M
        )
        wanted = [("*.{cu,cuh,cpp,hpp,h}", of_clang_format), ("*.py", of_ruff)]
        self.assertEqual(of_editors, wanted)

    def test_pre_commit_formats_the_files_that_ci_looks_at(self):
        (of_hook,) = re.findall(
            r"^        files: '(.*)'$", text_of(".pre-commit-config.yaml"), re.M
        )
        (words,) = re.findall(r"^formatted\(\) \{ sources (.*) \|$", text_of(".ci/run"), re.M)
        of_ci = [word.strip("'") for word in words.split()]
        files = git("ls-files")
        wanted = [
            file for file in files if any(fnmatch.fnmatch(file, pattern) for pattern in of_ci)
        ]
        self.assertGreater(len(wanted), 100)
        self.assertEqual([file for file in files if re.search(of_hook, file)], wanted)

    def test_every_text_has_the_line_ends_that_git_is_told(self):
        lines = git("ls-files", "--eol")
        self.assertGreater(len(lines), 100)
        kinds = {line.split()[0] for line in lines}
        self.assertLessEqual(kinds, {"i/lf", "i/-text", "i/none"})
        (attribute,) = git("check-attr", "eol", "chapters/meson.build")
        self.assertEqual(attribute, "chapters/meson.build: eol: lf")

    def test_cuda_sources_are_shown_as_cuda(self):
        for line in git("check-attr", "linguist-language", *git("ls-files", "*.cu", "*.cuh")):
            self.assertRegex(line, ": linguist-language: Cuda$")

    def test_the_index_names_every_page(self):
        folder = ROOT / "docs/internals"
        linked = re.findall(r"\]\((\w[\w-]*\.md)\)", text_of("docs/internals/README.md"))
        pages = {path.name for path in folder.glob("*.md")} - {"README.md"}
        self.assertEqual(sorted(linked), sorted(pages))

    def test_the_version_has_one_home(self):
        self.assertNotRegex(text_of("CITATION.cff"), r"(?m)^version:")
        self.assertIn("version: files('", text_of("meson.build"))
