# SPDX-License-Identifier: MIT
"""A table about the engine in docs/internals is what its program prints."""

import pytest

from engine.prove.tests.weak_outcomes_test import table_of_litmus_tests
from this_build import ROOT, is_by_clang


# What is reached depends on where the compiler leaves accesses to memory.
@pytest.mark.skipif(is_by_clang(), reason="the table is that of g++")
def test_the_table_of_weak_outcomes():
    text = (ROOT / "docs/internals/weak.md").read_text(encoding="utf-8")
    assert "\n".join(table_of_litmus_tests()) in text
