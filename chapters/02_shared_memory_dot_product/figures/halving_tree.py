# SPDX-License-Identifier: MIT
"""The halving tree of eight threads, with its barriers."""

from halving import tree


def figure():
    return tree(
        [3, 1, 4, 1, 5, 9, 2, 6],
        "The halving tree of eight threads",
        """Eight threads have each put a number into shared memory. After a barrier the first four
        threads add the number four places on to their own; after another one the first two threads
        add the number two places on; after a third one thread 0 adds its neighbour's, and has the
        sum of all eight.""",
    )
