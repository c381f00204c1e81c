# SPDX-License-Identifier: MIT
"""How many executions ./lab prove finds of programs whose executions GenMC's own tests count.

GenMC (https://github.com/MPI-SWS/genmc, tests/correct/data-structures; the counts are those under RC11,
without symmetry) does not count an execution in which a look or a compare-and-swap comes too late, so that
its loop begins again and nothing has changed. Such executions are counted here where they differ.
"""

import os

import pytest

from engine.prove.decided_runs import decided_runs
from engine.prove.executions import Execution
from engine.prove.proving import Exploration
from this_build import is_by_clang

SECONDS_OF_RUN = 60
# Each with GenMC's count, and how many more begin a loop again.
COUNTS = {
    "ticket lock": (2, 0),
    "test-and-test-and-set lock": (4, 0),
    "barrier": (2, 0),
    "bounded queue": (3, 3),
    "Treiber stack": (18, 4),
    "Michael-Scott queue": (50, 128),
}


def explored(name):
    """An Exploration of the program, and {execution: its output}."""
    outputs = {}
    with decided_runs(os.environ["COUNTED_PROGRAMS"], [name], SECONDS_OF_RUN) as runs:

        def run(decisions, orders_fences):
            done, trace = runs.run(decisions, orders_fences)
            if trace.refused is None:
                outputs[frozenset(Execution(trace).parts())] = done.output
            return done, trace

        exploration = Exploration()
        exploration.run_all(run, 10_000)
    return exploration, {each: outputs[each] for each in exploration.graphs()}


@pytest.mark.skipif(
    is_by_clang(), reason="unoptimized code: temporaries of a waiting loop count as variables"
)
@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    counts = COUNTS[name]
    exploration, outputs = explored(name)
    assert exploration.failed is None
    assert exploration.unfinished == ""
    begun_again = sum(not text.endswith(" 0\n") for text in outputs.values())
    assert (len(outputs) - begun_again, begun_again) == counts
