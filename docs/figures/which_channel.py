# SPDX-License-Identifier: MIT
"""Which channel between blocks? A question, three kinds of need, and the lesson at each end."""

from engine.command.drawing import Figure, fitted

TRUNK, LEFT, ANSWERS, RIGHT = 16, 34, 290, 450
HEAD, QUESTION, STEP = 26, 46, 62  # heights, and from one question to the next
# Each kind of need: its colour, what blocks need, and questions with their answers. A yes leads to
# the right; no leads down, and the last answer is what remains.
KINDS = [
    (
        "blue",
        "nothing",
        [
            ("Is the work even?", "01: no channel"),
            ("Does the order matter, or is the GPU below 10.0?", "05: a queue"),
        ],
        "06: work stealing",
    ),
    (
        "green",
        "nothing, but all their results are needed",
        [
            ("Does the host need them?", "02: a copy"),
            ("Can one block merge them in little time?", "04: the last block"),
        ],
        "03: a second kernel",
    ),
    (
        "orange",
        "results of other blocks, to go on",
        [
            ("Only those of earlier tiles?", "08: a look-back"),
            ("Do all blocks fit on the device, and keep data there?", "07: a grid barrier"),
        ],
        "03: a launch per step",
    ),
]


def figure():
    # A kind takes its heading, its questions, and the row of what remains.
    height = HEAD + 8 + 2 * STEP + 44
    picture = Figure(
        44 + len(KINDS) * height + 30,
        "Which channel between blocks?",
        "What do blocks need from other blocks? " + " ".join(map(in_words, KINDS)),
    )
    picture.label(10, 24, "What do your blocks need from other blocks?", bold=True, size=14)
    tops = [44 + height * place for place in range(len(KINDS))]
    for top in tops:
        picture.arrow([(TRUNK, 32), (TRUNK, top + HEAD / 2), (LEFT, top + HEAD / 2)])
    for top, kind in zip(tops, KINDS):
        one_kind(picture, top, *kind)
    picture.label(
        10, picture.height - 12, "Blocks wait for other blocks in 07 and 08 only.", colour="quiet"
    )
    return picture


def one_kind(picture, top, colour, need, questions, remains):
    picture.box(LEFT, top, RIGHT - LEFT, HEAD, colour)
    picture.label(LEFT + 10, top + 17.5, need, bold=True)
    middle = (LEFT + ANSWERS - 44) / 2
    y = top + HEAD + 8
    for question, answer in questions:
        picture.box(LEFT, y, ANSWERS - 44 - LEFT, QUESTION, colour, dashed=True)
        lines = fitted(question, ANSWERS - 44 - LEFT - 12)
        for place, line in enumerate(lines):
            base = y + QUESTION / 2 + 17 * (place - (len(lines) - 1) / 2) + 4.5
            picture.label(middle, base, line, "middle")
        picture.arrow([(ANSWERS - 44, y + QUESTION / 2), (ANSWERS, y + QUESTION / 2)], colour)
        picture.label(ANSWERS - 25, y + QUESTION / 2 - 6, "yes", "middle", colour=colour)
        picture.box(ANSWERS, y + QUESTION / 2 - 15, RIGHT - ANSWERS, 30, colour, answer, rounded=15)
        y += STEP
        if (question, answer) != questions[-1]:
            picture.arrow([(middle, y - STEP + QUESTION), (middle, y)], colour)
            picture.label(middle + 8, y - 4, "no", colour=colour)
    y += 2
    picture.arrow([(middle, y - STEP + QUESTION - 2), (middle, y + 11), (ANSWERS, y + 11)], colour)
    picture.label(middle + 8, y + 5, "no", colour=colour)
    picture.box(ANSWERS, y - 4, RIGHT - ANSWERS, 30, colour, remains, rounded=15)


def in_words(kind):
    """What a reader who does not see the picture is told of one kind."""
    _, need, questions, remains = kind
    asked = " ".join(f"{question} If so, {answer}." for question, answer in questions)
    return f"{need.capitalize()}: {asked} Else {remains}."
