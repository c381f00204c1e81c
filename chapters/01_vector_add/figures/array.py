# SPDX-License-Identifier: MIT
"""Threads and blocks over an array: how a thread finds its element."""

from engine.command.drawing import BODY, Figure, text_width

ELEMENTS = 10
THREADS = 4  # of a block
BLOCKS = -(-ELEMENTS // THREADS)
CHOSEN = 6  # the element whose thread is followed

LEFT, COLUMN = 14, 36
BLOCK_TOP, THREAD_TOP, ELEMENT_TOP = 44, 72, 138


def figure():
    block, thread = divmod(CHOSEN, THREADS)
    picture = Figure(
        252,
        "Threads and blocks over an array",
        f"""{BLOCKS} blocks of {THREADS} threads stand above an array of {ELEMENTS} elements. An
        arrow leads from each thread to the element of its number. Thread {thread} of block {block}
        has element {block} * {THREADS} + {thread} = {CHOSEN}. The last
        {BLOCKS * THREADS - ELEMENTS} threads have no element.""",
    )
    picture.label(LEFT, 22, f"the grid: {BLOCKS} blocks of {THREADS} threads", bold=True)
    picture.label(LEFT + 12 * COLUMN, 22, "boxes: threadIdx.x", "end", colour="quiet")
    for each in range(BLOCKS):
        x = LEFT + each * THREADS * COLUMN
        picture.box(x + 2, BLOCK_TOP - 14, THREADS * COLUMN - 4, 58, "grey")
        picture.label(
            x + THREADS * COLUMN / 2, BLOCK_TOP + 4, f"blockIdx.x = {each}", "middle", code=True
        )
    for each in range(BLOCKS * THREADS):
        middle = LEFT + (each + 0.5) * COLUMN
        number = str(each % THREADS)
        has_element = each < ELEMENTS
        colour = "orange" if each == CHOSEN else "blue"
        picture.box(
            middle - 13,
            THREAD_TOP - 16,
            26,
            24,
            colour if has_element else "quiet",
            number,
            code=True,
            dashed=not has_element,
        )
        if has_element:
            start, end = (middle, THREAD_TOP + 8), (middle, ELEMENT_TOP)
            picture.arrow([start, end], colour if each == CHOSEN else "quiet")
            picture.box(
                middle - COLUMN / 2,
                ELEMENT_TOP,
                COLUMN,
                28,
                colour if each == CHOSEN else "green",
                str(each),
                code=True,
                rounded=0,
            )
    without = LEFT + (ELEMENTS + BLOCKS * THREADS) / 2 * COLUMN
    picture.label(without, ELEMENT_TOP + 4, "i ≥ n:", "middle", colour="quiet")
    picture.label(without, ELEMENT_TOP + 22, "no work", "middle", colour="quiet")
    picture.label(LEFT, ELEMENT_TOP + 46, f"the array: n = {ELEMENTS} elements", bold=True)
    picture.label(LEFT, 216, "i = blockIdx.x * blockDim.x + threadIdx.x", size=BODY, code=True)
    equals = LEFT + text_width("i ", BODY, code=True)
    sum_of_it = f"= {block} * {THREADS} + {thread} = {CHOSEN}"
    picture.label(equals, 238, sum_of_it, size=BODY, code=True, colour="orange")
    return picture
