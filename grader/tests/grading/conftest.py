# SPDX-License-Identifier: MIT
"""Fixtures of the tests of grading."""

import pathlib
import tempfile

import pytest
from grading_runs import Graded, Handed


@pytest.fixture
def tmp_path():
    """Unlike pytest's it lies in a folder that is open: programs in a sandbox may be another user's."""
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder)


@pytest.fixture
def handed(tmp_path):
    return Handed(tmp_path)


@pytest.fixture
def graded(tmp_path):
    return Graded(tmp_path)
