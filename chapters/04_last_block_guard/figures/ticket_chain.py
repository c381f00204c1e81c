# SPDX-License-Identifier: MIT
"""The chain that leads from one block's writes to another block's reads in the last-block guard."""

from engine.command.drawing import Figure

A, B, COLUMN = 34, 252, 194  # where the columns of the two blocks begin, and how wide they are
STEPS = [
    "barrier: all writes of A come before its ticket",
    "release: the ticket publishes what came before it",
    "B's ticket sees A's ticket, or one after it",
    "acquire: B's old copies of A's data count no more",
    "barrier: what thread 0 acquired, all threads read",
]


def threads(picture, left, top, text, colour):
    """A box for each of three threads; returns where their middles are."""
    middles = []
    for thread in range(3):
        x = left + thread * (COLUMN / 3)
        picture.box(x + 2, top, COLUMN / 3 - 4, 26, colour, text)
        middles.append(x + COLUMN / 6)
    return middles


def barrier(picture, left, y, number):
    picture.line([(left, y), (left + COLUMN, y)], "red", thickness=3)
    picture.numeral(left - 12, y, number, "red")


def figure():
    legend = 398
    picture = Figure(
        legend + 20 * len(STEPS) + 8,
        "The ticket chain of the last-block guard",
        """Time runs downwards. The threads of block A write to global memory, meet at a barrier, and
        thread 0 takes a ticket with release: it adds 1 to the counter. Later thread 0 of block B,
        the last one, takes its ticket with acquire. The level-one cache of B's SM may hold an old
        copy of A's data, which must not be used after the acquire. A second barrier lets all
        threads of B read the new data.""",
    )
    picture.label(A, 20, "block A", bold=True)
    for thread, middle in enumerate(threads(picture, A, 48, "write", "blue")):
        picture.label(middle, 40, f"thread {thread}", "middle", colour="quiet")
        picture.arrow([(middle, 74), (middle, 96)], "quiet")
    barrier(picture, A, 98, 1)
    first = A + COLUMN / 6
    picture.arrow([(first, 100), (first, 120)], "quiet")
    picture.box(A + 2, 120, 126, 28, "orange", "ticket, release")
    picture.numeral(A - 12, 134, 2, "orange")

    picture.box(10, 172, 440, 58, "grey")
    picture.label(239, 206, "global memory", "middle", colour="quiet")
    picture.label(239, 222, "(L2 cache)", "middle", colour="quiet")
    picture.box(A + 2, 196, 126, 26, "orange", "counter + 1")
    picture.box(B + 64, 196, 126, 26, "green", "A's data, new")
    picture.arrow([(first, 148), (first, 196)], "orange")
    writer = A + COLUMN * 5 / 6
    picture.arrow([(writer, 100), (writer, 182), (B + 90, 182), (B + 90, 196)], "blue")

    picture.label(B, 20, "block B, the last one", bold=True)
    picture.label(B, 40, "its SM's L1 cache:", colour="quiet")
    picture.box(B + 20, 50, 150, 28, "red", "old copy of A's data", dashed=True)

    ticket = 262
    picture.arrow([(first, 222), (first, ticket + 14), (B + 2, ticket + 14)], "orange")
    picture.numeral((first + B) / 2, ticket + 14, 3, "orange")
    picture.box(B + 2, ticket, 120, 28, "orange", "ticket, acquire")
    picture.numeral(B - 12, ticket - 8, 4, "orange")
    picture.line([(446, 64), (446, ticket + 14)], "red", dashed=True)
    picture.arrow([(446, 66), (446, 64), (B + 170, 64)], "red", dashed=True)
    picture.line([(B + 122, ticket + 14), (446, ticket + 14)], "red", dashed=True)
    picture.label(438, 112, "not used", "end", colour="red")
    picture.label(438, 128, "any more", "end", colour="red")
    barrier(picture, B, 316, 5)
    picture.arrow([(B + COLUMN / 6, ticket + 28), (B + COLUMN / 6, 314)], "quiet")
    for middle in threads(picture, B, 344, "read", "blue"):
        picture.arrow([(middle, 318), (middle, 344)], "quiet")
    reader = B + COLUMN - 14
    picture.arrow([(reader, 222), (reader, 344)], "green")

    for place, text in enumerate(STEPS):
        y = legend + 20 * place
        picture.numeral(22, y - 4, place + 1, ("red", "orange", "orange", "orange", "red")[place])
        picture.label(40, y, text)
    return picture
