# SPDX-License-Identifier: MIT
"""Links of a page that the site adds: to pages of the sources, with their lines; from each block of code
to the source that it comes from; and at each term the glossary's words.

GitHub shows a file or a folder that a document links to. The site has to bring these pages itself, so
that nothing outside of it is needed.
"""

import functools
import html
import pathlib
import posixpath
import re

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes

from lab_tool.paths import ROOT
from lab_tool.site import is_published


def connect(app):
    # Before Sphinx collects what is to be downloaded: these links become pages instead.
    app.connect("doctree-read", resolve_links, priority=400)
    app.connect("doctree-read", name_the_sources)
    app.connect("doctree-resolved", explain_terms)
    app.connect("html-collect-pages", source_pages)


# Links to source files and folders, which lead to pages of their own: the sources with line numbers.

# Recorded runs are data; of a longer file the page shows the beginning.
MOST_CHARACTERS = 60_000


def _wanted(app):
    """The files and folders to which some page links."""
    if not hasattr(app.env, "course_sources"):
        app.env.course_sources = set()
    return app.env.course_sources


def page_of(path):
    """The page of a file or a folder, without .html."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        return f"{name}/README" if (path / "README.md").is_file() else f"{name}/index"
    return name


def source_reference(app, docname, file, text, line=None):
    """A reference node to a source's page, or to one of its lines. The page is made."""
    _wanted(app).add(file)
    uri = posixpath.relpath(f"{page_of(file)}.html", posixpath.dirname(docname) or ".")
    anchor = f"#line-{line}" if line else ""
    return nodes.reference("", text, refuri=uri + anchor, internal=True, classes=["source"])


def resolve_links(app, doctree):
    """Handler of doctree-read: links to files that are no pages, to folders, and inline file names."""
    docname = app.env.docname
    folder = (ROOT / docname).parent
    candidates = [
        *doctree.findall(addnodes.download_reference),
        *doctree.findall(addnodes.pending_xref),
    ]
    for link in candidates:
        target = link.get("reftarget", "").partition("#")[0]
        path = (ROOT / target[1:] if target.startswith("/") else folder / target).resolve()
        if link.get("refdomain") == "doc" or not target or not path.is_relative_to(ROOT):
            continue
        if not is_published(path) and path.exists():
            link.replace_self([child.deepcopy() for child in _words(link)])
        elif path.is_dir() or (path.is_file() and path.suffix != ".md"):
            reference = source_reference(app, docname, path, "")
            reference += nodes.inline("", "", *(child.deepcopy() for child in _words(link)))
            if "title" in link:  # MyST's name for it; that of a link to a test is the test's
                reference["reftitle"] = link["title"]
            link.replace_self(reference)
    for code in list(doctree.findall(nodes.literal)):
        _link_file_name(app, docname, code)


def _words(link):
    """What a link says, without the wrapping that Sphinx puts around it."""
    only = link.children[0] if len(link.children) == 1 else None
    return (
        only.children
        if isinstance(only, (nodes.inline, nodes.literal)) and only.children
        else link.children
    )


def _link_file_name(app, docname, code):
    """`last_block.cuh` in a sentence leads to the file, if it stands next to the document."""
    name = code.astext()
    if pathlib.PurePath(name).suffix not in (".cu", ".cuh", ".hpp") or " " in name or "<" in name:
        return
    if isinstance(code.parent, (nodes.reference, nodes.title)):
        return
    if any(isinstance(one, (nodes.reference, addnodes.pending_xref)) for one in _ancestors(code)):
        return
    for base in ((ROOT / docname).parent, ROOT, ROOT / "chapters"):
        if (base / name).is_file() and is_published(base / name):
            reference = source_reference(app, docname, (base / name).resolve(), "")
            reference += code.deepcopy()
            code.replace_self(reference)
            return


def _ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def source_pages(app):
    """Handler of html-collect-pages: (name, context, template) of each page."""
    files = set()
    for path in sorted(_wanted(app)):
        if not path.is_dir():
            files.add(path)
        elif not (path / "README.md").is_file():
            inside = sorted(
                one
                for one in path.iterdir()
                if one.is_file() and not one.name.startswith(".") and is_published(one)
            )
            files |= set(inside)
            yield page_of(path), _folder_context(path, inside), "page.html"
    for path in sorted(files):
        yield page_of(path), _file_context(path), "page.html"


def _folder_context(path, inside):
    rows = "".join(
        f'<li><a href="{html.escape(one.name)}.html"><code>{html.escape(one.name)}</code></a></li>'
        for one in inside
    )
    name = path.relative_to(ROOT).as_posix()
    return {
        "title": name,
        "body": f"<h1>{html.escape(name)}</h1><ul>{rows}</ul>",
        "furo_hide_toc": True,
    }


def _file_context(path):
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8", errors="replace")
    note = ""
    if len(text) > MOST_CHARACTERS:
        lines = text.count("\n")
        text = text[: text.rfind("\n", 0, MOST_CHARACTERS) + 1]
        note = f"<p>The first {text.count(chr(10)):,} of its {lines:,} lines.</p>"
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    formatter = HtmlFormatter(
        linenos="inline", lineanchors="line", anchorlinenos=True, linespans="", cssclass="highlight"
    )
    code = f'<div class="highlight-source">{highlight(text, lexer, formatter)}</div>'
    body = f"<h1>{html.escape(name)}</h1>{note}{code}"
    return {"title": name, "body": body, "furo_hide_toc": True, "is_source": True}


# A line above each block of code: where it comes from, with a link to the source's line.
#
# The language of a block is followed by its source, as in ```cpp last_block.cuh, or by the command that
# printed it, as in ```text (part) ./lab racecheck 04. Sphinx drops that, so it is looked up in the file.

COMMAND = re.compile(r"text(?: \(([^)]*)\))?(?: (\./lab .*))?")


def name_the_sources(app, doctree):
    """Handler of doctree-read: wraps each block that has a source into a container, under a line about it."""
    docname = app.env.docname
    lines = (ROOT / f"{docname}.md").read_text(encoding="utf-8").splitlines()
    for block in list(doctree.findall(nodes.literal_block)):
        info = _info_of(block, lines)
        caption = _caption(app, docname, info, block)
        if caption is None:
            continue
        container = nodes.container("", classes=["code-with-source"])
        container += nodes.paragraph("", "", *caption, classes=["code-source"])
        block.replace_self(container)
        container += block


def _info_of(block, lines):
    """The info string of the fenced block, "" if it has none."""
    if not block.line or block.line > len(lines):
        return ""
    match = re.match(r"\s*```+(.*)", lines[block.line - 1])
    return match[1].strip() if match else ""


def _caption(app, docname, info, block):
    words = info.split()
    if len(words) == 2 and words[0] == "cpp" and words[1] != "example":
        file = source_of(docname, words[1])
        if file:
            block["language"] = "cuda"
            line = first_line_of(block.astext(), file)
            return [source_reference(app, docname, file, f"{words[1]}, line {line}", line)]
    printed = COMMAND.fullmatch(info)
    if printed and printed[2]:
        note = f" ({printed[1]})" if printed[1] else ""
        return [nodes.literal("", f"$ {printed[2]}"), nodes.Text(note)]
    return None


def source_of(docname, name):
    """The file that an excerpt or an inline name means: seen from the document, or from the root."""
    for folder in ((ROOT / docname).parent, ROOT):
        if (folder / name).is_file() and is_published(folder / name):
            return (folder / name).resolve()
    return None


def first_line_of(excerpt, file):
    """The number of the line at which an excerpt begins; 1 if it isn't found."""
    wanted = [line.strip() for line in excerpt.splitlines() if line.strip()]
    run = wanted[: next((at for at, line in enumerate(wanted) if line == "// ..."), len(wanted))]
    numbered = [
        (number, line.strip())
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip()
    ]
    for start in range(len(numbered) - len(run) + 1):
        if [line for _, line in numbered[start : start + len(run)]] == run:
            return numbered[start][0]
    return 1


# What the glossary says about a term, shown when a link to it is under the pointer or has the focus.

GLOSSARY = "docs/glossary"


@functools.cache
def definitions(environment):
    """{anchor of the glossary: what it says, as plain text}"""
    found = {}
    for section in environment.get_doctree(GLOSSARY).findall(nodes.section):
        texts = [one.astext() for one in section.children if isinstance(one, nodes.paragraph)]
        prose = " ".join(text for text in texts if not text.startswith("From lesson "))
        found[section["slug"]] = " ".join(prose.split())
    return found


def explain_terms(app, doctree, docname):
    """Handler of doctree-resolved: the class and the words that course.js makes a hover text of."""
    if docname == GLOSSARY:
        return
    known = definitions(app.env)
    for link in doctree.findall(nodes.reference):
        page, _, anchor = link.get("refuri", "").partition("#")
        if page.endswith("glossary.html") and anchor in known:
            link["classes"].append("term")
            link["reftitle"] = known[anchor]
