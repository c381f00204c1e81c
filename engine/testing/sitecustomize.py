# SPDX-License-Identifier: MIT
"""Python imports this in each process that it starts from a test, since this folder is on PYTHONPATH."""

import os

# A test may start a process without some of these.
known = [
    os.environ.get(name) for name in ("LAB_TEST_INPUTS", "LAB_SOURCE_ROOT", "LAB_BUILD_FOLDER")
]
if all(known):
    import record_inputs

    record_inputs.start(*known)
