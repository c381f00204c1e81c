# SPDX-License-Identifier: MIT
"""The work queue: whichever block is free takes the next item."""

import heapq

from engine.command.drawing import Figure

COSTS = [34, 96, 40, 26, 150, 52, 60, 30, 40]  # of the items, in the order of the queue
ITEMS = 12
BLOCKS = 3
COLOURS = ["blue", "orange", "green"]

LEFT, LANE_TOP, ROW, SCALE = 74, 142, 38, 1.5
CELL, ITEMS_LEFT = 26, 134


def hand_out(costs, blocks):
    """[(item, block, begin, end)] where the block that is free first takes the next item."""
    free = [(0, block) for block in range(blocks)]
    found = []
    for item, cost in enumerate(costs):
        begin, block = heapq.heappop(free)
        found.append((item, block, begin, begin + cost))
        heapq.heappush(free, (begin + cost, block))
    return found


def figure():
    done = hand_out(COSTS, BLOCKS)
    item, asking, now, _ = done[-1]
    taken = {each: block for each, block, _, _ in done[:-1]}
    bottom = LANE_TOP + BLOCKS * ROW
    picture = Figure(
        bottom + 68,
        "A work queue",
        f"""An array of {ITEMS} items and a counter lie in global memory. {BLOCKS} blocks have taken
        items 0 to {item - 1}, of different lengths. Block {asking} is the first to be free: it adds
        1 to the counter, gets {item}, and works on item {item} next.""",
    )
    picture.label(12, 22, "global memory", bold=True)
    picture.label(12, 51, "next")
    picture.box(LEFT - 20, 34, 60, 26, "red", f"{item} → {item + 1}", code=True)
    picture.label(ITEMS_LEFT, 22, "items", colour="quiet")
    for each in range(ITEMS):
        colour = COLOURS[taken[each]] if each in taken else "red" if each == item else "quiet"
        picture.box(
            ITEMS_LEFT + each * CELL, 34, CELL, 26, colour, str(each),
            code=True, dashed=each not in taken, rounded=0,
        )  # fmt: skip
    for block in range(BLOCKS):
        picture.label(12, LANE_TOP + block * ROW + 18, f"block {block}", colour=COLOURS[block])
    for number, block, begin, end in done[:-1]:
        x = LEFT + begin * SCALE
        width = min(end, now + 20) - begin
        picture.box(
            x, LANE_TOP + block * ROW, width * SCALE - 2, 26, COLOURS[block], str(number), code=True
        )
    at = LEFT + now * SCALE
    y = LANE_TOP + asking * ROW
    picture.line([(at, LANE_TOP - 22), (at, bottom)], "frame", dashed=True)
    picture.label(at, bottom + 14, "now", "middle", colour="quiet")
    picture.box(at + 1, y, COSTS[-1] * SCALE, 26, "red", str(item), code=True, dashed=True)
    picture.arrow([(at + 8, y), (at + 8, 96), (LEFT + 10, 96), (LEFT + 10, 60)], "red")
    picture.label(LEFT + 22, 88, f"block {asking} is free: adds 1, gets {item}", colour="red")
    picture.label(12, bottom + 38, "A bar is an item, as long as the work on it takes. No one")
    picture.label(12, bottom + 56, "decided before the launch which block gets which item.")
    return picture
