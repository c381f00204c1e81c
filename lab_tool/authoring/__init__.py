# SPDX-License-Identifier: MIT
"""New chapters and exercises, and whether the course is whole."""
