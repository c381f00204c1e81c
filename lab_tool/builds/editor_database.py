# SPDX-License-Identifier: MIT
"""The compilation database for clangd, .lab/compile_commands.json, which names the real .cu files.

The one that Meson writes names what a .cu file was translated to, or nvcc's options, which Clang
doesn't know. `.clangd` in the root sends clangd to ours.
"""

import json

from engine.command.build_folder import lines_of, settings_of
from engine.command.errors import CommandError
from engine.command.output_files import write_whole
from engine.command.paths import shown
from lab_tool.paths import ROOT

DATABASE = ROOT / ".lab" / "compile_commands.json"
CUDA_FOLDERS = ("chapters", "common", "docs", "engine", "grader", "tests", "work")
CUDA_ENDINGS = ("cu", "cuh")


def write_database(place):
    """Writes the database for a configured BuildFolder of either backend; returns its path."""
    settings = settings_of(place.folder)
    entries = [*_cuda_entries(settings), *_cpp_entries(place.folder)]
    try:
        DATABASE.parent.mkdir(exist_ok=True)
        write_whole(DATABASE, json.dumps(entries, indent=1) + "\n")
    except OSError as problem:
        raise CommandError(f"{shown(DATABASE)} can't be written: {problem.strerror}.") from None
    return DATABASE


def cuda_files():
    """Every .cu and .cuh file of the course, and those of the user's in work/."""
    return sorted(
        path
        for folder in CUDA_FOLDERS
        for ending in CUDA_ENDINGS
        for path in (ROOT / folder).glob(f"**/*.{ending}")
    )


def _cuda_entries(settings):
    # clangd finds Clang's own headers by itself, and those of the system as Clang does.
    command = ["clang++", *lines_of(settings, "editor_arguments")]
    return [
        {
            "directory": str(ROOT),
            "file": str(path),
            "arguments": [*command, *_own_includes(path), "-c", str(path)],
        }
        for path in cuda_files()
    ]


def _own_includes(path):
    """The examples of docs/use include headers of the chapters, as a project does with its copies."""
    if path.parent != ROOT / "docs" / "use":
        return []
    return [f"-I{folder}" for folder in sorted((ROOT / "chapters").iterdir()) if folder.is_dir()]


def _cpp_entries(folder):
    """The C++ sources of the course, as Meson compiles them; not what is generated."""
    try:
        commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    found = []
    for entry in commands:
        path = (folder.resolve() / entry["directory"] / entry["file"]).resolve()
        if (
            path.suffix == ".cpp"
            and path.is_relative_to(ROOT)
            and not path.is_relative_to(folder.resolve())
        ):
            found.append({**entry, "file": str(path)})
    return found
