# SPDX-License-Identifier: MIT
"""Makes the folder that build systems take for a CUDA toolkit, next to the file DONE:

    make_toolkit.py ENGINE DONE COMPILER ordinary LIBRARY ... [-Wl,--wrap=NAME ...] checked LIBRARY ...

A library of the runtime has one object, and the linker takes it for the first symbol of its index that is
asked for. The index of the checked form names one symbol, which only objects made for the race checker ask
for; that of the ordinary one has all others. So -lcudart is the form that the objects are of, whoever links.
"""

import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys

ONLY = {"checked": "cudacheck_checked_runtime"}
# No library offers it in its index: the ordinary one has it, and so a mixture is an error that says this.
HIDDEN = "compiled_without_cudacheck"
# Both names, so that the order of -lcudart and -lcudart_static makes no difference.
LIBRARIES = ("libcudart.a", "libcudart_static.a", "libcudadevrt.a")
VERSION = '{"cuda": {"name": "CUDA SDK", "version": "13.0.88"}}\n'


def member(name, content):
    head = f"{name:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(content):<10}`\n".encode()
    return head + content + b"\n" * (len(content) % 2)


def archive(content, names):
    """A library of one object, whose index has these names."""
    text = b"".join(name.encode() + b"\0" for name in names)
    index_bytes = 4 + 4 * len(names) + len(text)
    start = 8 + 60 + index_bytes + index_bytes % 2
    index = struct.pack(f">{1 + len(names)}I", len(names), *[start] * len(names)) + text
    return b"!<arch>\n" + member("/", index) + member("runtime.o/", content)


def make_library(folder, compiler, form, words):
    """Writes it. The linker's --wrap has its effect here, for programs that any other command links."""
    libraries = [word for word in words if word.endswith(".a")]
    options = [word for word in words if word not in libraries]
    linked = folder / f"{form}.o"
    whole = ["-Wl,--whole-archive", *libraries, "-Wl,--no-whole-archive"]
    subprocess.run([*compiler, "-r", "-nostdlib", *options, *whole, "-o", linked], check=True)
    listing = ["nm", "--defined-only", "--extern-only", "--format=posix", linked]
    printed = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    defined = [line.split()[0] for line in printed.splitlines() if line]
    names = [ONLY[form]] if form in ONLY else [name for name in defined if name != HIDDEN]
    path = folder / f"libcudart_{form}.a"
    path.write_bytes(archive(linked.read_bytes(), names))
    linked.unlink()
    return path


def make_include(folder, engine):
    """The headers for C++ of the host."""
    backend = engine / "cpu_backend"
    (folder / "cpu_backend").mkdir(parents=True)
    own = engine / "toolkit/include"
    for place, sources in (
        ("cpu_backend", [backend, own / "cpu_backend"]),
        ("", [own, backend / "include"]),
    ):
        for source in (each for sources_of in sources for each in sources_of.iterdir()):
            if not os.path.lexists(folder / place / source.name):
                (folder / place / source.name).symlink_to(source)


def main(words):
    engine, done = map(pathlib.Path, words[:2])
    compiler, words = shlex.split(words[2]), words[3:]
    place = words.index("checked") if "checked" in words else len(words)
    root = done.resolve().with_suffix("")
    shutil.rmtree(root, ignore_errors=True)
    libraries = root / "lib64"
    libraries.mkdir(parents=True)
    make_include(root / "include", engine)
    (root / "bin").mkdir()
    (root / "bin/nvcc").symlink_to(engine / "bin/nvcc")
    (root / "version.json").write_text(VERSION, encoding="utf-8")
    forms = {"checked": words[place + 1 :], "ordinary": words[1:place]}
    made = [make_library(libraries, compiler, form, of) for form, of in forms.items() if of]
    script = f"GROUP({' '.join(map(str, made))} -lstdc++ -lm -lpthread -lgcc_s -lc)\n"
    for name in LIBRARIES:
        (libraries / name).write_text(script, encoding="utf-8")
    done.touch()


main(sys.argv[1:])
