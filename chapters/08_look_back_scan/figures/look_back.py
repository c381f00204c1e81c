# SPDX-License-Identifier: MIT
"""Decoupled look-back: a tile adds aggregates until it meets a prefix."""

from engine.command.drawing import Figure

ELEMENTS = [(3, 1), (4, 2), (1, 1), (5, 2), (2, 2), (6, 2)]  # of each tile
WITH_PREFIX = 3  # So many tiles have published theirs.
LEFT, CELL = 14, 72


def figure():
    aggregates = [sum(tile) for tile in ELEMENTS]
    mine = len(ELEMENTS) - 1
    prefixes = [sum(aggregates[: tile + 1]) for tile in range(len(ELEMENTS))]
    nearest = WITH_PREFIX - 1
    between = aggregates[nearest + 1 : mine]
    before = prefixes[mine - 1]
    words = " + ".join(map(str, [prefixes[nearest], *between]))
    picture = Figure(
        268,
        "Decoupled look-back",
        f"""The status words of {mine + 1} tiles. Tiles 0 to {nearest} have published a prefix, the
        sum of everything up to their end. Tiles {nearest + 1} to {mine - 1} have published an
        aggregate, the sum of their own elements. Tile {mine} looks back: {words} is {before}, the
        sum of everything before it. It publishes {before} plus its own {aggregates[mine]} as its
        prefix.""",
    )
    picture.label(LEFT, 22, "the tiles and their elements", bold=True)
    for tile, elements in enumerate(ELEMENTS):
        x = LEFT + tile * CELL
        picture.label(x, 44, f"tile {tile}", colour="quiet")
        picture.box(x, 50, CELL - 6, 26, "grey", ", ".join(map(str, elements)), code=True)
    picture.label(LEFT, 104, "their status words", bold=True)
    for tile in range(len(ELEMENTS)):
        x = LEFT + tile * CELL
        has_prefix = tile <= nearest
        colour = "green" if has_prefix else "orange"
        value = prefixes[tile] if has_prefix else aggregates[tile]
        picture.box(x, 114, CELL - 6, 26, colour, str(value), code=True)
        picture.label(x, 156, "prefix" if has_prefix else "aggregate", colour=colour)
    y = 196
    middles = [LEFT + tile * CELL + 33 for tile in range(len(ELEMENTS))]
    for tile in range(nearest + 1, mine):
        picture.line([(middles[tile], 162), (middles[tile], y)], "blue")
    path = [
        (middles[mine], y),
        (middles[nearest], y),
        (middles[nearest], 162),
    ]
    picture.arrow(path, "blue")
    picture.label(
        LEFT, y + 30, f"Tile {mine} looks back: {words} = {before}, and stops at the prefix."
    )
    picture.label(
        LEFT,
        y + 52,
        f"Then it publishes its own prefix: {before} + {aggregates[mine]} = {prefixes[mine]}.",
    )
    return picture
