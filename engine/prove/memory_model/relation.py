# SPDX-License-Identifier: MIT
"""Binary relations between a program's events, as bit sets: fast enough to enumerate with."""


class Relation:
    """A set of pairs of numbers below `size`: bit j of rows[i] says that (i, j) is in it."""

    def __init__(self, size, pairs=()):
        self.rows = [0] * size
        for left, right in pairs:
            self.rows[left] |= 1 << right

    @staticmethod
    def _of(rows):
        result = Relation(0)
        result.rows = rows
        return result

    def __contains__(self, pair):
        return self.rows[pair[0]] >> pair[1] & 1 == 1

    def __or__(self, other):
        return Relation._of([left | right for left, right in zip(self.rows, other.rows)])

    def __and__(self, other):
        return Relation._of([left & right for left, right in zip(self.rows, other.rows)])

    def __sub__(self, other):
        return Relation._of([left & ~right for left, right in zip(self.rows, other.rows)])

    def __bool__(self):
        return any(self.rows)

    def pairs(self):
        return [
            (left, right)
            for left, row in enumerate(self.rows)
            for right in range(row.bit_length())
            if row >> right & 1
        ]

    def then(self, other):
        """The composition: (i, k) where (i, j) is in this relation and (j, k) is in the other."""
        composed = []
        for row in self.rows:
            union = 0
            while row:
                lowest = row & -row
                union |= other.rows[lowest.bit_length() - 1]
                row ^= lowest
            composed.append(union)
        return Relation._of(composed)

    def inverse(self):
        return Relation(len(self.rows), ((right, left) for left, right in self.pairs()))

    def closure(self):
        """The transitive closure (Warshall)."""
        rows = list(self.rows)
        for middle in range(len(rows)):
            bit = 1 << middle
            for left, row in enumerate(rows):
                if row & bit:
                    rows[left] = row | rows[middle]
        return Relation._of(rows)

    def is_irreflexive(self):
        return not any(row >> number & 1 for number, row in enumerate(self.rows))

    def is_acyclic(self):
        return self.closure().is_irreflexive()
