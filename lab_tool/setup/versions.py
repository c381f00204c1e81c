# SPDX-License-Identifier: MIT
"""Version numbers, as tuples."""

import re


def numbers(text):
    """'1.3.2' -> (1, 3, 2)."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def dotted(version):
    return ".".join(map(str, version))
