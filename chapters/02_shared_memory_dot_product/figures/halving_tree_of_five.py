# SPDX-License-Identifier: MIT
"""The halving tree of five threads: the half is rounded up, so the middle one waits."""

from halving import tree


def figure():
    return tree(
        [3, 1, 4, 1, 5],
        "The halving tree of five threads",
        """Five threads have each put a number into shared memory. The half is rounded up to three:
        after a barrier threads 0 and 1 add the numbers three places on, and thread 2 has no partner
        and keeps its own. Three numbers are live then, two after the next barrier, and one after
        the last.""",
    )
