# SPDX-License-Identifier: MIT
"""docs/glossary.md: each term once, short, and linked from the lesson that introduces it."""

import re
import unittest

from documents_test import FENCE, prose_of, text_of

from lab_tool.chapters import all_chapters
from this_build import ROOT

GLOSSARY = ROOT / "docs/glossary.md"
MOST_SENTENCES = 3
FEWEST_TERMS = 30
LESSON = re.compile(r"^From lesson \[(\d\d)\]\(\.\./chapters/([^/)]+)/(\w+\.md)\)\.$", re.M)


def entries(text):
    """[(term, what stands under its heading)] of a glossary."""
    pieces = re.split(r"^## (.*)$", text, flags=re.M)
    return list(zip(pieces[1::2], pieces[2::2]))


def sentences(entry):
    """The sentences of an entry, without the line about its lesson."""
    body = LESSON.sub("", re.sub(r"`[^`]*`", "code", entry))
    # A number such as 9.0 ends no sentence.
    return [part for part in re.split(r"[.!?](?:\s|$)", body) if part.strip()]


def anchor(term):
    return re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-")


def missing_link(term, lesson):
    """What is wrong with the lesson's first use of the term; None if it links to the glossary."""
    body = re.sub(r"`[^`]*`", "", FENCE.sub("", lesson).partition("\n## ")[2])
    link = body.find(f"](../../docs/glossary.md#{anchor(term)})")
    if link < 0:
        return f"no link to #{anchor(term)}"
    # The text of a link, or of a picture, that stands before it is no use of the term.
    before = re.sub(r"!?\[[^\]]*\]\([^)]*\)", "", body[: body.rfind("[", 0, link)])
    used = re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", before, re.I)
    if used and term not in EVERYDAY_WORDS:
        around = before[max(0, used.start() - 40) : used.end() + 20]
        return f"the term is used before its link: {around!r}"
    return None


# Words that lessons also use in their everyday sense before they introduce the term.
EVERYDAY_WORDS = {"Release", "Race", "Scope", "Launch", "Resident"}


class GlossaryTest(unittest.TestCase):
    def test_each_term_stands_once_and_in_order(self):
        terms = [term for term, _ in entries(text_of(GLOSSARY))]
        self.assertGreater(len(terms), FEWEST_TERMS)
        self.assertEqual(terms, sorted(set(terms), key=str.lower))

    def test_each_entry_is_short(self):
        for term, entry in entries(text_of(GLOSSARY)):
            with self.subTest(term=term):
                self.assertIn(len(sentences(entry)), range(1, MOST_SENTENCES + 1))

    def test_each_entry_names_a_lesson(self):
        folders = {chapter.number: chapter.folder for chapter in all_chapters()}
        for term, entry in entries(text_of(GLOSSARY)):
            with self.subTest(term=term):
                named = LESSON.findall(entry)
                self.assertEqual(len(named), 1)
                self.assertEqual(folders.get(named[0][0]), named[0][1])

    def test_the_lesson_links_to_the_term_at_its_first_use(self):
        for term, entry in entries(text_of(GLOSSARY)):
            _, folder, page = LESSON.findall(entry)[0]
            with self.subTest(term=term, lesson=folder):
                lesson = text_of(ROOT / "chapters" / folder / page)
                self.assertIsNone(missing_link(term, lesson))

    def test_links_between_terms_lead_to_terms(self):
        terms = {anchor(term) for term, _ in entries(text_of(GLOSSARY))}
        for link in re.findall(r"\]\(#([^)]+)\)", prose_of(GLOSSARY)):
            self.assertIn(link, terms)


class Checks(unittest.TestCase):
    """What the checks above must not let through."""

    def test_entries_and_sentences(self):
        text = "# G\n\n## A\n\nOne of 9.0. Two: `f(x). y`.\n\nFrom lesson [01](../chapters/01_a/README.md).\n"
        ((term, entry),) = entries(text)
        self.assertEqual((term, len(sentences(entry))), ("A", 2))
        self.assertEqual(LESSON.findall(entry), [("01", "01_a", "README.md")])

    def test_first_use(self):
        link = "a [warp](../../docs/glossary.md#warp)"
        for text, problem in (
            (f"warp\n## Idea\n{link}, a warp", None),
            ("## Idea\na warp", "no link"),
            (f"\n## Idea\nwarps, and {link}", "before its link"),
            (f"\n## Idea\n`warp`, ![a warp](x.svg) and {link}", None),
        ):
            found = missing_link("warp", "# T\n\n" + text)
            with self.subTest(text=text):
                self.assertEqual(bool(found), bool(problem), found)
                self.assertIn(problem or "", found or "")
