# SPDX-License-Identifier: MIT
"""Draws a halving tree in shared memory, for any number of threads."""

from engine.command.drawing import Figure

LEFT, CELL_HEIGHT, STEP = 66, 26, 80


def rows_of(values):
    """What shared memory holds at the start and after each step: (values, how many are live)."""
    values, live = list(values), len(values)
    rows = [(list(values), live)]
    while live > 1:
        half = (live + 1) // 2
        for thread in range(live - half):
            values[thread] += values[thread + half]
        live = half
        rows.append((list(values), live))
    return rows


def tree(values, title, description):
    rows = rows_of(values)
    column = (460 - LEFT - 12) / len(values)
    cell = min(column, 42)
    top = 34
    picture = Figure(top + STEP * (len(rows) - 1) + CELL_HEIGHT + 34, title, description)

    def middle(thread):
        return LEFT + (thread + 0.5) * column

    picture.label(12, 22, "thread", colour="quiet")
    for thread in range(len(values)):
        picture.label(middle(thread), 22, str(thread), "middle", code=True, colour="quiet")
    for place, (row, live) in enumerate(rows):
        y = top + place * STEP
        picture.label(12, y + 18, "shared" if place == 0 else f"live {live}", colour="quiet")
        for thread in range(live):
            is_result = live == 1
            picture.box(
                middle(thread) - cell / 2, y, cell, CELL_HEIGHT,
                "orange" if is_result else "blue", str(row[thread]), code=True,
            )  # fmt: skip
        if place + 1 == len(rows):
            break
        barrier = y + CELL_HEIGHT + 13
        picture.line([(LEFT, barrier), (448, barrier)], "red", thickness=3)
        picture.label(12, barrier + 5, "barrier", colour="red")
        half = (live + 1) // 2
        for thread in range(half):
            start, end = y + CELL_HEIGHT, y + STEP
            picture.arrow([(middle(thread), start), (middle(thread), end)], "quiet")
            if thread + half < live:
                other = middle(thread + half)
                path = [(other, start), (other, barrier + 8), (middle(thread) + 9, end)]
                picture.arrow(path, "blue")
    picture.label(
        12, top + STEP * (len(rows) - 1) + CELL_HEIGHT + 22,
        "A step reads what other threads wrote: a barrier first.",
    )  # fmt: skip
    return picture
