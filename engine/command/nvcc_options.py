# SPDX-License-Identifier: MIT
"""The command line of nvcc: what each word of it means to bin/nvcc."""

import pathlib
import re
import shlex

from engine.command.errors import CommandError

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c++", ".c")
LINKED = re.compile(r".*\.(?:o|obj|a|so(?:\.\d+)*)\Z")
# Long names, and by which short name they go here.
LONG = {
    "compile": "c", "device-c": "dc", "device-w": "c", "dw": "c", "device-link": "dlink",
    "preprocess": "E", "output-file": "o", "include-path": "I", "define-macro": "D",
    "undefine-macro": "U", "system-include": "isystem", "pre-include": "include", "library": "l",
    "library-path": "L", "optimize": "O", "debug": "g", "device-debug": "G",
    "compiler-options": "Xcompiler", "linker-options": "Xlinker",
    "relocatable-device-code": "rdc", "compiler-bindir": "ccbin", "disable-warnings": "w",
    "options-file": "optf", "generate-dependencies": "M", "generate-nonsystem-dependencies": "MM",
    "generate-dependencies-with-compile": "MD", "generate-nonsystem-dependencies-with-compile": "MMD",
    "dependency-output": "MF", "dependency-target-name": "MT", "generate-dependency-targets": "MP",
    "verbose": "v", "dry-run": "dryrun", "version": "V",
    "help": "h", "forward-unknown-to-host-compiler": "forward", "output-directory": "odir",
}  # fmt: skip
WITH_VALUE = set(
    """
    o I D U isystem include l L std O Xcompiler Xlinker x rdc ccbin optf MF MT MQ odir default-stream
    """.split()
)
FLAGS = set(
    """
    c dc dlink E link g w shared M MM MD MMD MP v dryrun run V h forward cubin ptx fatbin lib toolkit
    """.split()
)
JOINED = tuple("DUILlOxot")  # their value may follow without anything between
# They choose a GPU, or how its code is made, and there is none. First those with a value.
IGNORED_WITH_VALUE = set(
    """
    arch gpu-architecture gencode generate-code code gpu-code maxrregcount Xptxas ptxas-options Xcudafe
    cudafe-options Xnvlink nvlink-options Xfatbin Xarchive cudart cudadevrt t threads split-compile
    diag-suppress diag-warn diag-error Werror keep-dir ftz fmad prec-div prec-sqrt m machine Ofast-compile
    """.split()
)
IGNORED = set(
    """
    G lineinfo generate-line-info use_fast_math extended-lambda res-usage resource-usage restrict keep
    save-temps k m64 Wno-deprecated-gpu-targets Wno-deprecated-declarations Wreorder
    Wdefault-stream-launch Wmissing-launch-bounds Wext-lambda-captures-this source-in-ptx dlto ewp
    extensible-whole-program no-compress display-error-number no-display-error-number
    no-device-link allow-unsupported-compiler no-align-double
    """.split()
)
HOST = re.compile(r"-(?:fPI[CE]|fpi[ce]|pthread)\Z")  # words of g++'s that people give to nvcc


class Options:
    """What a command line of nvcc says. Raises CommandError for what is unknown."""

    def __init__(self, words):
        self.given, self.flags = [], set()  # (name, value) of those with a value, in their order
        self.inputs = []  # (file, its language or "")
        self.host = []  # words for the compiler of the host, which the command line has for it
        self.linker = []  # files and options of the linker, in their order
        self.other_files = []
        self._unknown = []
        self._read(_with_files([*words]))
        if self._unknown and "forward" not in self.flags:
            raise CommandError(
                f"{self._unknown[0]}: nvcc has no such option; -Xcompiler hands one to the compiler of the "
                "host."
            )
        self.host += self._unknown

    def _read(self, words):
        language = ""
        while words:
            word = words.pop(0)
            if not word.startswith("-") or word == "-":
                self._take_file(word, language)
                continue
            name, value = _split(word)
            if name in WITH_VALUE or (name in IGNORED_WITH_VALUE and name not in IGNORED):
                if value is None:
                    if not words:
                        raise CommandError(f"{word}: a value is missing after it.")
                    value = words.pop(0)
                if name == "x":
                    language = value
                elif name not in IGNORED_WITH_VALUE:
                    self._take(name, value)
            elif name in FLAGS:
                self.flags.add(name)
            elif HOST.match(word):
                self.host.append(word)
            elif name not in IGNORED and not name.startswith("expt-"):
                self._unknown.append(word)
        stream = self.last("default-stream", "legacy")
        if stream not in ("legacy", "null"):
            raise CommandError(
                f"--default-stream {stream}: every thread has the legacy stream here."
            )
        made = next(
            (name for name in ("ptx", "cubin", "fatbin", "lib") if name in self.flags), None
        )
        if made:
            raise CommandError(f"-{made}: there is no code for a GPU here; -c makes an object.")

    def _take(self, name, value):
        if name == "Xcompiler":
            self.host += _parts(value)
        elif name == "Xlinker":
            self.linker += [word for each in _parts(value) for word in ("-Xlinker", each)]
        elif name in ("l", "L"):
            self.linker += [f"-{name}{each}" for each in value.split(",")]
        elif name in ("I", "isystem", "include", "D", "U"):
            self.given += [
                (name, each) for each in (value.split(",") if name in "I isystem" else [value])
            ]
        else:
            self.given.append((name, value))

    def _take_file(self, path, language):
        if language in ("", "none") and LINKED.match(path):
            self.linker.append(path)
        elif language in ("cu", "c++", "c") or path.endswith(SOURCES) or "run" in self.flags:
            self.inputs.append((path, language))
            self.linker.append(path)  # its object will stand here
        else:
            self.other_files.append(path)

    def has(self, *names):
        return any(name in self.flags for name in names)

    def last(self, name, otherwise=None):
        return next((value for each, value in reversed(self.given) if each == name), otherwise)

    def of_preprocessor(self):
        spelled = {"I": "-I{}", "D": "-D{}", "U": "-U{}"}
        words = []
        for name, value in self.given:
            if name in spelled:
                words.append(spelled[name].format(value))
            elif name in ("isystem", "include"):
                words += [f"-{name}", value]
        return words


def _parts(text):
    """What stands between commas, of which one after a backslash is none."""
    return [part.replace("\\,", ",") for part in re.split(r"(?<!\\),", text)]


def _with_files(words):
    """The words, and those of a file for each that names one."""
    found = []
    while words:
        word = words.pop(0)
        name, value = _split(word) if word.startswith("-") else ("", None)
        if name == "optf" or (word.startswith("@") and len(word) > 1):
            path = word[1:] if word[0] == "@" else value or (words.pop(0) if words else "")
            try:
                text = pathlib.Path(path).read_text(encoding="utf-8")
            except OSError as error:
                raise CommandError(f"{path}: {error.strerror}.") from error
            words[:0] = shlex.split(text)
        else:
            found.append(word)
    return found


def _split(word):
    """The short name of an option, and what the word has as its value; None if nothing."""
    text, equals, value = word.lstrip("-").partition("=")
    name = LONG.get(text, text) if word.startswith("--") or len(text) > 1 else text
    known = WITH_VALUE | FLAGS | IGNORED_WITH_VALUE | IGNORED
    if name in known or not re.match(r"-[A-Za-z]", word):
        return name, value if equals else None
    if word[1] in JOINED and len(word) > 2 and not word.startswith("--"):
        return word[1], word[2:]
    return name, value if equals else None


def without_gpu_options(words):
    """The words of a command of cudacheck's, less nvcc's options that choose a GPU, a level or a standard."""
    words, found = [*words], []
    while words:
        word = words.pop(0)
        if word == "--":
            return [*found, word, *words]
        name, value = _split(word) if word.startswith("-") else ("", None)
        if name in IGNORED or name == "g" or name.startswith("expt-"):
            continue
        takes_next = value is None and len(words) > 0
        if name in IGNORED_WITH_VALUE or name in ("O", "std"):
            words = words[takes_next:]
        elif name == "I":
            found += ["--include", words.pop(0) if takes_next else value]
        else:
            found.append(word)
            if word == "--compiler-option" and words:
                found.append(words.pop(0))
    return found
