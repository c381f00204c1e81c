# SPDX-License-Identifier: MIT
"""Work stealing: two blocks are launched, and take over six that never start."""

import heapq

from engine.command.drawing import Figure

COSTS = [34, 40, 38, 132, 30, 36, 28, 34]  # of the tiles, one for each block of the grid
SMS = 2
PROLOGUE, EPILOGUE, CANCEL = 66, 66, 8

LEFT, RIGHT = 58, 448
LANES = (40, 168)  # above and below the grid
GRID = 104


def steal(costs, sms):
    """[(tile, sm, begin, end)] and when each SM's cancel fails."""
    free = [(PROLOGUE, sm) for sm in range(sms)]
    found = []
    for tile, cost in enumerate(costs):
        begin, sm = heapq.heappop(free)
        found.append((tile, sm, begin, begin + cost))
        heapq.heappush(free, (begin + cost + CANCEL, sm))
    return found, {sm: time for time, sm in free}


def figure():
    tiles, ends = steal(COSTS, SMS)
    scale = (RIGHT - LEFT) / (max(ends.values()) + EPILOGUE)
    taken = len(COSTS) - SMS
    picture = Figure(
        284,
        "Launched, canceled and taken-over blocks",
        f"""A grid of {len(COSTS)} blocks, one per tile, on {SMS} SMs. Blocks 0 and 1 are launched:
        each runs its prologue once and works on its own tile. Then it cancels the next block that
        has not started and works on that block's tile, {taken} times altogether. When a cancel
        fails, the block runs its epilogue once and ends.""",
    )

    def x(time):
        return LEFT + time * scale

    cell = (RIGHT - LEFT) / len(COSTS)
    picture.label(12, 22, f"a grid of {len(COSTS)} blocks, one per tile", bold=True)
    picture.label(10, GRID + 17, "blocks")
    for block in range(len(COSTS)):
        launched = block < SMS
        picture.box(
            LEFT + block * cell, GRID, cell - 3, 26, "blue" if launched else "orange", str(block),
            code=True, dashed=not launched,
        )  # fmt: skip
    for sm in range(SMS):
        y = LANES[sm]
        picture.label(10, y + 17, f"SM {sm}")
        picture.box(x(0), y, PROLOGUE * scale - 2, 26, "green", "prologue")
        picture.box(x(ends[sm]), y, EPILOGUE * scale - 2, 26, "green", "epilogue")
    for tile, sm, begin, end in tiles:
        y = LANES[sm]
        launched = tile < SMS
        colour = "blue" if launched else "orange"
        picture.box(x(begin), y, (end - begin) * scale - 2, 26, colour, str(tile), code=True)
        source = LEFT + (tile + 0.5) * cell - 1.5
        target = x(begin) + 7
        start, end = (GRID, y + 26) if sm == 0 else (GRID + 26, y)
        picture.arrow([(source, start), (target, end)], colour, dashed=not launched)
    legend = LANES[1] + 54
    for place, (colour, dashed, text) in enumerate(
        [
            ("blue", False, "launched block: it works on its own tile first"),
            ("orange", True, "canceled: never starts; its tile is taken over"),
            ("green", False, "once per launched block, and not once per tile"),
        ]
    ):
        y = legend + 22 * place
        picture.box(14, y - 12, 30, 16, colour, dashed=dashed)
        picture.label(54, y, text)
    return picture
