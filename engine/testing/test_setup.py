# SPDX-License-Identifier: MIT
"""What many tests set up: runs of programs whose output is kept, and lines of a source."""

import json
import os
import subprocess
import tempfile


def captured(command, **options):
    """How a program ended, and what it printed; `options` are those of subprocess.run."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def printed(command, **options):
    """As captured(), but all that it printed is in `stdout`."""
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, text=True, check=False, **outputs, **options)


def marked_lines(*sources):
    """{mark: its line's number} of the lines of sources that end in `// mark: MARK`, each once."""
    lines = {}
    for source in sources:
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            mark = line.partition("// mark: ")[2]
            if mark:
                assert mark not in lines, f"{source} has the mark {mark} twice"
                lines[mark] = number
    return lines


def checked_run(program, case, seed, **environment):
    """Exit code, what was printed, and the report of one case of a racecheck program."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        variables = {
            **os.environ,
            "LAB_RACECHECK_SEED": str(seed),
            "LAB_RACECHECK_REPORT": path,
            **environment,
        }
        variables.pop("LAB_TEST_LOG", None)
        result = printed([program, case], env=variables, timeout=300)
        with open(path, encoding="utf-8") as file:
            return result.returncode, result.stdout, json.load(file)
