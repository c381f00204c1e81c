# SPDX-License-Identifier: MIT
"""The idea of the chapter in one figure."""

from engine.command.drawing import Figure


def figure():
    picture = Figure(96, "The idea of the chapter", "Who works on what, and when, in words.")
    picture.box(14, 20, 180, 28, "blue", "one block")
    picture.box(266, 20, 180, 28, "orange", "another block")
    picture.arrow([(194, 34), (266, 34)])
    picture.label(14, 78, "What leads from one to the other.")
    return picture
