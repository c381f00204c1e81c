# SPDX-License-Identifier: MIT
"""The built site as files: links, weight, nothing from outside, and what each lesson must have.

It is built once for each run of a test file, or LAB_SITE_FOLDER names one that is built already. Tests
are skipped, with the reason, if Sphinx is not here: `./lab site` installs it.
"""

import atexit
import functools
import html.parser
import os
import pathlib
import posixpath
import re
import shutil
import tempfile
import unittest
import urllib.parse

from engine.command.processes import output_of
from grader.exercises.catalogue import chosen_exercise
from lab_runs import lab
from lab_tool.chapters import all_chapters
from lab_tool.setup.packages import VENV_PYTHON
from lab_tool.site_packages import ASK, REQUIREMENTS, pinned
from this_build import ROOT

MOST_BYTES_OF_A_LESSON = 400 * 1024  # its page, and all that the page loads at once
FEWEST_PAGES = 50
FEWEST_TERMS = 5  # of a lesson, with the glossary's words


@functools.cache
def built_site():
    """The folder of the site. Raises unittest.SkipTest if it can't be built here without the network."""
    known = os.environ.get("LAB_SITE_FOLDER")
    if known:
        return pathlib.Path(known)
    wanted = pinned(REQUIREMENTS.read_text(encoding="utf-8"))
    if output_of([VENV_PYTHON, "-c", ASK, *wanted]) is None:
        raise unittest.SkipTest("what builds the site is not in .venv; ./lab site installs it")
    work = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    folder = pathlib.Path(work) / "site"
    result = lab("site", "--output", folder)
    assert result.returncode == 0, result.stderr
    return folder


def pages_of(folder):
    """The names of all pages, as paths from the site's root."""
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))


class Page(html.parser.HTMLParser):
    """The links, loaded files, anchors, headings and pictures of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.loaded_later = set()  # of the loaded files: pictures that are folded
        self.headings, self.pictures, self.classes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        self.classes += (values.get("class") or "").split()
        if tag == "a" and values.get("href") is not None:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "shortcut icon"):
            self.loaded.append(values["href"])
        if tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
            if values.get("loading") == "lazy":
                self.loaded_later.add(values["src"])
        if tag == "img":
            self.pictures.append(values.get("alt"))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = built_site()
        cls.pages = {
            name: Page((cls.site / name).read_text(encoding="utf-8")) for name in pages_of(cls.site)
        }

    def target(self, page, link):
        path = urllib.parse.unquote(link.partition("#")[0].partition("?")[0])
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page

    def lessons(self):
        return {chapter: f"chapters/{chapter.folder}/README.html" for chapter in all_chapters()}

    def test_there_are_many_pages(self):
        self.assertGreater(len(self.pages), FEWEST_PAGES)

    def test_each_link_leads_to_a_page_and_a_place_in_it(self):
        for name, page in self.pages.items():
            for link in page.links:
                if re.match(r"[a-z]+:", link):
                    continue
                target = self.target(name, link)
                with self.subTest(page=name, link=link):
                    self.assertFalse(target.startswith(".."), "it leaves the site")
                    self.assertTrue((self.site / target).is_file(), "there is no such file")
                    anchor = urllib.parse.unquote(link.partition("#")[2])
                    if anchor and target in self.pages:
                        self.assertIn(anchor, self.pages[target].anchors)

    def test_a_sidebar_shows_the_pages_of_its_own_door(self):
        doors = {
            "docs/teaching.html": ("docs/use-with-autolab.html", "docs/grading.html"),
            "docs/use/README.html": ("docs/internals/site.html", "CONTRIBUTING.html"),
            "chapters/04_last_block_guard/README.html": (
                "docs/glossary.html",
                "docs/racecheck.html",
            ),
        }
        links = {name: self.sidebar_of(name) for name in doors}
        for name, own in doors.items():
            for page in own:
                with self.subTest(sidebar=name, page=page):
                    self.assertEqual(
                        [page in links[one] for one in doors], [one == name for one in doors]
                    )
            self.assertLessEqual(
                set(doors) - {"chapters/04_last_block_guard/README.html"}, links[name]
            )
        # Nothing is lost: each page of the course's text stands behind one of the doors.
        texts = {name for name in self.pages if name.startswith("docs/") and name.count("/") == 1}
        self.assertLessEqual(
            {name for name in texts if (ROOT / name).with_suffix(".md").is_file()},
            set().union(*links.values()),
        )

    def sidebar_of(self, name):
        """The pages to which a page's sidebar links."""
        text = (self.site / name).read_text(encoding="utf-8")
        tree = re.search(r'<div class="sidebar-tree">(.*?)</div>\s*</div>', text, re.S)[1]
        return {self.target(name, link) for link in re.findall(r'href="([^"]*)"', tree)} | {name}

    def test_predictions_are_folded_and_their_answers_within(self):
        seen = 0
        for name in self.lessons().values():
            text = (self.site / name).read_text(encoding="utf-8")
            sections = text.split('<section class="prediction"')[1:]
            for section in sections:
                seen += 1
                programs = section.index('<details class="prediction-programs">')
                answer = section.index('<details class="prediction-answer">')
                self.assertLess(programs, section.index('class="variant'))
                self.assertLess(answer, section.index('class="why'))
                self.assertNotIn("</details>", section[programs:answer])
        self.assertGreater(seen, 3)

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, page in self.pages.items():
            for address in page.loaded:
                with self.subTest(page=name, address=address):
                    self.assertNotRegex(address, r"^([a-z]+:|//|/)")
                    self.assertTrue((self.site / self.target(name, address)).is_file())
        for file in [*self.site.rglob("*.css")]:
            found = re.findall(
                r"url\(['\"]?(?!data:)([a-z]+:)?//", file.read_text(encoding="utf-8")
            )
            self.assertEqual(found, [], file)

    def test_a_lesson_is_light(self):
        for lesson in self.lessons().values():
            page = self.pages[lesson]
            at_once = set(page.loaded) - page.loaded_later
            files = {self.target(lesson, address) for address in at_once}
            size = sum((self.site / file).stat().st_size for file in {lesson, *files})
            self.assertLessEqual(size, MOST_BYTES_OF_A_LESSON, f"{lesson}: {size} bytes")

    def test_headings_have_one_beginning_and_no_gaps(self):
        for name, page in self.pages.items():
            with self.subTest(page=name):
                self.assertEqual(page.headings.count(1), 1)
                for before, after in zip(page.headings, page.headings[1:]):
                    self.assertLessEqual(after, before + 1)

    def test_each_picture_has_words(self):
        pictures = [alt for page in self.pages.values() for alt in page.pictures]
        self.assertGreater(len(pictures), 10)
        for name, page in self.pages.items():
            for alt in page.pictures:
                self.assertTrue(alt, name)

    def test_each_lesson_has_its_parts(self):
        for chapter, lesson in self.lessons().items():
            page = self.pages[lesson]
            with self.subTest(lesson=lesson):
                self.assertIn("quiz", page.classes)
                self.assertGreaterEqual(page.classes.count("term"), FEWEST_TERMS)
                self.assertIn("code-source", page.classes)
                self.assertEqual("stepper" in page.classes, chapter.number in ("02", "04", "05"))
                self.assertEqual("plot" in page.classes, chapter.number != "05")
                self.assertTrue("next-page" in page.classes and "prev-page" in page.classes)

    def test_exercises_and_predictions_are_there_if_the_course_has_them(self):
        for chapter, lesson in self.lessons().items():
            folder = ROOT / "chapters" / chapter.folder
            for exercise in folder.glob("exercises/*/README.md"):
                page = self.pages[f"{exercise.relative_to(ROOT).with_suffix('.html').as_posix()}"]
                hints = bool(chosen_exercise(exercise.parent.name).hints)
                self.assertEqual("hints" in page.anchors, hints, exercise)
            predictions = len(list(folder.glob("predictions/*.cu")))
            self.assertEqual(self.pages[lesson].classes.count("prediction"), predictions)

    def test_an_excerpt_names_its_line(self):
        lesson = self.pages["chapters/04_last_block_guard/README.html"]
        source = (ROOT / "chapters/04_last_block_guard/last_block_guard.cuh").read_text(
            encoding="utf-8"
        )
        line = source.splitlines().index(
            "__global__ void sum_in_one_kernel(const std::int64_t* values, std::size_t n, "
            "std::int64_t* partials,"
        )
        self.assertIn(f"last_block_guard.cuh.html#line-{line + 1}", lesson.links)

    def test_the_landing_page_shows_the_guard(self):
        text = (self.site / "index.html").read_text(encoding="utf-8")
        for words in ("write_and_look", "0 wrong words, right", "missing acquire", "_images/race"):
            self.assertIn(words, text)
        lessons = len(all_chapters())
        self.assertLess(text.index(f"{lessons} lessons"), text.index("write_and_look"))
