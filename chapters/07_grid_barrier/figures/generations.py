# SPDX-License-Identifier: MIT
"""All blocks wait for the last one, which sets the counter back and opens the barrier."""

from engine.command.drawing import Figure

# How long each block works before the first barrier, and before the second one.
WORK = [(82, 76), (58, 118), (126, 56), (82, 72)]
LEFT, TOP, ROW, GAP = 92, 40, 38, 6


def figure():
    counter = TOP + ROW * len(WORK) + 22
    first = max(one for one, _ in WORK)
    second = max(two for _, two in WORK)
    slow = [work[0] for work in WORK].index(first)
    slower = [work[1] for work in WORK].index(second)
    opens = LEFT + first + GAP
    opens_again = opens + GAP + second + GAP
    picture = Figure(
        counter + 104,
        "Two barriers of a grid",
        f"""Time runs to the right. Four blocks work for different times and come to a barrier. Block
        {slow} is the last. It sets the counter back to 0 and the generation to 1, and then all go on. At
        the second barrier block {slower} is the last, and sets the generation to 2.""",
    )
    picture.label(
        12, 22, f"a grid of {len(WORK)} resident blocks; time runs to the right", bold=True
    )
    for block, (one, two) in enumerate(WORK):
        y = TOP + ROW * block
        picture.label(12, y + 17, f"block {block}")
        picture.box(LEFT, y, one - 2, 26, "blue", "step 1")
        if one < first:
            picture.box(LEFT + one, y, first - one, 26, "grey", "waits" if first - one > 34 else "")
        start = opens + GAP
        picture.box(start, y, two - 2, 26, "blue", "step 2")
        if two < second:
            picture.box(
                start + two, y, second - two, 26, "grey", "waits" if second - two > 34 else ""
            )
    for x, block in ((opens, slow), (opens_again, slower)):
        picture.arrow([(x, TOP + ROW * block + 26), (x, counter)], "orange")
    ends = [LEFT, opens, opens_again, opens_again + 96]
    for number, (begin, end) in enumerate(zip(ends, ends[1:])):
        words = f"0 to {len(WORK)}" if number < 2 else "0"
        picture.box(begin, counter, end - begin - 3, 26, "orange", words)
        picture.box(begin, counter + 34, end - begin - 3, 26, "green", str(number))
    picture.label(12, counter + 17, "arrived")
    picture.label(12, counter + 51, "generation")
    picture.label(12, counter + 88, "The last block sets the counter to 0, then opens the barrier.")
    return picture
