# SPDX-License-Identifier: MIT
"""A program in the sandbox finds the GPU, in each kind of sandbox that works here."""

import os

import pytest
from grading_runs import real_sandboxes

from engine.command.errors import NOTHING_COULD_RUN
from engine.command.processes import output_of
from grader.sandbox.sandbox import NONE, Sandbox
from grader.sandbox.sandboxed_run import Access

PROGRAM = os.environ["CHAPTER_PROGRAM"]


def ended(kind, gpu):
    """How a program of the course's own ends, which checks its results."""
    with Sandbox.folder() as folder:
        access = Access(folder, (PROGRAM,), gpu)
        return Sandbox(kind).run([PROGRAM, "--repeat", "1"], access)


@pytest.mark.skipif(output_of(["nvidia-smi"]) is None, reason="there is no GPU to run it on")
@pytest.mark.parametrize("kind", [*real_sandboxes(), NONE])
def test_a_program_finds_the_gpu(kind):
    run = ended(kind, gpu=True)
    assert run.code == 0, run


@pytest.mark.skipif(output_of(["nvidia-smi"]) is None, reason="there is no GPU to run it on")
@pytest.mark.parametrize("kind", real_sandboxes())
def test_it_does_not_unless_it_may(kind):
    run = ended(kind, gpu=False)
    assert run.code == NOTHING_COULD_RUN, run
