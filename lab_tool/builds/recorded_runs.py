# SPDX-License-Identifier: MIT
"""Recorded runs of `./lab bench --json`: what they say about the machine, and their file."""

import contextlib
import datetime
import json
import os
import pathlib
import platform
import re

from engine.command.processes import output_of
from lab_tool.builds.backends import nvcc_version, visible_gpus
from lab_tool.paths import ROOT
from lab_tool.setup.probe import cxx_command
from lab_tool.setup.requirements import dotted, operating_system

# The programs and the scripts that read a recorded run have its format from here, too.
SCHEMA = ROOT / "common/benchmark/recorded_run.schema.json"
BEGINNING = rb'\{\n  "format": \d+,\n'  # of the file of a recorded run


def processor():
    with contextlib.suppress(OSError):
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
        model = re.search(r"^model name\s*: (.*)$", text, re.M)
        if model:
            return model[1].strip()
    return platform.processor() or platform.machine()


def run_format():
    """The number of today's format."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema["properties"]["format"]["const"]


def circumstances(backend):
    """What a recorded run says about where and from what it was made."""
    git = ["git", "-C", str(ROOT)]
    commit = (output_of([*git, "rev-parse", "HEAD"]) or "").strip()
    changes = output_of([*git, "status", "--porcelain", "--untracked-files=no"])
    compiler = (output_of([*cxx_command(), "--version"]) or "").split("\n")[0]
    nvcc = nvcc_version() if backend == "cuda" else None
    gpus = visible_gpus() if backend == "cuda" else []
    return {
        "format": run_format(),
        "backend": backend,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit or None,
        "tree_has_changes": bool(changes) if changes is not None else None,
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": operating_system()["PRETTY_NAME"],
        },
        "compiler": compiler,
        "toolkit": f"nvcc {dotted(nvcc)}" if nvcc else None,
        "driver": gpus[0].driver if gpus else None,
    }


def device_in_words(about):
    """What runs ran on, of circumstances(): "NVIDIA H200", or "CPU backend, 2 cores of AMD EPYC"."""
    if about["backend"] == "cuda":
        gpus = visible_gpus()
        return gpus[0].name if gpus else "a GPU"
    machine = about["machine"]
    return f"CPU backend, {machine['cores']} cores of {machine['processor']}"


def recorded(found, about):
    """The recorded run as text: one line for each row, so that a change shows as such.

    found is what the benchmark measured, about what circumstances() says, with the command.
    """
    run = {**about, **found}
    lists = {name: run.pop(name) for name in ("not_run", "rows")}
    text = json.dumps(run, indent=2)[:-2]
    for name, items in lists.items():
        lines = ",\n    ".join(json.dumps(item) for item in items)
        text += f',\n  "{name}": [' + (f"\n    {lines}\n  ]" if items else "]")
    return text + "\n}\n"


def is_recorded_run(file):
    """Whether the file is a recorded run of today's format."""
    try:
        return json.loads(file.read_text(encoding="utf-8")).get("format") == run_format()
    except (OSError, ValueError, AttributeError):
        return False
