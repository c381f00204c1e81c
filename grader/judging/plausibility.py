# SPDX-License-Identifier: MIT
"""Whether a submission's kernels do the work, measured by what the solution's kernels do.

A right result may have been computed on the host, and a race checker that saw nothing reports nothing.
"""

# What every solution must load and store in global memory at least, as a part of what ours does: others
# may load a value once where ours loads it twice. What is in shared memory is no measure, because a
# solution can do without it.
LEAST_PART = 4
LEAST_BYTES = 256  # a case with less to do may be done without a kernel
BYTES_OF_ATOMIC = 4  # at least: most are of a word


def work_of(report):
    """{"bytes", "moved", "launches"} of a run under the race checker; zeros if there is no report.

    The bytes are those of loads and stores, and `moved` has those of atomics, too: a solution may load by
    atomics what ours loads without.
    """
    try:
        launches = report["launch_counts"]
        moved = sum(
            launch[name]["total"]
            for launch in launches
            for name in ("global_bytes_loaded", "global_bytes_stored")
        )
        atomics = sum(launch["global_atomics"]["total"] for launch in launches)
        return {
            "bytes": int(moved),
            "moved": int(moved + BYTES_OF_ATOMIC * atomics),
            "launches": len(launches),
        }
    except (KeyError, TypeError, ValueError):
        return {"bytes": 0, "moved": 0, "launches": 0}


def objections_to_work(work, of_solution):
    """Sentences if the kernels do less than any solution can do with."""
    if of_solution["bytes"] < LEAST_BYTES:
        return []
    if not work["launches"]:
        return ["The result is right, but no kernel of yours was seen to run."]
    if work["moved"] * LEAST_PART < of_solution["bytes"]:
        return [
            "The result is right, but your kernels do too little for it: they hardly load and store "
            "anything in global memory."
        ]
    return []


def objections_to_schedules(works, least):
    """The same of the schedules in which no race was seen; `least` bytes are what the solution moves in
    each."""
    if min(work["moved"] for work in works) * LEAST_PART < least:
        return ["In some schedule the kernels were not seen to do the work."]
    return []
