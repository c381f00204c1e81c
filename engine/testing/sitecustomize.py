# SPDX-License-Identifier: MIT
"""Python imports this in each process that it starts from a test, since this folder is on PYTHONPATH."""

import os

if os.environ.get("LAB_TEST_INPUTS"):
    import record_inputs

    record_inputs.start(
        os.environ["LAB_TEST_INPUTS"],
        os.environ["LAB_SOURCE_ROOT"],
        os.environ["LAB_BUILD_FOLDER"],
    )
