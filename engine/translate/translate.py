#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a CUDA C++ file into preprocessed C++ that an ordinary compiler understands.

    translate.py --compiler g++ --output out.cpp [--depfile out.d] input.cu -- [compiler arguments]

The file is preprocessed first, so that launches inside headers and macros are seen as well. Then
three things that are not C++ are rewritten, and nothing else:

- a launch, `kernel<<<configuration>>>(arguments)`;
- `extern __shared__ T name[];`, the block's dynamic shared memory;
- `__shared__` on any other variable. cuda_runtime.h defines it as the marker below.

For the scheduled form, a call of atomicExch() whose value is discarded is marked as well. For the
concurrent form, a loop that waits for volatile memory is marked, and a kernel whose threads can't
wait runs whole rows of them.

No line is lost, and line markers stay where they are: what the compiler and the
debugger say about the output is about the lines of the file that the student wrote. A launch or a
declaration that is not understood is an error with that file and line, and leaves no output.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys

from architecture import mentions_architecture, merged
from device_code import DeviceCode
from features import check_names, missing_header, refused_header
from host_functions import HostFunctions
from launch_promises import (
    check_launch_bounds,
    note_long_double,
    note_packed_structures,
    note_read_only_parameters,
    note_two_arrays,
    take_launch_bounds,
)
from launches import Launches
from polling import Polling
from refusals import NotUnderstood, Refusal, TranslationFailed
from rows_of_threads import RowsOfThreads
from runtime_calls import SUFFIX, DiscardedValues, rename_variables, rewrite_calls
from shared_memory import SharedMemory
from source_text import EXCHANGE, LAUNCH, SHARED, SourceText, in_rule, of_native

# The CPU backend, whose own headers are CUDA's here.
OWN_FOLDER = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))

MOST_FAILURES = 100  # that are told: after so many nothing is translated any more

# What nvcc calls the list of architectures that it compiles for; here it has one.
ARCHITECTURES = "-D__CUDA_ARCH_LIST__="


def translate(
    text: str, input_name: str, is_scheduled: bool = False, has_own_device_code: bool = False
) -> str:
    """Rewrites a preprocessed translation unit and returns it.

    text holds one character for each byte (Latin-1). input_name is the file named in messages where
    the text has no line marker. is_scheduled is for the backend's scheduled form, which racecheck
    uses. has_own_device_code is for one of several files whose device code does not know the
    others'. Raises TranslationFailed.
    """
    unit = SourceText(text, input_name)
    bounds = take_launch_bounds(unit)
    device_code = DeviceCode(unit)
    device_code.check()
    HostFunctions(unit, device_code, OWN_FOLDER).check()
    device_code.erase_markers()
    if has_own_device_code:
        device_code.make_static()
    failures = device_code.failures
    check_names(unit, device_code, OWN_FOLDER, failures)
    if not is_scheduled:
        Polling(unit, device_code).mark_loops()
        RowsOfThreads(unit, device_code).rewrite_kernels()
    rewrite_calls(unit, device_code, is_scheduled)
    renamed = set() if has_own_device_code else rename_variables(unit)  # another file may name it
    device_code.announce_variables({name: name + SUFFIX for name in renamed}, is_scheduled)
    if is_scheduled:
        check_launch_bounds(unit, device_code, bounds)
        note_long_double(unit, device_code)
        note_packed_structures(unit)
        note_read_only_parameters(unit, device_code)
    shared_memory = SharedMemory(unit, is_scheduled)
    rewritten = [
        (Launches(unit, device_code).launch, LAUNCH),
        (shared_memory.shared_variable, SHARED),
    ]
    if is_scheduled:
        rewritten.append((DiscardedValues(unit).call, EXCHANGE))
    for understand, pattern in rewritten:
        for match in pattern.finditer(unit.masked):
            if len(failures) >= MOST_FAILURES:
                break
            try:
                understand(match)
            except NotUnderstood as failure:
                failures.append(failure)
    if is_scheduled:
        note_two_arrays(unit, device_code, shared_memory.extern_arrays)
    if failures:
        failures = sorted(failures, key=lambda failure: failure.position)[:MOST_FAILURES]
        raise TranslationFailed([unit.refusal(failure) for failure in failures])
    return unit.edited()


def preprocess(
    compiler: list[str],
    source: str,
    arguments: list[str],
    depfile: str | None,
    target: str,
) -> str | None:
    """Returns the preprocessed source, or None where the compiler has reported an error.

    The compiler's messages go to standard error. It writes the headers that it read into depfile,
    as prerequisites of target. Raises TranslationFailed for a header that is not meant for it.
    """
    dependencies = ["-MD", "-MF", depfile, "-MQ", target] if depfile else []
    is_c = source.endswith(".c")
    command = [*compiler, *arguments, *dependencies, "-E", "-x", "c" if is_c else "c++", source]
    # The messages are read, hence in English.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    result = subprocess.run(command, capture_output=True, env=environment, check=False)
    text = result.stdout.decode("latin-1")
    refused = refused_header(text, OWN_FOLDER, is_c)
    if refused:
        unit = SourceText(text, of_native(source))
        raise TranslationFailed([unit.refusal(refused)])
    missing = missing_header(result.stderr)
    if missing:
        raise TranslationFailed([missing])
    sys.stderr.buffer.write(result.stderr)
    sys.stderr.flush()
    return text if result.returncode == 0 else None


def preprocess_for_device(
    compiler: list[str], source: str, arguments: list[str], depfile: str | None, target: str
) -> str | None:
    """The same with __CUDA_ARCH__. The headers that only kernels see are added to depfile."""
    listed = [word for word in arguments if word.startswith(ARCHITECTURES)]
    macro = "-D__CUDA_ARCH__=" + (listed[-1][len(ARCHITECTURES) :] if listed else "1000")
    second = depfile + ".device" if depfile else None
    try:
        text = preprocess(compiler, source, [*arguments, macro], second, target)
        if text is not None and second:
            with open(second, "rb") as file:
                prerequisites = re.split(rb":\s", file.read(), maxsplit=1)[1].strip()
            with open(depfile, "rb+") as file:
                rule = file.read().rstrip()
                file.seek(0)
                file.write(rule + b" \\\n " + prerequisites.lstrip(b"\\\n ") + b"\n")
        return text
    finally:
        if second and os.path.exists(second):
            os.remove(second)


def add_own_files(depfile: str) -> None:
    """Names the modules of this program in depfile: a change in one of them changes the output."""
    folder = os.path.dirname(os.path.abspath(__file__))
    own = sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    with open(depfile, "rb+") as file:
        rule = file.read().rstrip()
        for name in own:
            rule += b" \\\n  " + in_rule(os.path.join(folder, name))
        file.seek(0)
        file.write(rule + b"\n")


def write_records(path: str, refusals: list[Refusal]) -> None:
    """Adds the refusals to a file of diagnostics, which may be none that can be written."""
    try:
        with open(path, "ab", buffering=0) as file:
            for refusal in refusals:
                file.write(refusal.record)
    except OSError as failure:
        sys.stderr.write(f"translate.py: {path} can't be written: {failure.strerror}\n")


def translate_file(
    compiler: list[str],
    source: str,
    arguments: list[str],
    output: str,
    depfile: str | None,
    is_scheduled: bool,
    has_own_device_code: bool,
    is_of_host: bool,
    diagnostics: str | None,
    kept: str | None = None,
) -> int:
    """Writes output and depfile, both or neither. Returns the exit status.

    With is_of_host nothing is rewritten, and nothing but headers is refused. What is refused goes to
    standard error, and as records into the file `diagnostics`. All that is translated is written into
    the file `kept` before, as the preprocessor has made it.
    """
    suffix = f".{os.getpid()}.temporary"
    new_depfile = depfile + suffix if depfile else None
    new_output = output + suffix
    try:
        text = preprocess(compiler, source, arguments, new_depfile, output)
        if text is None:
            return 1
        both = [text]
        if not is_of_host:
            name = of_native(source)
            if mentions_architecture(text):
                for_device = preprocess_for_device(compiler, source, arguments, new_depfile, output)
                if for_device is None:
                    return 1
                both.append(for_device)
                text = merged(text, for_device, name)
        if kept:
            with open(kept, "wb") as file:
                file.write("".join(both).encode("latin-1"))
        if not is_of_host:
            text = translate(text, name, is_scheduled, has_own_device_code)
        with open(new_output, "wb") as file:
            file.write(text.encode("latin-1"))
        if new_depfile:
            add_own_files(new_depfile)
            os.replace(new_depfile, depfile)
        os.replace(new_output, output)
        return 0
    except TranslationFailed as failure:
        for message in failure.messages:
            sys.stderr.buffer.write(message.encode("latin-1") + b"\n")
        sys.stderr.flush()
        if diagnostics:
            write_records(diagnostics, failure.refusals)
        return 1
    except OSError as failure:
        name = str(failure.filename).removesuffix(suffix)
        sys.stderr.write(f"translate.py: error: {name}: {failure.strerror}\n")
        return 1
    finally:
        for leftover in (new_output, new_depfile):
            if leftover and os.path.exists(leftover):
                os.remove(leftover)


def main() -> int:
    own, separator, compiler_arguments = sys.argv[1:], "--", []
    if separator in own:
        place = own.index(separator)
        own, compiler_arguments = own[:place], own[place + 1 :]

    parser = argparse.ArgumentParser(
        description="Turns a CUDA C++ file into preprocessed C++, ready for -x c++-cpp-output.",
        usage="%(prog)s --compiler COMMAND --output FILE [--depfile FILE] [--scheduled] "
        "[--own-device-code] [--host] [--diagnostics FILE] [--keep-preprocessed FILE] "
        "SOURCE -- [ARGUMENT ...]",
    )
    parser.add_argument(
        "--compiler",
        required=True,
        type=shlex.split,
        help="g++ or clang++, with options if need be",
    )
    parser.add_argument("--output", required=True, help="the file to write")
    parser.add_argument("--depfile", help="the Makefile rule to write, with the headers read")
    parser.add_argument(
        "--scheduled", action="store_true", help="for the backend's scheduled form (racecheck)"
    )
    parser.add_argument(
        "--own-device-code",
        action="store_true",
        help="let other files of the program have __device__ names of their own",
    )
    parser.add_argument(
        "--host",
        action="store_true",
        help="for a file without kernels, C++ or C: it is preprocessed, and not rewritten",
    )
    parser.add_argument("source", metavar="SOURCE", help="the CUDA C++ file")
    parser.add_argument(
        "--diagnostics",
        help="the file to which refusals are added as records, a JSON object a line",
    )
    parser.add_argument(
        "--keep-preprocessed",
        metavar="FILE",
        help="where to write what is translated, as the preprocessor has made it",
    )
    options = parser.parse_args(own)
    return translate_file(
        options.compiler,
        options.source,
        compiler_arguments,
        options.output,
        options.depfile,
        options.scheduled,
        options.own_device_code,
        options.host,
        options.diagnostics,
        options.keep_preprocessed,
    )


if __name__ == "__main__":
    sys.exit(main())
