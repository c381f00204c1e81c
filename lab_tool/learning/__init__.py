# SPDX-License-Identifier: MIT
"""Learning by doing: the screens of `./lab learn` and `./lab check`."""
