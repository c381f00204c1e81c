# SPDX-License-Identifier: MIT
"""The engine's command, and what a program of its users' own can call: recipes, runs, reports."""
