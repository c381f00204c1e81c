# SPDX-License-Identifier: MIT
"""Two kernels in one stream on a time line: the second starts when the first has ended."""

import heapq

from engine.command.drawing import Figure

SMS = 3
BLOCKS = [30, 46, 38, 52, 34, 26, 44]  # how long each block of the first kernel takes
MERGE = 62
LAUNCH = 14  # between a launch and its kernel's first block; between two kernels

LEFT, ROW, HOST, TOP = 62, 34, 14, 78


def schedule(costs, workers):
    """[(worker, begin, end)] where the worker that is free first takes the next piece."""
    free = [(0, worker) for worker in range(workers)]
    found = []
    for cost in costs:
        begin, worker = heapq.heappop(free)
        found.append((worker, begin, begin + cost))
        heapq.heappush(free, (begin + cost, worker))
    return found


def figure():
    blocks = schedule(BLOCKS, SMS)
    end_of_first = max(end for _, _, end in blocks)
    scale = (446 - LEFT) / (LAUNCH + end_of_first + LAUNCH + MERGE)
    first = LAUNCH
    second = first + end_of_first + LAUNCH
    bottom = TOP + SMS * ROW
    picture = Figure(
        bottom + 132,
        "Two kernels in one stream on a time line",
        f"""The host launches two kernels one after the other and goes on. The {len(BLOCKS)} blocks of
        the first kernel run on {SMS} SMs and each writes a partial sum to global memory. When the
        last of them has ended, and not before, the one block of the second kernel starts and reads
        all partial sums.""",
    )

    def x(time):
        return LEFT + time * scale

    picture.label(12, HOST + 17, "host")
    picture.box(x(0), HOST, 70, 26, "green", "launch 1")
    picture.box(x(0) + 74, HOST, 70, 26, "green", "launch 2")
    picture.label(x(0) + 152, HOST + 17, "goes on, and need not wait", colour="quiet")
    picture.line([(x(0), TOP - 10), (446, TOP - 10)], "frame", thickness=1)
    picture.arrow([(x(0) + 6, HOST + 26), (x(first), TOP + 2)], "green")
    for sm in range(SMS):
        picture.label(12, TOP + sm * ROW + 19, f"SM {sm}")
    for number, (sm, begin, end) in enumerate(blocks):
        width = (end - begin) * scale
        text = f"block {number}" if width > 55 else str(number)
        picture.box(x(first + begin), TOP + sm * ROW, width - 2, 26, "blue", text)
    boundary = x(first + end_of_first)
    picture.line([(boundary, TOP - 22), (boundary, bottom + 4)], "red", dashed=True, thickness=2)
    picture.box(x(second), TOP, MERGE * scale - 2, 26, "orange", "merge")
    for sm in range(1, SMS):
        picture.label(x(second) + 8, TOP + sm * ROW + 18, "idle", colour="quiet")
    picture.label(x(first), TOP - 16, "kernel 1", colour="blue", bold=True)
    picture.label(x(second), TOP - 16, "kernel 2", colour="orange", bold=True)
    memory = bottom + 34
    picture.label(12, memory + 17, "memory")
    cell = 30
    for number in range(len(BLOCKS)):
        picture.box(
            x(first) + number * cell, memory, cell, 26, "grey", f"p{number}", code=True, rounded=0
        )
    picture.arrow([(x(first) + 40, bottom - 6), (x(first) + 40, memory)], "blue")
    picture.label(x(first) + 48, memory - 8, "each block writes its partial sum", colour="blue")
    last = x(first) + len(BLOCKS) * cell
    reader = x(second) + MERGE * scale * 0.7
    picture.arrow([(last, memory + 13), (reader, memory + 13), (reader, TOP + 26)], "orange")
    picture.label(446, memory + 34, "reads them all", "end", colour="orange")
    picture.label(
        12, memory + 62, "dashed: the end of kernel 1. All that its blocks wrote is there"
    )
    picture.label(12, memory + 80, "for kernel 2, which has not started before.")
    return picture
