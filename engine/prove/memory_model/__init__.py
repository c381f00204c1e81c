# SPDX-License-Identifier: MIT
"""A reference model of CUDA's memory model, small enough to read and to enumerate in full.

Build a program, then ask for its verdict:

    message = Program("message passing")
    producer = message.thread("producer", block=0)
    producer.write("data")
    sent = producer.write("flag", MemoryOrder.release, ThreadScope.device)
    consumer = message.thread("consumer", block=1)
    flag = consumer.read("flag", MemoryOrder.acquire, ThreadScope.device)
    data = consumer.read("data")

    seen = axioms.verdict_of(message, given={flag: sent})
    seen.races         # pairs of operations that race in some execution
    seen.sources[data] # the writes whose value this read may return; INITIAL for the first value

`axioms` enumerates the executions that the PTX ISA's axioms allow; the race checker and what ./lab prove
explores are held to it by the tests. `last_block_guard` builds the variants of the last-block guard.

What the model leaves out: control flow (a spin loop is its last, successful read; `given` says what
it saw), accesses of different sizes to the same memory, reductions (`red`), proxies, clusters, and
data dependencies between operations (the axiom No Thin Air). A compare-and-swap is an update or a
read; `Program.case` makes the program in which it is known which.
"""

from engine.prove.memory_model.program import (
    INITIAL,
    MemoryOrder,
    Operation,
    Program,
    Thread,
    ThreadScope,
    Verdict,
)

__all__ = [
    "INITIAL",
    "MemoryOrder",
    "Operation",
    "Program",
    "Thread",
    "ThreadScope",
    "Verdict",
]
