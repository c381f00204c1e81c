# SPDX-License-Identifier: MIT
"""The order of the pages, and the three doors to them: learn, teach, build. A page's sidebar shows the
pages of its own door, so that a student meets neither Autolab nor the project's internals.

GitHub's Markdown has no table of contents across files, so the ones that Sphinx wants are appended
while the files are read.
"""

import re

from lab_tool.chapters import FAST, all_chapters, further_pages
from lab_tool.paths import ROOT

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

# Of each door the captions of its lists of pages, and where it leads.
DOORS = {
    "Learn": (("Lessons", "Reference", "Anywhere"), "README"),
    "Teach": (("Teaching",), "docs/teaching"),
    "Build": (("In your own code", "The project", "Internals"), "docs/use/README"),
}
TEACHING = ("docs/teaching", "docs/grading", "docs/use-with-")  # how their names begin
OWN_CODE = ("docs/race-check-your-project",)

CURRENT = ' aria-current="true"'


def connect(app):
    app.connect("source-read", append_contents)
    app.connect("html-page-context", show_one_door, priority=900)  # after the theme's


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
    """The further readings, the exercises, and last how the kernel is made fast."""
    pages = further_pages(chapter)
    readings = [_docname(page) for page in pages if page.name != FAST]
    fast = [_docname(page) for page in pages if page.name == FAST]
    return [*readings, *exercises_of(docname), *fast]


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
