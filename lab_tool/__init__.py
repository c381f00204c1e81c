# SPDX-License-Identifier: MIT
"""The `lab` command: `verbs` has a module for each of its commands, and the rest is by subject."""
