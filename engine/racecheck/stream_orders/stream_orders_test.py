# SPDX-License-Identifier: MIT
"""The race checker reports of streams, events and the host just the pairs that the oracle expects, and the
oracle what CUDA's documentation says of single programs."""

import concurrent.futures
import contextlib
import itertools
import os
import re

import pytest
from oracle import NODES, ordered_pairs, parsed, races
from programs import all_graphs, random_program

from engine.command.processes import RunningPrograms
from engine.command.racecheck_runs import check_once, inherited
from engine.command.run_server import RunServer
from this_build import ROOT

PROGRAM = os.environ["ORDERS_PROGRAM"]
SOURCE = ROOT / "engine/racecheck/stream_orders/orders.cu"
LINES = SOURCE.read_text(encoding="utf-8").splitlines()
STEPS = {
    n: int(found[1])
    for n, line in enumerate(LINES, 1)
    if (found := re.match(r"STEP\((\d+)\)", line))
}
SECONDS = 60
RANDOM = 2000
# Program: pairs of its steps that race.
DOCUMENTED = {
    # Streams, and the legacy default stream.
    "BB k1w0 k1w0": set(),
    "BB k1w0 k2w0": {(0, 1)},
    "BB k1w0 k0w0 k1w0": set(),
    "BB k1w0 k0w1 k2w0": set(),
    "BN k2w0 k0w0": {(0, 1)},
    "BN k0w0 k2w0": {(0, 1)},
    "BN k1w0 k0w1 k2w0": {(0, 2)},
    "PB k1w0 k2w0": {(0, 1)},  # the thread's own default stream is one of several
    "PB k1w0 k0w0": set(),  # which is no non-blocking one
    # The host.
    "BB hw0 k1r0": set(),
    "BB k1w0 hr0": {(0, 1)},
    "BB k1r0 hr0": set(),
    "BB k1w0 D hr0": set(),
    "BB k1w0 S1 hr0": set(),
    "BB k1w0 Q1 hr0": set(),
    "BB k1w0 S2 hr0": {(0, 2)},
    "BB k1w0 S0 hr0": set(),
    "BN k2w0 S0 hr0": {(0, 2)},
    "BB b1w0 b2w0": {(0, 1)},  # they may be serialized, and need not be
    "BB b1w0 k1w1 hr0.1": {(0, 2), (1, 2)},
    # Events: a wait takes the record that was there at the call.
    "BB k1w0 r1.0 w2.0 k2w0": set(),
    "BB k1w0 w2.0 r1.0 k2w0": {(0, 3)},
    "BB k1w0 w2.0 k2w0": {(0, 2)},
    "BB r1.0 k1w0 w2.0 k2w0": {(1, 3)},
    "BB k1w0 r1.0 r2.0 w2.0 k2w0": {(0, 4)},
    "BB k1w0 r1.0 w2.0 r2.0 k2w0": set(),
    "BB k1w0 r1.0 w2.0 k1w0 r1.0 k2w0": {(3, 5)},
    "BB k2w0 r2.0 w2.0 k1w0": {(0, 3)},
    "BN k2w0 r2.0 w0.0 k1w0": set(),  # through the legacy default stream
    "BN k1w0 r0.0 w2.0 k2w0": set(),
    "BB E0 k1w0 hr0": {(1, 2)},
    "BB k1w0 r1.0 k1w1 E0 hr0 hr1": {(2, 5)},
    "BB k1w0 r1.0 R0 hw0": set(),
    # Copies, fills, and what they wait for.
    "BB k1w0 mr0 hw0": set(),
    "BN k2w0 mr0 hw0": {(0, 1), (0, 2)},
    "BB k1w0 d hr0": {(0, 2)},
    "BB k1w0 d k2w0": set(),
    "BB k1w0 p hr0": set(),
    "BB k1w0 o hr0": set(),
    "BN k2w0 o hr0": {(0, 2)},
    "BN k2w0 F hr0": set(),
    "BB k1w0 zw0 hr0": set(),
    "BB c1w0 hr0": {(0, 1)},
    "BB c1r0 hr0": set(),
    "BB c1r0 hw0": {(0, 1)},
    "BB f1w0 S1 hr0": set(),
}
GRAPHS = {1: 5, 2: 31, 3: 245, 4: 2378}
EVERY = 1 if os.environ.get("ORDERS_ALL_GRAPHS") else 12  # of the graphs of 5 nodes


def found_pairs(report):
    pairs = set()
    for each in report["findings"]:
        lines = sorted(each[access]["line"] for access in ("first", "second"))
        pairs.add(tuple(STEPS[line] for line in lines))
    return pairs


def differences(programs):
    """What the checker finds otherwise than the oracle, a text for each program."""
    running = RunningPrograms()
    arguments = [PROGRAM, *["-"] * (1 + len(STEPS))]
    server = RunServer(arguments, inherited(), running)

    def difference(seed, program):
        words = str(program).split()
        settings = {str(n): word for n, word in enumerate(words, 1)}
        run = check_once(
            PROGRAM, words, seed, SECONDS, False, programs=running, settings=settings, server=server
        )  # fmt: skip
        if run.report is None or run.code != bool(run.report["findings"]):
            return f"{program}: seed {seed} ended with {run.code}: {run.output}"
        found, expected = found_pairs(run.report), races(program)
        missing, wrong = sorted(expected - found), sorted(found - expected)
        return (
            f"{program}: seed {seed}, missing {missing}, wrong {wrong}"
            if missing or wrong
            else None
        )

    with contextlib.closing(server), concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [each for each in pool.map(difference, itertools.count(), programs) if each]


@pytest.mark.parametrize("line", DOCUMENTED)
def test_what_the_documentation_says(line):
    program = parsed(line)
    assert str(program) == line
    assert races(program) == DOCUMENTED[line]


def test_programs_of_the_documentation():
    assert differences(map(parsed, DOCUMENTED)) == []


def _graph_of(program):
    ordered = ordered_pairs(program)
    nodes = [n for n, step in enumerate(program.steps) if step.kind in NODES]
    pairs = [(nodes.index(i), nodes.index(j)) for i, j in ordered if i in nodes and j in nodes]
    return program.streams, tuple(program.steps[n].stream for n in nodes), frozenset(pairs)


@pytest.mark.parametrize("nodes", GRAPHS)
def test_each_graph_of_up_to_4_nodes(nodes):
    programs = list(all_graphs(nodes))
    assert len({_graph_of(each) for each in programs}) == len(programs) == GRAPHS[nodes]
    assert differences(programs) == []


def test_graphs_of_5_nodes():
    assert differences(itertools.islice(all_graphs(5), 0, None, EVERY)) == []


def test_random_programs():
    assert differences(map(random_program, range(RANDOM))) == []
