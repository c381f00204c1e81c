# SPDX-License-Identifier: MIT
"""`Check yourself` as a quiz: the folded answers, and the chapter's predictions, which are judged.

quiz.js adds the boxes and the buttons. Without it the answers are folded, as on GitHub.
"""

import re

from docutils import nodes
from sphinx import addnodes

from lab_tool.chapters import all_chapters
from lab_tool.paths import ROOT
from lab_tool.predictions import predictions_of

ANCHOR = "check-yourself"


def connect(app):
    app.connect("doctree-read", make_quiz, priority=400)
    app.connect("html-page-context", add_script)


def chapter_of(docname):
    lesson = re.fullmatch(r"chapters/(\w+)/README", docname)
    return next((one for one in all_chapters() if lesson and one.folder == lesson[1]), None)


def add_script(app, pagename, templatename, context, doctree):
    """Handler of html-page-context."""
    if doctree is not None and chapter_of(pagename):
        app.add_js_file("quiz.js", defer="defer")


def make_quiz(app, doctree):
    """Handler of doctree-read."""
    chapter = chapter_of(app.env.docname)
    section = next((one for one in doctree.findall(nodes.section) if ANCHOR in one["ids"]), None)
    if chapter is None or section is None:
        return
    section["classes"].append("quiz")
    for prediction in predictions_of(chapter):
        section += _prediction(app.env.docname, prediction)


def _prediction(docname, prediction):
    made = nodes.section(
        "", ids=[f"prediction-{prediction.number}"], names=[prediction.title.lower()]
    )
    made["classes"].append("prediction")
    made += nodes.title("", f"Prediction {prediction.label}: {prediction.title}")
    made += nodes.paragraph("", f"{prediction.question} Which of the four are free of races?")
    # Four programs are long: they unroll when a reader asks for them.
    made += nodes.raw(
        "",
        '<details class="prediction-programs"><summary>The four programs</summary>',
        format="html",
    )
    answers = []
    for letter, variant in prediction.variants.items():
        state = "racy" if variant.diagnosis else "free"
        block = nodes.container("", classes=["variant", f"variant-{letter}", f"is-{state}"])
        block += nodes.paragraph("", "", nodes.strong("", letter), classes=["variant-letter"])
        code = "\n".join(variant.code)
        block += nodes.literal_block(code, code, language="cuda")
        made += block
        answers += [_answer(docname, letter, variant)]
    command = nodes.literal("", f"./lab predict {prediction.label}")
    made += nodes.raw(
        "", '<details class="prediction-answer"><summary>The answer</summary>', format="html"
    )
    made += answers
    made += nodes.paragraph("", "", command, nodes.Text(" runs the race checker on all four."))
    made += nodes.raw("", "</details></details>", format="html")
    return made


def _answer(docname, letter, variant):
    """Why a variant races or doesn't, and where the lesson explains it."""
    verdict = f"{letter} has a race" if variant.diagnosis else f"{letter} is free of races"
    found = f" Racecheck says: {'; '.join(variant.diagnosis)}." if variant.diagnosis else ""
    made = nodes.paragraph("", "", classes=["why", f"why-{letter}"])
    made += [nodes.strong("", f"{verdict}."), nodes.Text(f" {variant.why}{found} ")]
    page, _, anchor = variant.paragraph.partition("#")
    made += _link(docname, page, anchor)
    return made


def _link(docname, page, anchor):
    """Through MyST, which knows the headings of all pages and warns of one that isn't there."""
    path = (ROOT / page).resolve()
    if not path.is_file():
        path = ((ROOT / docname).parent / page).resolve()
    target = path.relative_to(ROOT).with_suffix("").as_posix()
    link = addnodes.pending_xref(
        refdoc=docname,
        refdomain="doc",
        reftype="myst",
        reftarget=target,
        reftargetid=anchor or None,
        refexplicit=True,
    )
    link += nodes.inline("", "Read it again.", classes=["xref", "myst"])
    return link
