# SPDX-License-Identifier: MIT
"""Runs of programs under the race checker that several tests make."""

import json
import os
import subprocess
import tempfile


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
        result = subprocess.run(
            [program, case],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        with open(path, encoding="utf-8") as file:
            return result.returncode, result.stdout, json.load(file)
