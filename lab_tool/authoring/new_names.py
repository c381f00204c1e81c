# SPDX-License-Identifier: MIT
"""Names that a new chapter or exercise can't have, because of the targets that the build makes of them.

chapters/meson.build makes the targets; Meson refuses a second one of the same name, and a few names
altogether.
"""

from engine.command.errors import WRONG_USE, CommandError
from grader.exercises.catalogue import all_exercises
from lab_tool.chapters import all_chapters

# Meson's FORBIDDEN_TARGET_NAMES, in mesonbuild/coredata.py, as far as a name here can be one of them.
OF_MESON = set(
    "all benchmark clean coverage dist distcheck install phony reconfigure test uninstall".split()
)
KEYWORDS = set(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept "
    "const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using virtual void volatile wchar_t while xor xor_eq main".split()
)
LONGEST = 60  # of the letters of a name, which becomes part of longer ones
ALIASES = {"programs", "exercise_solutions"}  # of chapters/meson.build


def targets_of_program(program):
    """Of a chapter, without what its own meson.build may add."""
    return {program, f"{program}_test", f"{program}_racecheck", f"{program}_test_racecheck"}


def targets_of_exercise(name):
    return {f"{name}_driver", f"{name}_cases", f"{name}_solution"}


def require_free_targets(name, targets, root):
    """Refuses a name of which the build would make a target that it can't have, or has already."""
    if len(name) > LONGEST:
        raise CommandError(
            f"{name} can't be the name: it has {len(name)} letters, and {LONGEST} are the most.",
            WRONG_USE,
        )
    reserved = sorted(targets & OF_MESON)
    if reserved:
        raise CommandError(
            f"{name} can't be the name: Meson keeps the target {reserved[0]} for itself.", WRONG_USE
        )
    taken = sorted(targets & _targets_there(root))
    if taken:
        raise CommandError(
            f"{name} can't be the name: the build has a target {taken[0]} already.", WRONG_USE
        )


def _targets_there(root):
    found = set(ALIASES)
    for chapter in all_chapters(root):
        found |= targets_of_program(chapter.program)
        for test in (root / "chapters" / chapter.folder).glob("*_test.cu"):
            found |= {test.stem, f"{test.stem}_racecheck"}
    for exercise in all_exercises(root):
        found |= targets_of_exercise(exercise.name)
    return found
