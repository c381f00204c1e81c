# SPDX-License-Identifier: MIT
"""One block asks for its next tile before it works on the one that it has."""

from engine.command.drawing import Figure

# What the block works on, and how long: its own tile, then two of canceled blocks.
TILES = [("0", 92), ("5", 136), ("9", 62)]
LEFT, GAP, HOLD = 84, 6, 22  # HOLD: from a request to its answer
WORK, RESERVE, SCHEDULER = 46, 112, 186  # the rows


def figure():
    picture = Figure(
        SCHEDULER + 88,
        "A request and its answer in time",
        """Time runs to the right. Block 0 requests a cancel, and then works on its own tile 0. The
        answer comes while it works: block 5 is canceled, and its tile waits in reserve. After
        tile 0 the block reads the answer, requests the next cancel, and works on tile 5. Tile 9
        waits in reserve all the while that tile 5 takes. The last request fails: no block is left.
        After tile 9 the block ends.""",
    )
    picture.label(12, 22, "block 0 asks early", bold=True)
    picture.label(10, WORK + 17, "works on")
    picture.label(10, RESERVE + 17, "in reserve")
    picture.label(10, SCHEDULER + 17, "scheduler")
    width = sum(cost + GAP for _, cost in TILES)
    picture.box(LEFT, SCHEDULER, width, 26, "grey", "holds the blocks that have not started")
    begin = LEFT
    for place, (tile, cost) in enumerate(TILES):
        colour = "orange" if place else "blue"
        picture.arrow([(begin + 4, WORK + 26), (begin + 4, SCHEDULER)], "quiet", dashed=True)
        picture.box(begin, WORK, cost, 26, colour, f"tile {tile}")
        answer = begin + 4 + HOLD
        end = begin + cost
        picture.arrow([(answer, SCHEDULER), (answer, RESERVE + 26)], "orange")
        if place + 1 < len(TILES):
            held = TILES[place + 1][0]
            picture.box(answer - 8, RESERVE, end - answer + 8, 26, "orange", held, dashed=True)
            picture.arrow([(end - 4, RESERVE), (end + GAP + 12, WORK + 26)], "orange")
        else:
            picture.box(answer - 8, RESERVE, end - answer + 8, 26, "red", "fail", dashed=True)
        begin = end + GAP
    picture.box(begin, WORK, 48, 26, "green", "ends")
    notes = SCHEDULER + 52
    picture.line([(14, notes - 5), (44, notes - 5)], "quiet", dashed=True)
    picture.label(54, notes, "the request: cancel a block that has not started")
    picture.line([(14, notes + 17), (44, notes + 17)], "orange")
    picture.label(54, notes + 22, "the answer: its tile, or that none is left")
    return picture
