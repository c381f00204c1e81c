# SPDX-License-Identifier: MIT
"""The order of the pages: chapters with their exercises, then the documents for users, then those for
whoever works on the project.

GitHub's Markdown has no table of contents across files, so the ones that Sphinx wants are appended
while the files are read.
"""

from lab_tool.chapters import all_chapters
from lab_tool.paths import ROOT

# The documents for users, in the order in which a reader may want them. One that is missing here
# comes after them, by its name.
FIRST_DOCUMENTS = [
    "getting-started",
    "exercises",
    "racecheck",
    "memory-model",
    "cpu-backend",
    "glossary",
]


def connect(app):
    app.connect("source-read", append_contents)
    app.connect("html-page-context", give_captions_a_level, priority=900)  # after the theme's


def append_contents(app, docname, source):
    """Handler of source-read: source is a list of one string, the page's Markdown."""
    source[0] += "".join(_contents(docname))


def give_captions_a_level(app, pagename, templatename, context, doctree):
    """Handler of html-page-context: Sphinx's captions are headings that lack their level."""
    tree = context.get("furo_navigation_tree")
    if tree:
        context["furo_navigation_tree"] = tree.replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )


def _contents(docname):
    if docname == "README":
        chapters = [f"chapters/{chapter.folder}/README" for chapter in all_chapters()]
        pages = _pages("docs", "docs/*.md")
        ranks = {f"docs/{name}": place for place, name in enumerate(FIRST_DOCUMENTS)}
        pages.sort(key=lambda page: (ranks.get(page, len(ranks)), page))
        project = [page for page in _pages(".", "*.md") if page not in ("README", "CONTRIBUTING")]
        yield _tree("Lessons", chapters)
        yield _tree("Reference", [*pages, "docs/use/README", "docs/benchmarks/README"])
        yield _tree("Anywhere", _pages("docs/anywhere", "*.md"))
        yield _tree("The project", ["CONTRIBUTING", *project])
        yield _tree("Internals", _pages("docs/internals", "*.md"))
    elif docname.count("/") == 2 and docname.startswith("chapters/"):
        yield _tree("", exercises_of(docname))
    elif docname == "docs/use/README":
        yield _tree("", [page for page in _pages("docs/use", "*.md") if page != docname])


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
