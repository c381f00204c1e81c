# SPDX-License-Identifier: MIT
"""The three parts, and the way of a .cu file through them."""

from engine.command.drawing import Figure

LEFT, RIGHT = 10, 450
COURSE, GRADER, ENGINE = 40, 164, 296  # where each part begins
GRADER_LEFT = 218
ALONE, DIRECT, JUDGED = 82, 180, 334  # the ways into the engine
FILE = 196


def figure():
    picture = Figure(
        618,
        "The three parts, and the way of a .cu file",
        """A .cu file enters the course by a verb of lab. run and racecheck hand it to the engine; check and
        grade hand it to the grader, whose judge has a runner run it, on this machine or in the sandbox,
        by the engine again. Without the course it enters the engine by cudacheck. In the engine its
        command has translate make C++ of the file, and the compiler a program of that. The CPU backend
        runs the program, and the race checker watches it. Both write records with codes. On the way back
        the command makes sentences and pictures of them, and the judge a verdict.""",
    )
    part(picture, "blue", LEFT, COURSE, 92, "course", "chapters/ common/ lab_tool/")
    picture.label(FILE, 22, "FILE.cu", "middle", code=True, bold=True)
    for x in (DIRECT, JUDGED):
        picture.arrow([(FILE, 28), (FILE, COURSE + 34), (x, COURSE + 34), (x, COURSE + 50)])
    picture.box(24, COURSE + 50, 176, 28, "blue", "lab run, racecheck", code=True)
    picture.box(232, COURSE + 50, 204, 28, "blue", "lab check, learn, grade", code=True)

    part(picture, "green", GRADER_LEFT, GRADER, 104, "grader", "grader/")
    picture.box(232, GRADER + 30, 204, 24, "green", "judge")
    picture.box(232, GRADER + 70, 204, 24, "green", "runner: local, or sandbox")

    part(picture, "orange", LEFT, ENGINE, 276, "engine", "engine/")
    picture.box(
        24, ENGINE + 32, 336, 28, "orange", "command/: the recipe of a .cu file, and its runs"
    )
    picture.box(24, ENGINE + 84, 336, 28, "orange", "translate/: C++ of it; then g++ or clang++")
    for x, name, what in ((24, "cpu_backend/", "runs it"), (200, "racecheck/", "watches it")):
        picture.box(x, ENGINE + 136, 160, 44, "orange")
        picture.label(x + 80, ENGINE + 154, name, "middle")
        picture.label(x + 80, ENGINE + 172, what, "middle")
    picture.box(24, ENGINE + 204, 336, 28, "grey", "records: codes, lines and threads; no prose")
    picture.label(24, ENGINE + 258, "prove/memory_model/ says what both may do.", colour="quiet")

    picture.label(24, GRADER + 44, "without the", colour="quiet")
    picture.label(24, GRADER + 62, "course:", colour="quiet")
    picture.label(24, GRADER + 84, "engine/cudacheck", code=True)
    picture.arrow([(ALONE, GRADER + 92), (ALONE, ENGINE + 32)])
    picture.arrow([(DIRECT, COURSE + 78), (DIRECT, ENGINE + 32)])
    picture.arrow([(JUDGED, COURSE + 78), (JUDGED, GRADER + 30)])
    picture.arrow([(JUDGED, GRADER + 54), (JUDGED, GRADER + 70)])
    picture.arrow([(JUDGED, GRADER + 94), (JUDGED, ENGINE + 32)])
    picture.arrow([(192, ENGINE + 60), (192, ENGINE + 84)])
    for x in (104, 280):
        picture.arrow([(x, ENGINE + 112), (x, ENGINE + 136)])
        picture.arrow([(x, ENGINE + 180), (x, ENGINE + 204)])
    records, command = ENGINE + 218, ENGINE + 46
    picture.arrow([(360, records), (404, records), (404, command), (360, command)], "red")
    picture.label(24, 590, "The way back, in red: the command makes sentences", colour="red")
    picture.label(24, 608, "and pictures of the records, the judge makes a verdict.", colour="red")
    return picture


def part(picture, colour, left, top, height, name, folders):
    picture.box(left, top, RIGHT - left, height, colour, dashed=True, rounded=6)
    picture.label(left + 14, top + 20, name, bold=True, colour=colour)
    picture.label(RIGHT - 14, top + 20, folders, "end", code=True, colour=colour)
