# SPDX-License-Identifier: MIT
"""Each block takes a ticket when it is done, and the one that takes the last ticket merges."""

from engine.command.drawing import Figure

TICKET, MERGE = 44, 84
# The times at which each block's part begins, and at which it is done.
PARTS = [(0, 118), (14, 204), (0, 68), (26, 158)]
LEFT, TOP, ROW = 70, 40, 38


def figure():
    order = sorted(range(len(PARTS)), key=lambda block: PARTS[block][1])
    tickets = {block: ticket for ticket, block in enumerate(order)}
    last = order[-1]
    counter = TOP + ROW * len(PARTS) + 26
    picture = Figure(
        counter + 64,
        "Tickets, and the last block",
        f"""Time runs to the right. Four blocks work on their parts and end at different times. Each
        takes a ticket when its part is done: block {order[0]} takes 0, block {order[1]} takes 1, block
        {order[2]} takes 2. Block {last} is the last. It takes {len(PARTS) - 1}, the number of blocks
        less one, and merges the results of all.""",
    )
    picture.label(12, 22, f"a grid of {len(PARTS)} blocks", bold=True)
    for block, (_, end) in enumerate(PARTS):  # below the boxes
        x = LEFT + end + TICKET / 2
        picture.arrow([(x, TOP + ROW * block + 26), (x, counter)], "orange")
    for block, (begin, end) in enumerate(PARTS):
        y = TOP + ROW * block
        picture.label(12, y + 17, f"block {block}")
        picture.box(LEFT + begin, y, end - begin - 2, 26, "blue", "its part")
        picture.box(LEFT + end, y, TICKET, 26, "orange", str(tickets[block]), code=True)
    y = TOP + ROW * last
    picture.box(LEFT + PARTS[last][1] + TICKET + 4, y, MERGE, 26, "green", "merge")
    picture.box(LEFT, counter, 350, 26, "orange", "the counter: each block adds 1")
    picture.label(
        12, counter + 50, f"Who finds {len(PARTS) - 1}, the number of blocks less one, is the last."
    )
    return picture
