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
import urllib.parse

import pytest

from engine.command.processes import output_of
from grader.exercises.catalogue import all_exercises, chosen_exercise
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
    """The folder of the site. Skips the test if it can't be built here without the network."""
    known = os.environ.get("LAB_SITE_FOLDER")
    if known:
        return pathlib.Path(known)
    wanted = pinned(REQUIREMENTS.read_text(encoding="utf-8"))
    if output_of([VENV_PYTHON, "-c", ASK, *wanted]) is None:
        pytest.skip("what builds the site is not in .venv; ./lab site installs it")
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


class Site:
    def __init__(self):
        self.folder = built_site()
        self.pages = {
            name: Page((self.folder / name).read_text(encoding="utf-8"))
            for name in pages_of(self.folder)
        }

    def target(self, page, link):
        path = urllib.parse.unquote(link.partition("#")[0].partition("?")[0])
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page

    def lessons(self):
        return {chapter: f"chapters/{chapter.folder}/README.html" for chapter in all_chapters()}

    def sidebar_of(self, name):
        """The pages to which a page's sidebar links."""
        text = (self.folder / name).read_text(encoding="utf-8")
        tree = re.search(r'<div class="sidebar-tree">(.*?)</div>\s*</div>', text, re.S)[1]
        return {self.target(name, link) for link in re.findall(r'href="([^"]*)"', tree)} | {name}


@pytest.fixture(scope="module")
def site():
    return Site()


def test_there_are_many_pages(site):
    assert len(site.pages) > FEWEST_PAGES


def test_each_link_leads_to_a_page_and_a_place_in_it(site):
    for name, page in site.pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target = site.target(name, link)
            assert not target.startswith(".."), f"{name}: {link} leaves the site"
            assert (site.folder / target).is_file(), f"{name}: there is no {link}"
            anchor = urllib.parse.unquote(link.partition("#")[2])
            if anchor and target in site.pages:
                assert anchor in site.pages[target].anchors, name


def test_a_sidebar_shows_the_pages_of_its_own_door(site):
    doors = {
        "docs/teaching.html": ("docs/use-with-autolab.html", "docs/grading.html"),
        "docs/use/README.html": ("docs/internals/site.html", "CONTRIBUTING.html"),
        "chapters/04_last_block_guard/README.html": ("docs/glossary.html", "docs/racecheck.html"),
    }
    links = {name: site.sidebar_of(name) for name in doors}
    for name, own in doors.items():
        for page in own:
            shows = [page in links[one] for one in doors]
            assert shows == [one == name for one in doors], (name, page)
        assert set(doors) - {"chapters/04_last_block_guard/README.html"} <= links[name]
    # Nothing is lost: each page of the course's text stands behind one of the doors.
    texts = {name for name in site.pages if name.startswith("docs/") and name.count("/") == 1}
    assert {name for name in texts if (ROOT / name).with_suffix(".md").is_file()} <= set().union(
        *links.values()
    )


def test_what_may_hold_an_answer_comes_after_the_exercises(site):
    folder = "chapters/04_last_block_guard"
    links = [
        site.target(f"{folder}/README.html", link)
        for link in site.pages[f"{folder}/README.html"].links
    ]
    exercises = [
        f"exercises/{each.name}/README" for each in all_exercises() if each.number[:2] == "04"
    ]
    pages = ["README", "release_acquire", *exercises, "copied_guard", "fast"]
    for before, after in zip(pages, pages[1:]):
        assert links.index(f"{folder}/{before}.html") < links.index(f"{folder}/{after}.html"), after
        shown = (site.folder / folder / f"{before}.html").read_text(encoding="utf-8")
        next_page = re.search(r'class="next-page" href="([^"#]*)', shown)[1]
        assert site.target(f"{folder}/{before}.html", next_page) == f"{folder}/{after}.html"


def test_the_page_of_exercises_lists_them_all(site):
    text = (site.folder / "docs/exercises.html").read_text(encoding="utf-8")
    article = text.partition("<article")[2].partition("</article>")[0]
    found = re.findall(r'href="\.\./(chapters/\w+/exercises/\w+)/README.html"', article)
    assert found == [each.path for each in all_exercises()]


def test_no_page_shows_markdown(site):
    for name in site.pages:
        text = (site.folder / name).read_text(encoding="utf-8")
        article = text.partition("<article")[2].partition("</article>")[0]
        prose = re.sub(r"<(pre|code|script)\b.*?</\1>|<[^>]*>", "", article, flags=re.S)
        assert re.findall(r".{0,40}(?:`|\*\*|\]\().{0,40}", prose) == [], name


def test_predictions_are_folded_and_their_answers_within(site):
    seen = 0
    for name in site.lessons().values():
        text = (site.folder / name).read_text(encoding="utf-8")
        sections = text.split('<section class="prediction"')[1:]
        for section in sections:
            seen += 1
            programs = section.index('<details class="prediction-programs">')
            answer = section.index('<details class="prediction-answer">')
            assert programs < section.index('class="variant')
            assert answer < section.index('class="why')
            assert "</details>" not in section[programs:answer]
    assert seen > 3


def test_nothing_is_loaded_from_elsewhere(site):
    for name, page in site.pages.items():
        for address in page.loaded:
            assert not re.search(r"^([a-z]+:|//|/)", address)
            assert (site.folder / site.target(name, address)).is_file(), name
    for file in [*site.folder.rglob("*.css")]:
        found = re.findall(r"url\(['\"]?(?!data:)([a-z]+:)?//", file.read_text(encoding="utf-8"))
        assert found == [], file


def test_a_lesson_is_light(site):
    for lesson in site.lessons().values():
        page = site.pages[lesson]
        at_once = set(page.loaded) - page.loaded_later
        files = {site.target(lesson, address) for address in at_once}
        size = sum((site.folder / file).stat().st_size for file in {lesson, *files})
        assert size <= MOST_BYTES_OF_A_LESSON, f"{lesson}: {size} bytes"


def test_headings_have_one_beginning_and_no_gaps(site):
    for name, page in site.pages.items():
        assert page.headings.count(1) == 1, name
        for before, after in zip(page.headings, page.headings[1:]):
            assert after <= before + 1, name


def test_each_picture_has_words(site):
    pictures = [alt for page in site.pages.values() for alt in page.pictures]
    assert len(pictures) > 10
    for name, page in site.pages.items():
        for alt in page.pictures:
            assert alt, name


def test_each_lesson_has_its_parts(site):
    for chapter, lesson in site.lessons().items():
        page = site.pages[lesson]
        assert "quiz" in page.classes
        assert page.classes.count("term") >= FEWEST_TERMS
        assert "code-source" in page.classes
        assert ("stepper" in page.classes) == (chapter.number in ("02", "04", "05"))
        assert ("plot" in page.classes) == (chapter.number != "05")
        assert "next-page" in page.classes and "prev-page" in page.classes


def test_exercises_and_predictions_are_there_if_the_course_has_them(site):
    for chapter, lesson in site.lessons().items():
        folder = ROOT / "chapters" / chapter.folder
        for exercise in folder.glob("exercises/*/README.md"):
            page = site.pages[f"{exercise.relative_to(ROOT).with_suffix('.html').as_posix()}"]
            hints = bool(chosen_exercise(exercise.parent.name).hints)
            assert ("hints" in page.anchors) == hints, exercise
        predictions = len(list(folder.glob("predictions/*.cu")))
        assert site.pages[lesson].classes.count("prediction") == predictions


def test_an_excerpt_names_its_line(site):
    lesson = site.pages["chapters/04_last_block_guard/README.html"]
    source = (ROOT / "chapters/04_last_block_guard/last_block_guard.cuh").read_text(
        encoding="utf-8"
    )
    line = source.splitlines().index(
        "__global__ void sum_in_one_kernel(const std::int64_t* values, std::size_t n, "
        "std::int64_t* partials,"
    )
    assert f"last_block_guard.cuh.html#line-{line + 1}" in lesson.links


def test_the_landing_page_shows_the_guard(site):
    text = (site.folder / "index.html").read_text(encoding="utf-8")
    for words in ("write_and_look", "0 wrong words, right", "missing acquire", "_images/race"):
        assert words in text
    lessons = len(all_chapters())
    assert text.index(f"{lessons} lessons") < text.index("write_and_look")
