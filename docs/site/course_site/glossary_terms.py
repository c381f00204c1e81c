# SPDX-License-Identifier: MIT
"""What the glossary says about a term, shown when a link to it is under the pointer or has the focus."""

import re

from docutils import nodes

from lab_tool.paths import ROOT

GLOSSARY = "docs/glossary"
NO_PROSE = re.compile(r"^From lesson .*$", re.M)


def connect(app):
    app.connect("doctree-resolved", explain_terms)


def definitions(text):
    """Of each anchor of the glossary: what it says, as plain text."""
    found = {}
    pieces = re.split(r"(?m)^## (.*)$", text)
    for term, body in zip(pieces[1::2], pieces[2::2]):
        prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", NO_PROSE.sub("", body))
        found[anchor_of(term)] = " ".join(re.sub(r"[*`]", "", prose).split())
    return found


def anchor_of(term):
    return re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-")


def explain_terms(app, doctree, docname):
    """Handler of doctree-resolved: the class and the words that course.js makes a hover text of."""
    if docname == GLOSSARY:
        return
    known = definitions((ROOT / f"{GLOSSARY}.md").read_text(encoding="utf-8"))
    for link in doctree.findall(nodes.reference):
        page, _, anchor = link.get("refuri", "").partition("#")
        if page.endswith("glossary.html") and anchor in known:
            link["classes"].append("term")
            link["reftitle"] = known[anchor]
