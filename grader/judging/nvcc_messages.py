# SPDX-License-Identifier: MIT
"""nvcc's messages in the form in which g++ has its own."""

import re

from engine.command.compiler_messages import MESSAGE as OF_GCC

MESSAGE = re.compile(
    r"(?P<file>\S.*?)\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning|note)"
    r"(?: #\d+(?:-D)?)?: (?P<text>.*)"
)
ADVICE = re.compile(r" The experimental flag '--expt-relaxed-constexpr' .*")
INLINE_NAMESPACE = "::__4"  # of libcu++, which nobody writes
MARK = re.compile(r"\s+\^\s*$")  # below a line of source, in which `__global__` is an attribute
INSTANTIATION = re.compile(r"\s.* at line (?P<line>\d+)(?: of (?P<file>\S.*))?$")
LAST_WORDS = re.compile(r"\d+ errors? detected in the compilation|Error limit reached|Remark: ")
OF_ASSEMBLER = re.compile(r"ptxas error +: (?P<text>.*)")
MANGLED = re.compile(r"\b_Z\w+")
HEXADECIMAL = re.compile(r"\b0x[0-9a-f]{1,16}\b")
LENGTH = re.compile(r"\d{1,6}")
KERNEL = re.compile(r"from a __global__ function\(\"(\w+)\"\)|Entry function '(\w+)'")


def as_gcc_puts_it(lines, source, code):
    """The lines; of an error in a header there is the line of the kernel, too, if it names one.

    `code` has the lines of the student's file, whose path is `source`.
    """

    def message_lines(file, number, kind, text):
        line = f"{file}:{number}: {kind}: {ADVICE.sub('', text).replace(INLINE_NAMESPACE, '')}"
        if file in (str(source), source.name):  # in a sandbox it is the name alone
            return [line, *numbered_line(code, number)]
        kernel = _line_of_kernel(text, code)
        return [line, f"in the kernel, from {source}:{kernel}:"] if kernel else [line]

    found, file = [], None  # of the message that the next lines belong to
    for line, after in zip(lines, [*lines[1:], ""]):
        message, assembler = MESSAGE.match(line), OF_ASSEMBLER.match(line)
        if message:
            file = message["file"]
            found += message_lines(file, int(message["line"]), message["kind"], message["text"])
        elif assembler:
            kernel = _line_of_kernel(assembler["text"], code)
            text = MANGLED.sub(lambda name: _name_in(name[0]), assembler["text"])
            text = HEXADECIMAL.sub(lambda number: f"{int(number[0], 16):,}", text)
            found += message_lines(str(source), kernel, "error", text) if kernel else [line]
        elif file is None or OF_GCC.match(line):
            file = None
            found.append(line)
        elif place := INSTANTIATION.match(line):
            found.append(f"{place['file'] or file}:{place['line']}: instantiated here")
        elif not (MARK.match(line) or MARK.match(after) or LAST_WORDS.match(line) or not line):
            found.append(f"  {line.strip().replace(INLINE_NAMESPACE, '')}")
    return found


def numbered_line(code, number):
    return [f"{number:5} | {each}" for each in code[number - 1 : number]]


def _line_of_kernel(text, code):
    """The number of the line in which the kernel that the text names is defined; None for none."""
    named = KERNEL.search(text)
    if not named:
        return None
    name = named[1] or _name_in(named[2])
    text = "\n".join(code)
    definition = declaration_of(name, "__global__", "[;{}]", text)
    return text.count("\n", 0, definition.end()) + 1 if definition else None


def declaration_of(name, begin, ends, text):
    """The match of `name(` where one of the pattern `begin` comes before it and none of `ends` between the
    two; None for none. One pass: from each beginning on to the name would be as many."""
    each_of = rf"(?P<begin>{begin})|(?P<end>{ends})|\b{re.escape(name)}\s*\("
    has_begun = False
    for match in re.finditer(each_of, text):
        if match["begin"] or match["end"]:
            has_begun = bool(match["begin"])
        elif has_begun:
            return match
    return None


def _name_in(mangled):
    """'kernel' of '_ZN4mine6kernelIiEEvPT_'."""
    name, at = mangled, len(mangled) - len(mangled.removeprefix("_Z").lstrip("NL"))
    while length := LENGTH.match(mangled, at):
        at = length.end() + int(length[0])
        name = mangled[length.end() : at]
    return name
