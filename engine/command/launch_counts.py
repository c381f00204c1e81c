# SPDX-License-Identifier: MIT
"""What the racecheck form counts of each launch, as the tables of `cudacheck check --counts`."""

# Keys of the report, and their names. Of the first ones there is the most per thread as well.
PER_THREAD = {
    "global_loads": "global loads",
    "global_stores": "global stores",
    "global_atomics": "global atomics",
    "shared_loads": "shared loads",
    "shared_stores": "shared stores",
    "shared_atomics": "shared atomics",
    "fences": "fences",
}
PER_BLOCK = {
    "global_bytes_loaded": "global bytes loaded",
    "global_bytes_stored": "global bytes stored",
    "block_barriers": "block barriers",
    "warp_barriers": "warp barriers",
    "grid_barriers": "grid barriers",
}
COLUMNS = ("total", "most_per_block", "most_per_thread")
HEAD = ("total", "most per block", "most per thread")


def lines_of_counts(report):
    """The tables of a run's report, as lines. Launches that did the same have one table.

    Rows of zeros are left out. There must be counts in the report (LAB_RACECHECK_COUNTS).
    """
    launches = report["launch_counts"]
    distinct = []
    for launch in launches:
        same = next((entry for entry in distinct if entry[0] == launch), None)
        if same:
            same[1] += 1
        else:
            distinct.append([launch, 1])
    lines = []
    for launch, times in distinct:
        lines += ["", *_lines_of_launch(launch, times)]
    if report["launches"] > len(launches):
        left_out = report["launches"] - len(launches)
        lines += ["", f"{left_out:,} launches after the first {len(launches):,} were not counted."]
    return lines


def _lines_of_launch(launch, times):
    blocks, threads = (_size_text(launch[key]) for key in ("blocks", "threads"))
    kernel = launch["kernel"] or "a kernel"
    place = f" at {launch['file']}:{launch['line']}" if launch["file"] else ""
    lines = [f"{kernel}<<<{blocks}, {threads}>>>{place}" + (f", {times} times" * (times > 1))]
    if not launch["completed"]:
        lines.append(
            f"  It did not come to its end; blocks that had begun: {launch['blocks_begun']:,}"
        )
    rows = [
        (name, *(f"{launch[key][column]:,}" if column in launch[key] else "" for column in COLUMNS))
        for key, name in {**PER_THREAD, **PER_BLOCK}.items()
        if launch[key]["total"]
    ]
    if rows:
        lines += [_row_text(("", *HEAD)), *map(_row_text, rows)]
    else:
        lines.append("  no access to memory that threads share, no fence, no barrier")
    fixed, sized = launch["static_shared_bytes"], launch["dynamic_shared_bytes"]
    if fixed or sized:
        lines.append(f"  shared memory per block: {fixed:,} bytes static, {sized:,} bytes dynamic")
    return lines


def _row_text(cells):
    name, *numbers = cells
    return (f"  {name:<20}" + "".join(f"{number:>17}" for number in numbers)).rstrip()


def _size_text(size):
    """As a launch has it: 8, or (2, 3, 1)."""
    return str(size[0]) if size[1:] == [1, 1] else f"({', '.join(map(str, size))})"
