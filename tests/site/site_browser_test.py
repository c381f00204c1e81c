# SPDX-License-Identifier: MIT
"""The site in a real browser: chromium and its driver from the distribution, Selenium from PyPI."""

import contextlib
import functools
import http.server
import json
import pathlib
import re
import shutil
import sys
import threading
import time

import pytest
from site_pages_test import built_site, pages_of

from lab_tool.paths import ROOT, VENV

# The packages in .venv are importable here, if they are for this Python.
PACKAGES = VENV / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
if PACKAGES.is_dir() and str(PACKAGES) not in sys.path:
    sys.path.append(str(PACKAGES))
try:
    from axe_core_python.selenium import Axe
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

PREFIX = "/a course/site/"  # of the server's paths, as on Pages; with a space on purpose
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PHONE, LAPTOP = 360, 1280  # whose window holds the sidebar, but not much beside it
WIDTHS = (PHONE, 768, LAPTOP, 1440)
LESSONS = {
    "02": "chapters/02_shared_memory_dot_product/README.html",
    "04": "chapters/04_last_block_guard/README.html",
    "05": "chapters/05_work_queue/README.html",
}
SEARCHES = {
    "ticket": LESSONS["04"],
    "acquire": "docs/glossary.html",
    "shuffle": LESSONS["02"],
    "queue": LESSONS["05"],
    "occupancy": "docs/glossary.html",
}
SMALLEST_FIGURE = 350  # pixels: of its 460 units, of which a letter has 13
SECONDS = 30  # until something that was asked for must have happened
MOST_STEPS = 40


# Three lists: what is cut by the window, a page's own code that scrolls, and widths of pictures.
WHAT_FITS = """
document.querySelectorAll("article details").forEach((one) => { one.open = true; });
const boxes = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
const scrolls = (one) => one.matches("article *")
  && (["auto", "scroll"].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
const isOut = ({left, right}) => left < -1 || right > document.documentElement.clientWidth + 1;
const isCut = (one) => isOut(one.getBoundingClientRect()) && !scrolls(one.parentElement);
const isScrolled = (one) => one.scrollWidth > one.clientWidth;
const words = (one) => one.outerHTML.slice(0, 100);
return [
  boxes("article *").filter(isCut).map(words),
  boxes("article div:not(.highlight-source) > .highlight > pre").filter(isScrolled).map(words),
  boxes("article img").filter((one) => one.naturalWidth).map((one) => one.clientWidth),
];
"""


class SiteServer:
    """Serves the site under PREFIX; `missing` are the paths that it was asked for in vain."""

    def __init__(self, folder):
        self.missing = []
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                asked = super().translate_path(path)
                relative = pathlib.Path(asked).relative_to(self.directory)
                inner = relative.parts[len(PREFIX.strip("/").split("/")) :]
                inside = relative.as_posix().startswith(PREFIX.strip("/"))
                return str(pathlib.Path(self.directory, *inner)) if inside else "/nowhere"

            def do_GET(self):
                if self.path.endswith("favicon.ico"):  # a browser asks for it by itself
                    self.send_response(204)
                    self.end_headers()
                else:
                    super().do_GET()

            def send_error(self, code, *words):
                outer.missing.append(self.path)
                super().send_error(code, *words)

            def log_message(self, *words):
                pass

        handler = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = (
            f"http://127.0.0.1:{self.server.server_address[1]}{PREFIX.replace(' ', '%20')}"
        )

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def new_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def documents_of(pages):
    """Those that are no source file's, of which there are many and which are all alike."""
    found = [page for page in pages if not re.search(r"\.\w+\.html$", page)]
    return [*found, next(page for page in pages if page not in found)]


served_or_not = pytest.mark.parametrize("is_served", [True, False], ids=["served", "as_files"])


class SiteInBrowser:
    def __init__(self):
        self.site = built_site()
        self.server = SiteServer(self.site)
        self.browser = new_browser()

    def open(self, page, width=1440, address=None):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        self.browser.get((address or self.server.address) + page)

    def address(self, is_served):
        return self.server.address if is_served else f"{self.site.as_uri()}/"

    @contextlib.contextmanager
    def scripts(self, run):
        """Whether the pages' scripts run until the context ends."""
        command = "Emulation.setScriptExecutionDisabled"
        self.browser.execute_cdp_cmd(command, {"value": not run})
        try:
            yield
        finally:
            self.browser.execute_cdp_cmd(command, {"value": False})

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def wait_for(self, condition, what):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        pytest.fail(f"{what} did not happen within {SECONDS} s")

    def assert_no_error(self, where):
        assert [entry["message"] for entry in self.browser.get_log("browser")] == [], where

    def check_page(self, page, width, address=None):
        self.open(page, width, address)
        self.assert_no_error(f"{page} at {width}")
        wide = self.run_script("return document.documentElement.scrollWidth")
        assert wide <= width, f"{page} at {width} scrolls sideways"
        cut, scrolled, pictures = self.run_script(WHAT_FITS)
        assert cut == [], f"{page} at {width}"
        assert scrolled == [] or width < LAPTOP, f"{page} at {width}"
        assert min(pictures, default=SMALLEST_FIGURE) >= SMALLEST_FIGURE, f"{page} at {width}"

    def search(self, word, address):
        self.open("search.html", address=address)
        field = self.browser.find_element(By.CSS_SELECTOR, "input.sidebar-search")
        field.send_keys(word, Keys.ENTER)
        self.wait_for(lambda: "q=" in self.browser.current_url, "the search")
        links = self.wait_for(lambda: self.all("#search-results li a"), f"a result for {word}")
        self.wait_for(lambda: not self.all("#search-results .search-progress"), "the end")
        time.sleep(0.3)
        links = self.all("#search-results li a")
        return [link.get_attribute("href") for link in links]

    def copied(self, block):
        """What the button of the first block that this selector finds copies."""
        self.run_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.run_script(f"document.querySelector('{block} .copy-button').click()")
        self.wait_for(lambda: self.run_script("return window.copied"), "the copy")
        return self.run_script("return window.copied")

    def has_plot(self):
        """Whether the first picture of the recorded times is loaded."""
        return self.all("details.plot img")[0].get_property("naturalWidth") > 0

    def play(self):
        """Plays to the end by the keyboard alone; returns the verdict."""
        for _ in range(MOST_STEPS):
            buttons = self.all(".stepper-threads button")
            if not buttons:
                return self.browser.find_element(By.CSS_SELECTOR, ".stepper-verdict").text
            self.run_script("arguments[0].focus()", buttons[-1])
            self.browser.switch_to.active_element.send_keys(Keys.SPACE)
        pytest.fail("the schedule does not end")

    def turn(self, number):
        self.run_script(f"document.querySelectorAll('.stepper-switches input')[{number}].click()")


@pytest.fixture(scope="module")
def in_browser():
    if not webdriver:
        pytest.skip("Selenium and axe-core-python are not in .venv (tests/site/requirements.txt)")
    if not (BROWSER and DRIVER):
        pytest.skip("chromium and chromium-driver are not here")
    made = SiteInBrowser()
    yield made
    made.browser.quit()
    made.server.close()


@pytest.fixture
def shown(in_browser):
    in_browser.browser.get_log("browser")  # what the tests before have left there
    return in_browser


def test_every_page_fits_a_phone_and_a_laptop_and_lessons_every_width(shown):
    pages = pages_of(shown.site)
    assert len(pages) > 50
    pages_at = {PHONE: pages, LAPTOP: documents_of(pages)}
    for width in WIDTHS:
        for page in pages_at.get(width, ("index.html", *LESSONS.values())):
            shown.check_page(page, width)
    assert shown.server.missing == []


def test_lessons_load_as_files(shown):
    for page in ("index.html", "README.html", *LESSONS.values()):
        shown.check_page(page, 1440, f"{shown.site.as_uri()}/")


def test_the_server_tells_what_is_missing(shown):
    shown.open("no_such_page.html")
    assert shown.server.missing == [f"{PREFIX.replace(' ', '%20')}no_such_page.html"]
    shown.server.missing.clear()
    shown.browser.get_log("browser")


@pytest.mark.parametrize("word", SEARCHES)
@served_or_not
def test_search_finds_five_terms(shown, is_served, word):
    found = shown.search(word, shown.address(is_served))
    assert any(SEARCHES[word] in link for link in found), found
    shown.assert_no_error(word)


def test_the_theme_switch_works(shown):
    shown.open(LESSONS["04"])
    background = "return getComputedStyle(document.body).backgroundColor"
    button = "document.querySelector('.theme-toggle-content button').click()"
    shown.run_script("localStorage.clear(); document.body.dataset.theme = 'auto'")
    seen = {}
    for _ in range(3):
        shown.run_script(button)
        theme = shown.run_script("return document.body.dataset.theme")
        seen[theme] = shown.run_script(background)
    assert set(seen) == {"auto", "light", "dark"}
    assert seen["light"] != seen["dark"]
    shown.run_script("document.body.dataset.theme = 'dark'")
    scheme = "return getComputedStyle(document.querySelector('article img')).colorScheme"
    assert shown.run_script(scheme) == "dark"


def test_a_term_explains_itself_to_pointer_and_keyboard(shown):
    shown.open(LESSONS["04"])
    shown.run_script("document.querySelector('a.term').focus()")
    box = shown.browser.find_element(By.ID, "term-words")
    shown.wait_for(box.is_displayed, "the words of the glossary")
    assert len(box.text) > 30
    shown.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not box.is_displayed()


def test_code_is_copied(shown):
    shown.open(LESSONS["04"])
    code = shown.run_script(
        "return document.querySelector('article .highlight-cuda pre').textContent"
    )
    assert shown.copied("article .highlight-cuda") == code


@pytest.mark.parametrize("page, says", ((LESSONS["04"], "./lab run"), ("index.html", "./lab run")))
def test_of_a_commands_output_the_command_is_copied(shown, page, says):
    shown.open(page)
    copied = shown.copied("article .code-with-source:has(.code-source code)")
    assert copied.startswith(says), copied
    assert "\n" not in copied


def test_the_quiz_answers(shown):
    shown.open(LESSONS["04"])
    shown.run_script("document.querySelector('.quiz .quiz-item button').click()")
    assert shown.run_script("return document.querySelector('.quiz details').open")
    shown.run_script("document.querySelector('.quiz-judge button').click()")
    score = shown.browser.find_element(By.CSS_SELECTOR, ".quiz-score")
    assert score.get_attribute("textContent") == "1 of 1 right so far."


def test_predictions_are_judged(shown):
    shown.open(LESSONS["04"])
    if not shown.all("section.prediction"):
        pytest.skip("this course has no predictions")
    racy = (
        "document.querySelector('section.prediction .variant.is-racy .variant-letter').textContent"
    )
    letter = shown.run_script(f"return {racy}")
    shown.run_script(
        "document.querySelector('.prediction input[name=' + arguments[0] + ']').click()", letter
    )
    shown.run_script("document.querySelector('.prediction form button').click()")
    verdict = shown.run_script("return document.querySelector('.quiz-verdict').textContent")
    assert re.search(rf"^Not right: .*{letter}", verdict)
    wrong = shown.run_script(
        "return document.querySelector('.why-' + arguments[0]).classList.contains('is-wrong')",
        letter,
    )
    assert wrong


def first_time_of_lesson_04():
    run = json.loads((ROOT / "docs/benchmarks/nvidia-h200.json").read_text(encoding="utf-8"))
    wanted = {
        "chapter": "04",
        "task": "sum",
        "type": "float",
        "elements": 1024,
        "name": "last_block",
    }
    row = next(row for row in run["rows"] if wanted.items() <= row.items())
    return f"{1000 * row['median_ms']:.2f}"


@pytest.mark.parametrize("scripts_run", [True, False], ids=["scripts", "no_scripts"])
@served_or_not
def test_all_recorded_times_are_drawn_and_can_be_read(shown, is_served, scripts_run):
    address = shown.address(is_served)
    with shown.scripts(scripts_run):
        shown.open(LESSONS["04"], width=360, address=address)
        # Without scripts a browser loads every picture at once.
        assert shown.has_plot() != scripts_run, "before a reader asks for it"
        shown.all("details.plot > summary")[0].send_keys(Keys.ENTER)
        shown.wait_for(shown.has_plot, "the plot")
        shown.all("details.plot details > summary")[0].send_keys(Keys.ENTER)
        rows = shown.all("details.plot table")[0].find_elements(By.TAG_NAME, "tr")
        assert len(rows) > 10
        assert rows[1].text.split()[:3] == ["2^10", first_time_of_lesson_04(), "µs"]
        wide = shown.all("html")[0].get_property("scrollWidth")
        assert wide <= 360, "the table makes the page scroll sideways"
        shown.assert_no_error(address)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lesson", LESSONS)
def test_it_is_played_through_at_every_width(shown, width, lesson):
    page = LESSONS[lesson]
    shown.open(page, width)
    assert "no race" in shown.play()
    shown.turn(0)
    assert "nothing orders" in shown.play()
    shown.run_script("[...document.querySelectorAll('.stepper-buttons button')][0].click()")
    assert shown.all(".stepper-threads button"), "back goes one step back"
    wide = shown.run_script("return document.documentElement.scrollWidth")
    assert wide <= width
    shown.assert_no_error(page)


def test_the_focus_stays_in_the_figure(shown):
    shown.open(LESSONS["04"])
    for _ in range(3):
        button = shown.all(".stepper-threads button")[0]
        shown.run_script("arguments[0].focus()", button)
        shown.browser.switch_to.active_element.send_keys(Keys.ENTER)
        inside = "return document.activeElement.closest('.stepper') !== null"
        assert shown.run_script(inside)


def test_a_read_that_may_be_old_is_named(shown):
    shown.open(LESSONS["04"])
    shown.turn(2)  # no acquire
    shown.play()
    assert "may see new or old" in shown.browser.find_element(By.CSS_SELECTOR, ".stepper").text


def test_a_read_that_is_done_contradicts_nothing(shown):
    shown.open(LESSONS["04"])
    shown.turn(2)  # no acquire
    memory = "return document.querySelector('.stepper-memory').textContent"
    before = set()
    for _ in range(MOST_STEPS):
        buttons = shown.all(".stepper-threads button")
        if not buttons:
            break
        before.add("may see: old" in shown.run_script(memory))
        shown.run_script("arguments[0].click()", buttons[-1])
    assert True in before, "while a read is still to come"
    assert "may see" not in shown.run_script(memory)


def test_without_javascript_there_is_the_static_figure(shown):
    with shown.scripts(False):
        shown.open(LESSONS["04"])
        table = shown.browser.find_element(By.CSS_SELECTOR, ".stepper-static table")
        assert "without: the ticket is an acquire" in table.text
        assert len(shown.all(".stepper-static .stepper-thread")) == 4


# axe-core finds no violation in any document, in either theme.
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}  # of what is right it describes one element each


def test_no_violations(shown):
    axe = Axe()
    for page in documents_of(pages_of(shown.site)):
        shown.open(page)
        for theme in ("light", "dark"):
            shown.run_script("document.body.dataset.theme = arguments[0]", theme)
            found = axe.run(shown.browser, options=ONLY_VIOLATIONS)["violations"]
            told = [
                (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
                for one in found
            ]
            assert told == [], (page, theme)
