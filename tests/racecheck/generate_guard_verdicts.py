#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints guard_verdicts.hpp: what a reference model of PTX's memory model says of the variants.

    generate_guard_verdicts.py --model FOLDER > guard_verdicts.hpp

FOLDER holds ptxmm.py, an exhaustive enumerator of the model's axioms for small programs. The
variants and their order are those of guard_variants_test.cu; see there. Takes about 40 seconds.
"""

import argparse
import itertools
import sys

# Steps: F all threads fence, f thread 0 fences, B barrier, T thread 0 takes the ticket, R thread 1
# reads.
BEFORE = ["T", "fT", "FT", "BT", "FBT", "BfT", "FBfT", "fBT", "Tf", "TB"]
AFTER = ["TBR", "TfBR", "TBFR", "FTBR", "TBfR", "TfR", "fTfBR"]
ORDERS = ["relaxed", "acq_rel", "release", "acquire"]


def program(model, before, after, all_write, scopes, sequential, order):
    """Block A publishes, block B observes; two threads each."""
    built = model.Prog("guard")
    publisher, observer, ticket = scopes
    for block, steps, fence_scope in (("A", before, publisher), ("B", after, observer)):
        for thread in (0, 1):
            built.thread(f"{block}{thread}", "AB".index(block))
            if block == "A" and (thread == 0 or all_write):
                built.W(f"x{thread}")
            barriers = 0
            for step in steps:
                if step == "F" or (step == "f" and thread == 0):
                    built.F(scope=fence_scope, sc=sequential)
                elif step == "B":
                    built.B(f"{block}{barriers}")
                    barriers += 1
                elif step == "T" and thread == 0:
                    built.RMW("c", scope=ticket, sem=order)
                elif step == "R" and thread == 1:
                    built.R("x0")
                    if all_write:
                        built.R("x1")
    return built


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model", required=True, metavar="FOLDER", help="where ptxmm.py is")
    sys.path.insert(0, parser.parse_args().model)
    import ptxmm as model  # pylint: disable=import-outside-toplevel,import-error

    scope = (model.GPU, model.CTA)
    verdicts = ""
    for before, after, all_write, sequential, *scopes, order in itertools.product(
        BEFORE, AFTER, (0, 1), (0, 1), scope, scope, scope, ORDERS
    ):
        built = program(model, before, after, all_write, scopes, sequential, order)
        races = model.run(built, {"B0:RMWr(c)": {"A0:RMWw(c)"}})[1]
        verdicts += "1" if races else "0"
    print("// SPDX-License-Identifier: MIT")
    print("// Made by generate_guard_verdicts.py: 1 for a variant that has a race, in the order of")
    print("// guard_variants_test.cu.")
    print("#pragma once")
    print()
    print("inline constexpr char guard_verdicts[] =")
    lines = [verdicts[first : first + 80] for first in range(0, len(verdicts), 80)]
    print("\n".join(f'    "{line}"' for line in lines) + ";")


if __name__ == "__main__":
    main()
