# SPDX-License-Identifier: MIT
"""The course as a web site: the packages that it takes, building it, and showing it."""
