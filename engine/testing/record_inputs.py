# SPDX-License-Identifier: MIT
"""Records what a Python test reads of the tree, as a compiler's depfile does for a source.

A test can be left out if nothing that it has read was changed. Each Python
process of a test adds lines to the file that LAB_TEST_INPUTS names: a kind and a path, with a tab.

    file      it was opened, or imported, or its path was handed to another program
    folder    it was listed, so that a new file in it would be seen
    headers   a compiler looked for headers in it, and has told nobody which it found
    tree      the path of this folder was handed to another program, which may have read all in it
    names     git has listed the files in this folder and below, so that a new one would be seen
"""

import contextlib
import importlib.util
import os
import re
import shutil
import sys
import threading

NOT_SOURCES = (".git", ".venv")
# Who writes one of these tells which headers were read: a compiler, and the recipe of a single file.
LISTS_OF_INPUTS = (".d", "inputs.json")
# What these commands of git tell, of commits and of whether a file has changed, decides no test.
WITHOUT_CONTENT = ("check-attr", "log", "rev-parse", "status")
MADE_FOLDER = "--dir"  # bubblewrap's: in the sandbox it is made, and nothing of ours is in it
OPTIONS_OF_INCLUDE = re.compile(r"-(?:I|isystem=?)(.*)", re.S)


class Recorder:
    def __init__(self, record, root, build):
        self.record = record
        self.root = os.path.realpath(root)
        self.build = os.path.realpath(build)
        self.seen = set()
        self.own = (
            threading.local()
        )  # whether this thread is being heard: the recorder opens files, too

    def hear(self, event, arguments):
        """An audit hook of Python. Whatever goes wrong here must not become the test's failure."""
        if event not in ACTIONS or getattr(self.own, "is_heard", False):
            return
        self.own.is_heard = True
        with contextlib.suppress(Exception):
            ACTIONS[event](self, *arguments)
        self.own.is_heard = False

    def opened(self, path, mode, flags):
        if not isinstance(path, (str, bytes)) or flags & os.O_ACCMODE == os.O_WRONLY:
            return
        path = os.fsdecode(path)
        if path.endswith(".pyc"):
            path = importlib.util.source_from_cache(path)
        self.note("file", path)
        if path.endswith(LISTS_OF_INPUTS):
            self.note_listed(path)

    def listed(self, path):
        if sys._getframe(2).f_code.co_filename.startswith("<frozen importlib"):
            return  # it looks for a module, and the one that it takes it opens
        self.note("folder", os.fsdecode(path or os.curdir))

    def started(self, executable, words, folder=None, environment=None):
        words = [words] if isinstance(words, (str, bytes)) else words
        words = list(map(os.fsdecode, words))
        folder = os.fsdecode(folder or os.curdir)
        if os.path.basename(words[0]) == "git":
            self.asked_git(words, folder)
            return
        is_python = is_python_program(os.path.join(folder, shutil.which(words[0]) or words[0]))
        names_headers = any(word in ("-MD", "-MMD") for word in words)
        is_include = False
        for before, word in zip(["", *words], words):
            if before == MADE_FOLDER and os.path.basename(words[0]) == "bwrap":
                continue
            option = OPTIONS_OF_INCLUDE.fullmatch(word)
            if option and not option[1]:  # the folder is the next word
                is_include = True
                continue
            path = os.path.join(folder, option[1] if option else word)
            if os.path.isfile(path):
                self.note("file", path)
            elif is_python or not word or not os.path.isdir(path):
                pass  # a Python process records for itself
            elif option or is_include:
                if not names_headers:
                    self.note("headers", path)
            else:
                self.note("tree", path)
            is_include = False

    def asked_git(self, words, folder):
        if "-C" in words:
            folder = os.path.join(folder, words[words.index("-C") + 1])
        if not any(command in words for command in WITHOUT_CONTENT):
            are_names = "ls-files" in words and "--eol" not in words
            self.note("names" if are_names else "tree", folder)

    def note_listed(self, path):
        with open(path, encoding="utf-8", errors="replace") as file:
            names = re.findall(r'[^\s"\\:,]+', file.read())
        for name in names:
            if name.startswith(self.root) or not name.startswith("/"):
                self.note("file", name)

    def note(self, kind, path):
        if (kind, path) in self.seen:
            return
        self.seen.add((kind, path))
        path = os.path.realpath(path)
        relative = os.path.relpath(path, self.root)
        is_outside = relative.startswith("..") or path == self.build
        if is_outside or path.startswith(self.build + "/") or relative.split("/")[0] in NOT_SOURCES:
            return
        if kind == "file" and not os.path.isfile(path):
            return
        with open(self.record, "a", encoding="utf-8") as file:
            file.write(f"{kind}\t{relative}\n")


ACTIONS = {
    "open": Recorder.opened,
    "os.exec": Recorder.started,
    "os.listdir": Recorder.listed,
    "os.posix_spawn": Recorder.started,
    "os.scandir": Recorder.listed,
    "subprocess.Popen": Recorder.started,
}


def is_python_program(path):
    if os.path.basename(path).startswith("python"):
        return True
    with open(path, "rb") as file:
        first = file.readline(100)
    return first.startswith(b"#!") and b"python" in first


def start(record, root, build):
    """Records from now on, until this process ends."""
    recorder = Recorder(record, root, build)
    sys.addaudithook(recorder.hear)
