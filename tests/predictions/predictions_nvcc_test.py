# SPDX-License-Identifier: MIT
"""nvcc compiles every prediction, without a warning of its own or of the host's compiler."""

import pathlib
import shutil
import tempfile

import pytest

from lab_tool.builds.backends import put_nvcc_on_path
from lab_tool.predictions import all_predictions
from test_setup import captured
from this_build import ROOT

put_nvcc_on_path()

WARNINGS = ["-Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror"]
PREDICTIONS = all_predictions()


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not here")
@pytest.mark.parametrize("prediction", PREDICTIONS, ids=[each.label for each in PREDICTIONS])
def test_it_compiles(prediction):
    with tempfile.TemporaryDirectory() as folder:
        command = ["nvcc", "-std=c++20", "-arch=sm_90", *WARNINGS]
        command += [*(f"-I{ROOT / part}" for part in ("common", "chapters", "engine"))]
        command += ["-c", prediction.source, "-o", pathlib.Path(folder, "x.o")]
        result = captured(command, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
