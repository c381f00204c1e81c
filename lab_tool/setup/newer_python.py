# SPDX-License-Identifier: MIT
"""Hands over to a newer Python that comes later on PATH. Old ones read this: it is written for them."""

import os
import shutil
import subprocess
import sys

OLD = "LAB_OLD_PYTHON"  # the variable that names the one that came first


def hand_over():
    """Starts the command anew, with a Python that is new enough, or ends it with a sentence."""
    os.environ[OLD] = shutil.which("python3") or ""
    for folder in os.get_exec_path():
        python = shutil.which("python3", path=folder)
        test = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 9))"]
        if python and subprocess.call(test, stderr=subprocess.DEVNULL) == 0:
            os.execv(python, [python, *sys.argv])
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    sys.exit(f"lab: this is Python {version}, and 3.9 or newer is needed.")
