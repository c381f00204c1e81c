# SPDX-License-Identifier: MIT
"""The pages: their order and the three doors to them (learn, teach, build), the list of all exercises, an
exercise's hints, and the landing page. A page's sidebar shows the pages of its own door, so that a student
meets neither Autolab nor the project's internals.
"""

import re

from course_site.links import COMMAND
from grader.exercises.catalogue import all_exercises, chosen_exercise
from lab_tool.chapters import FAST, all_chapters, further_pages
from lab_tool.paths import ROOT


def connect(app):
    app.connect("source-read", append_contents)
    app.connect("source-read", append_hints)
    app.connect("source-read", list_exercises)
    app.connect("html-page-context", show_one_door, priority=900)  # after the theme's
    app.connect("html-collect-pages", landing_page)


# GitHub's Markdown has no table of contents across files, so the ones that Sphinx wants are appended
# while the files are read.

# The documents for users, in the order in which a reader may want them. One that is missing here
# comes after them, by its name.
FIRST_DOCUMENTS = [
    "getting-started",
    "exercises",
    "which-channel",
    "racecheck",
    "memory-model",
    "cpu-backend",
    "glossary",
]

# {door: the captions of its lists of pages, and where it leads}
DOORS = {
    "Learn": (("Lessons", "Reference", "Anywhere"), "README"),
    "Teach": (("Teaching",), "docs/teaching"),
    "Build": (("In your own code", "The project", "Internals"), "docs/use/README"),
}
TEACHING = ("docs/teaching", "docs/grading", "docs/use-with-")  # how their names begin
OWN_CODE = ("docs/race-check-your-project",)

CURRENT = ' aria-current="true"'


def append_contents(app, docname, source):
    """Handler of source-read: source is a list of one string, the page's Markdown."""
    source[0] += "".join(_contents(docname))


def show_one_door(app, pagename, templatename, context, doctree):
    """Handler of html-page-context: what the sidebar shows."""
    tree = context.get("furo_navigation_tree")
    if tree:
        lists = re.split(r'(?=<p class="caption")', tree)
        own = next((_door_of(part) for part in lists if 'class="current' in part), "Learn")
        shown = "".join(part for part in lists if _door_of(part) == own)
        # Sphinx's captions are headings that lack their level.
        shown = shown.replace('role="heading"', 'role="heading" aria-level="2"')
        context["furo_navigation_tree"] = _links_to_doors(own, context["pathto"]) + shown


def _door_of(part):
    """The door of one list of pages, which begins with its caption."""
    caption = re.search(r'class="caption-text">([^<]*)<', part)
    return next((door for door, (own, _) in DOORS.items() if caption and caption[1] in own), None)


def _links_to_doors(own, path_to):
    items = [
        f'<li><a href="{path_to(page)}"{CURRENT * (door == own)}>{door}</a></li>'
        for door, (_, page) in DOORS.items()
    ]
    return f'<ul class="doors">{"".join(items)}</ul>'


def _contents(docname):
    if docname == "README":
        chapters = [f"chapters/{chapter.folder}/README" for chapter in all_chapters()]
        pages = _pages("docs", "docs/*.md")
        ranks = {f"docs/{name}": place for place, name in enumerate(FIRST_DOCUMENTS)}
        pages.sort(key=lambda page: (ranks.get(page, len(ranks)), page))
        project = [page for page in _pages(".", "*.md") if page not in ("README", "CONTRIBUTING")]
        yield _tree("Lessons", chapters)
        elsewhere = (*TEACHING, *OWN_CODE)
        reference = [page for page in pages if not page.startswith(elsewhere)]
        yield _tree("Reference", [*reference, "docs/benchmarks/README"])
        yield _tree("Anywhere", _pages("docs/anywhere", "*.md"))
        teaching = [page for page in pages if page.startswith(TEACHING)]
        yield _tree("Teaching", sorted(teaching, key=lambda page: page != "docs/teaching"))
        yield _tree("In your own code", ["docs/use/README", *OWN_CODE])
        yield _tree("The project", ["CONTRIBUTING", *project])
        yield _tree("Internals", _pages("docs/internals", "*.md"))
    elif docname.startswith("chapters/"):
        for chapter in all_chapters():
            if docname == f"chapters/{chapter.folder}/README":
                yield _tree("", _below_the_lesson(chapter, docname))
    elif docname == "docs/use/README":
        yield _tree("", [page for page in _pages("docs/use", "*.md") if page != docname])


def _below_the_lesson(chapter, docname):
    """The readings that the lesson names, the exercises, the readings that it does not name, as these may
    hold an exercise's answer, and last how the kernel is made fast."""
    lesson = (ROOT / docname).with_suffix(".md").read_text(encoding="utf-8")
    pages = further_pages(chapter)
    fast = [page for page in pages if page.name == FAST]
    after = [page for page in pages if page not in fast and f"]({page.name}" not in lesson]
    before = [page for page in pages if page not in fast + after]
    return [*map(_docname, before), *exercises_of(docname), *map(_docname, after + fast)]


def exercises_of(docname):
    """The pages of a chapter's exercises, in the order of their numbers if they have any."""
    folder = (ROOT / docname).parent
    files = folder.glob("exercises/*/README.md")
    return [_docname(file) for file in sorted(files, key=lambda file: _first_heading(file))]


def _first_heading(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if line.startswith("# ")), file.parent.name)


def _pages(folder, pattern):
    base = ROOT / folder
    pattern = pattern.removeprefix(f"{folder}/")
    return sorted(_docname(file) for file in base.glob(pattern))


def _docname(file):
    return file.relative_to(ROOT).with_suffix("").as_posix()


def _tree(caption, pages):
    """A hidden toctree directive; its entries are absolute, so that any folder may have it."""
    if not pages:
        return ""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    entries = [f"/{page}" for page in pages]
    return "\n".join(["", "", "```{toctree}", *options, "", *entries, "```", ""])


# The list of all exercises, which a terminal shows by `./lab exercises`.

PLACE_OF_LIST = "<!-- The web site lists all exercises here. -->"


def list_exercises(app, docname, source):
    """Handler of source-read."""
    if docname == "docs/exercises":
        before, after = source[0].split(PLACE_OF_LIST)
        source[0] = before + "\n".join(map(_list_of, all_chapters())) + after


def _list_of(chapter):
    """A chapter's exercises, in Markdown: no table, for which a phone is too narrow."""
    items = [
        f"- [{each.number} `{each.name}`](../{each.path}/README.md): {each.subject} "
        f"({each.facts['minutes']} minutes)\n"
        for each in all_exercises()
        if each.chapter == chapter.folder
    ]
    return f"[{_title(chapter)}](../chapters/{chapter.folder}/README.md)\n\n{''.join(items)}"


# An exercise's hints, folded, at the end of its page: one level after the other.


def append_hints(app, docname, source):
    """Handler of source-read."""
    if "/exercises/" not in docname or not docname.endswith("/README"):
        return
    hints = chosen_exercise(docname.split("/")[-2]).hints
    if hints:
        folded = [
            f"<details><summary>Hint {number} of {len(hints)}</summary>\n\n{text}\n\n</details>\n"
            for number, text in enumerate(hints, 1)
        ]
        source[0] += "\n\n## Hints\n\n" + "\n".join(folded)


# index.html: what is special about the course, in ten seconds, out of lesson 04's own blocks.

LESSON = ROOT / "chapters/04_last_block_guard/README.md"
PROGRAM = ROOT / "chapters/04_last_block_guard/naive_last_block_guard.cu"

PICTURE = "chapters/04_last_block_guard/figures/race.svg"


def block_of(text, info):
    """The fenced block whose info string contains `info`: the command that printed it, and its lines."""
    fence = r"^```([^\n]*" + re.escape(info) + r"[^\n]*)\n(.*?)^```$"
    found = re.findall(fence, text, re.M | re.S)
    if len(found) != 1:
        raise ValueError(f"{len(found)} blocks of the lesson on the landing page have {info!r}.")
    ((head, lines),) = found
    return {"command": COMMAND.fullmatch(head)[2], "lines": lines.rstrip("\n")}


def kernel_of(text):
    """The kernel of the naive program, from __global__ to its closing brace."""
    return re.search(r"^__global__.*?^}$", text, re.M | re.S)[0]


def landing_page(app):
    """Handler of html-collect-pages."""
    lesson = LESSON.read_text(encoding="utf-8")
    highlighter = app.builder.highlighter
    context = {
        "title": "Start",
        "furo_hide_toc": True,
        "kernel": highlighter.highlight_block(
            kernel_of(PROGRAM.read_text(encoding="utf-8")), "cuda"
        ),
        "on_a_gpu": block_of(lesson, "(H200) ./lab run chapters/04"),
        "picture": app.env.images[PICTURE][1],
        "racecheck": block_of(lesson, "./lab racecheck chapters/04"),
        "chapters": [
            (f"chapters/{chapter.folder}/README", _title(chapter)) for chapter in all_chapters()
        ],
    }
    yield "index", context, "landing.html"


def _title(chapter):
    text = (ROOT / "chapters" / chapter.folder / "README.md").read_text(encoding="utf-8")
    return re.search(r"^# (.*)$", text, re.M)[1]
