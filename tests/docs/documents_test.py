# SPDX-License-Identifier: MIT
"""Holds the README, the lessons and docs/ to the sources: links, excerpts, commands, paths and terms;
and the files that editors and Git read to what .ci/run asks for.

A fenced block of C++ names where it comes from, after its language: ```cpp block_reduce.cuh, as seen
from the document's folder or from the repository's root. Its lines then stand in that file in this
order and without gaps, but for their indentation; a line `// ...` stands for lines left out. Code
that is in no file says so: ```cpp example.
"""

import fnmatch
import json
import re
import shlex

import pytest

from engine.translate.words import rows as rows_of_words
from grader.exercises.catalogue import DRIVER, chosen_exercise
from lab_runs import HAS_RACECHECK
from lab_tool.chapters import all_chapters, chosen_chapters
from lab_tool.command_line import parsed
from lab_tool.predictions import all_predictions, chosen_prediction
from test_setup import captured
from this_build import BUILD, ROOT

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob(".github/*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("chapters/*/**/*.md")),
]

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MESON_OPTIONS = {"buildtype", "b_lundef", "b_pch", "b_sanitize", "debug", "optimization"}


def text_of(document):
    return document.read_text(encoding="utf-8")


def prose_of(document):
    return FENCE.sub("", text_of(document))


def commands_of(document):
    """The command lines of the document: fenced ones after `$ ` or in a sh block, and inline code."""
    commands = re.findall(r"`([^`\n]+)`", prose_of(document))
    for info, body in FENCE.findall(text_of(document)):
        language = info.split()[0] if info.split() else ""
        for line in re.sub(r"\\\n\s*", "", body).splitlines():
            if line.startswith("$ "):
                commands.append(line[2:])
            elif language in ("sh", "bash"):
                commands.append(line)
    # Less a remark, and what a shell makes of the output.
    return [re.sub(r"\s+(?:#|\||>).*", "", command) for command in commands]


def anchors_of(document):
    """The anchors that GitHub gives to a document's headings."""
    headings = re.findall(r"^#+ (.*)$", prose_of(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pieces(excerpt):
    """The excerpt's runs of lines between `// ...`, stripped and without blank ones."""
    runs = [[]]
    for line in map(str.strip, excerpt.splitlines()):
        if line == "// ...":
            runs.append([])
        elif line:
            runs[-1].append(line)
    return [run for run in runs if run]


def stands_in(excerpt, source):
    """Whether the excerpt's runs of lines are in the source, one after the other."""
    lines = [line for line in map(str.strip, source.splitlines()) if line]
    position = 0
    for run in pieces(excerpt):
        starts = range(position, len(lines) - len(run) + 1)
        found = [start for start in starts if lines[start : start + len(run)] == run]
        if not found:
            return False
        position = found[0] + len(run)
    return True


for_each_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT))
)


def test_every_chapter_has_a_lesson():
    for row in all_chapters():
        assert ROOT / "chapters" / row.folder / "README.md" in DOCUMENTS


@for_each_document
def test_license_line(document):
    assert "SPDX-License-Identifier: CC-BY-SA-4.0" in text_of(document).split("\n")[0]


@for_each_document
def test_fences_are_closed(document):
    assert len(re.findall(r"^```", text_of(document), re.MULTILINE)) % 2 == 0


@for_each_document
def test_relative_links(document):
    for link in re.findall(r'\]\(([^)\s]+)(?:\s"[^"]*")?\)', prose_of(document)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors_of(target), f"{link} leads to no heading"


@for_each_document
def test_excerpts(document):
    for info, excerpt in FENCE.findall(text_of(document)):
        language, *source = info.split() or [""]
        if language not in ("cpp", "c++", "cuda", "cu"):
            continue
        assert len(source) == 1, f"this block names no source:\n{excerpt}"
        if source == ["example"]:
            continue
        if source == [DRIVER] and not (document.parent / DRIVER).is_file():
            continue  # the driver is made of this block
        paths = [folder / source[0] for folder in (document.parent, ROOT)]
        path = next((path for path in paths if path.is_file()), None)
        assert path is not None, f"there is no file {source[0]}"
        assert pieces(excerpt), f"this excerpt of {source[0]} is empty"
        assert stands_in(excerpt, text_of(path)), f"not in {source[0]}:\n{excerpt}"


@for_each_document
def test_commands_of_lab(document):
    tests = json.loads((BUILD / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    names = [test["name"] for test in tests]
    suites = {suite.split(":")[-1] for test in tests for suite in test["suite"]}
    if not HAS_RACECHECK:  # This build has no racecheck; that of the README has.
        names += ["causes_test", "mutants_test"]
        suites |= {"racecheck", "mutants"}
    for command in commands_of(document):
        of_lab = re.split(r" [|>] ", command)[0]  # what the shell hands to lab
        words = shlex.split(of_lab, comments=False) if command.startswith("./lab") else []
        if not words or words == ["./lab"] or "[" in command:  # the name alone, or a synopsis
            continue
        verb, arguments = parsed(words[1:])
        target = getattr(arguments, "target", "")
        if verb in ("run", "racecheck") and target.endswith(".cu"):
            if "/" in target:
                assert (ROOT / target).is_file(), "there is no such file"
        elif verb in ("run", "racecheck", "bench"):
            chosen_chapters(target)
        elif verb == "predict":
            chosen_prediction(arguments.target)
        elif verb in ("learn", "check", "hint", "reset", "solution") and target:
            chosen_exercise(target)
        elif verb == "trace":
            (chapter,) = chosen_chapters(target)
            source = ROOT / "chapters" / chapter.folder / f"{chapter.program}.cu"
            for panel in (arguments.panels or "").split(","):
                assert (f'"{panel}"' if panel else "") in text_of(source), "no variant"
        elif verb == "test":
            for wanted in arguments.names:
                is_known = wanted == "all" or wanted in suites
                is_known = is_known or any(wanted in name for name in names)
                assert is_known, f"no test {wanted}"
            assert {*arguments.suite, *arguments.without} <= suites


@for_each_document
def test_options_of_meson(document):
    ours = re.findall(r"^  '(\w+)',", text_of(ROOT / "meson.options"), re.MULTILINE)
    for command in commands_of(document):
        words = command.split()
        if words[:1] == ["meson"] and len(words) > 1:
            assert words[1] in ("setup", "compile", "test", "configure", "install", "wrap"), command
        for option in re.findall(r"-D(\w+)=", command):
            assert option in {*ours, *MESON_OPTIONS}, command


@for_each_document
def test_paths(document):
    programs = {row.program for row in all_chapters()}
    for command in commands_of(document):
        for path in re.findall(r"(?<![\w/.-])((?:chapters|common|docs|tests)/[\w/.-]+)", command):
            assert (ROOT / path).exists(), f"there is no {path}"
        for path in re.findall(r"(?<![\w/.-])build[\w-]*/chapters/(\w+)", command):
            assert path.removesuffix("_test") in programs, f"no program {path} is built"


def test_paragraphs_of_predictions():
    """Each prediction sends a reader with a wrong answer to a paragraph that exists."""
    for prediction in all_predictions():
        for letter, variant in prediction.variants.items():
            file, _, heading = variant.paragraph.partition("#")
            assert ROOT / file in DOCUMENTS, f"{prediction.label}, {letter}"
            assert heading in anchors_of(ROOT / file)


def test_tests_that_lessons_name():
    """A link to a file of tests has the name of one of its test cases as its title, and few words of
    its own, since a whole name reads like a part of the sentence. None stands in italics."""
    names = {}
    for file in ROOT.glob("**/*_test.cu"):
        if file.is_relative_to(ROOT / "chapters") or file.is_relative_to(ROOT / "engine"):
            names[file] = re.findall(r'TEST_CASE\(\s*"([^"]+)"', text_of(file))
    all_names = {name for of_file in names.values() for name in of_file}
    found = 0
    for lesson in ROOT.glob("chapters/*/*.md"):
        prose = prose_of(lesson)
        links = re.findall(r'\[([^\]]+)\]\(([^)\s]+_test\.cu)(?:\s"([^"]*)")?\)', prose)
        for text, link, title in links:
            file = (lesson.parent / link).resolve()
            assert " ".join(title.split()) in names[file], link
            assert len(text.split()) <= 2, text
            found += 1
        for text in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", prose):
            name = " ".join(text.split())
            assert name not in all_names, f"{name}: a test without its link"
    assert found > 20


def test_coverage_table():
    """Each row of the CPU backend's coverage has tests, all of which exist."""

    def rows_of(document, after):
        lines = text_of(ROOT / document).partition(after)[2].splitlines()
        return [line for line in lines if line.startswith("| ")][2:]

    features = [row.split(" | ")[0] for row in rows_of("docs/cpu-backend.md", "## Coverage")]
    tests = rows_of("docs/internals/cpu-backend.md", "## The tests of the coverage")
    assert features
    assert [row.split(" | ")[0] for row in tests] == features
    for row in tests:
        shown_by = re.findall(r"`(\w+\.cu)`: `([^`]+)`", row)
        assert shown_by, f"this row names no test: {row}"
        for file, name in shown_by:
            test_case = re.compile(r'TEST_CASE\(\s*"' + re.escape(name) + '"')
            assert test_case.search(text_of(ROOT / "engine/cpu_backend/tests" / file))


def test_verdicts_of_the_memory_model():
    """Each verdict of docs/memory-model.md names, up to the next one, a test that exists."""
    prose = prose_of(ROOT / "docs/memory-model.md").partition("\n## ")[2]
    tests = "".join(map(text_of, ROOT.glob("engine/prove/**/*_test.py")))
    defined = re.findall(r"def (test_\w+)\(", tests)
    named = re.findall(r"`(test_\w+)`", prose)
    assert len(named) > 20
    for name in named:
        assert name in defined
    verdicts = re.split(r"\*\*(?:race|clean|may\s+be\s+stale)\*\*", prose, flags=re.IGNORECASE)
    for after in verdicts[1:]:
        same_sentence = re.fullmatch(r", and ", after)
        assert same_sentence or "`test_" in after, f"no test is named: {after[:60]}"


def test_readme_lists_the_chapters():
    table_row = re.compile(r"^\|.*\]\(chapters/([^)/]+)/?(?:README\.md)?\)", re.MULTILINE)
    linked = table_row.findall(text_of(ROOT / "README.md"))
    assert linked == [row.folder for row in all_chapters()]


# The checker itself: what it must not let through.

SOURCE = "int a;\n\n  int b;\nint c;\nint d;\n"


@pytest.mark.parametrize(
    "excerpt", ["int a;\nint b;\n", "  int b;\n\nint c;", "int a;\n// ...\nint d;"]
)
def test_accepts(excerpt):
    assert stands_in(excerpt, SOURCE), excerpt


@pytest.mark.parametrize(
    "excerpt", ["int e;", "int a;\nint c;", "int d;\n// ...\nint a;", "int a; // a"]
)
def test_refuses(excerpt):
    assert not stands_in(excerpt, SOURCE), excerpt


# docs/racecheck.md explains every diagnosis of a race, and no other one.

# Of memory, and no race.
NO_RACES = {"unwritten memory", "outside of the allocation"}


def test_the_table_of_the_page_has_the_names_of_the_checkers_table():
    page = (ROOT / "docs/racecheck.md").read_text(encoding="utf-8")
    rows = re.match(r"(?:\|.*\n)+", page[page.index("| diagnosis |") :])[0].splitlines()[2:]
    explained = [row.split("|")[1].strip().replace("`", "") for row in rows]
    names = {text for code, text in rows_of_words().items() if code.endswith(".name")}
    assert sorted(explained) == sorted(names - NO_RACES)


# docs/glossary.md: each term once, short, and linked from the lesson that introduces it.

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


def test_each_term_stands_once_and_in_order():
    terms = [term for term, _ in entries(text_of(GLOSSARY))]
    assert len(terms) > FEWEST_TERMS
    assert terms == sorted(set(terms), key=str.lower)


def test_each_entry_of_the_glossary_is_short():
    for term, entry in entries(text_of(GLOSSARY)):
        assert len(sentences(entry)) in range(1, MOST_SENTENCES + 1), term


def test_each_entry_of_the_glossary_names_a_lesson():
    folders = {chapter.number: chapter.folder for chapter in all_chapters()}
    for term, entry in entries(text_of(GLOSSARY)):
        named = LESSON.findall(entry)
        assert len(named) == 1, term
        assert folders.get(named[0][0]) == named[0][1]


def test_the_lesson_links_to_the_term_at_its_first_use():
    for term, entry in entries(text_of(GLOSSARY)):
        _, folder, page = LESSON.findall(entry)[0]
        lesson = text_of(ROOT / "chapters" / folder / page)
        assert missing_link(term, lesson) is None


def test_links_between_terms_lead_to_terms():
    terms = {anchor(term) for term, _ in entries(text_of(GLOSSARY))}
    for link in re.findall(r"\]\(#([^)]+)\)", prose_of(GLOSSARY)):
        assert link in terms


def test_entries_and_sentences():
    text = "# G\n\n## A\n\nOne of 9.0. Two: `f(x). y`.\n\nFrom lesson [01](../chapters/01_a/README.md).\n"
    ((term, entry),) = entries(text)
    assert (term, len(sentences(entry))) == ("A", 2)
    assert LESSON.findall(entry) == [("01", "01_a", "README.md")]


def test_first_use_of_a_term():
    link = "a [warp](../../docs/glossary.md#warp)"
    for text, problem in (
        (f"warp\n## Idea\n{link}, a warp", None),
        ("## Idea\na warp", "no link"),
        (f"\n## Idea\nwarps, and {link}", "before its link"),
        (f"\n## Idea\n`warp`, ![a warp](x.svg) and {link}", None),
    ):
        found = missing_link("warp", "# T\n\n" + text)
        assert bool(found) == bool(problem), found
        assert (problem or "") in (found or "")


# What a contributor's editor, Git and pre-commit do is what .ci/run asks for.


def git(*words):
    """The lines that a git command prints about this checkout."""
    result = captured(["git", "-C", ROOT, *words])
    if result.returncode:
        pytest.skip(f"this is no checkout: {result.stderr}")
    return result.stdout.splitlines()


def test_editors_and_formatters_agree_on_the_length_of_a_line():
    (of_clang_format,) = re.findall(r"^ColumnLimit: (\d+)$", text_of(ROOT / ".clang-format"), re.M)
    (of_ruff,) = re.findall(r"^line-length = (\d+)", text_of(ROOT / "pyproject.toml"), re.M)
    of_editors = re.findall(
        r"^\[(.*)\]\n(?:.*=.*\n)*?max_line_length = (\d+)$", text_of(ROOT / ".editorconfig"), re.M
    )
    wanted = [("*.{cu,cuh,cpp,hpp,h}", of_clang_format), ("*.py", of_ruff)]
    assert of_editors == wanted


def test_pre_commit_formats_the_files_that_ci_looks_at():
    (of_hook,) = re.findall(
        r"^        files: '(.*)'$", text_of(ROOT / ".pre-commit-config.yaml"), re.M
    )
    (words,) = re.findall(r"^formatted\(\) \{ sources (.*) \|$", text_of(ROOT / ".ci/run"), re.M)
    of_ci = [word.strip("'") for word in words.split()]
    files = git("ls-files")
    wanted = [file for file in files if any(fnmatch.fnmatch(file, pattern) for pattern in of_ci)]
    assert len(wanted) > 100
    assert [file for file in files if re.search(of_hook, file)] == wanted


def test_every_text_has_the_line_ends_that_git_is_told():
    lines = git("ls-files", "--eol")
    assert len(lines) > 100
    kinds = {line.split()[0] for line in lines}
    assert kinds <= {"i/lf", "i/-text", "i/none"}
    (attribute,) = git("check-attr", "eol", "chapters/meson.build")
    assert attribute == "chapters/meson.build: eol: lf"


def test_cuda_sources_are_shown_as_cuda():
    for line in git("check-attr", "linguist-language", *git("ls-files", "*.cu", "*.cuh")):
        assert re.search(": linguist-language: Cuda$", line)


def test_the_index_names_every_page():
    folder = ROOT / "docs/internals"
    linked = re.findall(r"\]\((\w[\w-]*\.md)\)", text_of(ROOT / "docs/internals/README.md"))
    pages = {path.name for path in folder.glob("*.md")} - {"README.md"}
    assert sorted(linked) == sorted(pages)


def test_the_version_has_one_home():
    assert not re.search(r"(?m)^version:", text_of(ROOT / "CITATION.cff"))
    assert "version: files('" in text_of(ROOT / "meson.build")
