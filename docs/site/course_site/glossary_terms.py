# SPDX-License-Identifier: MIT
"""What the glossary says about a term, shown when a link to it is under the pointer or has the focus."""

import functools

from docutils import nodes

GLOSSARY = "docs/glossary"


def connect(app):
    app.connect("doctree-resolved", explain_terms)


@functools.cache
def definitions(environment):
    """Of each anchor of the glossary: what it says, as plain text."""
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
