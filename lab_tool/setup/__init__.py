# SPDX-License-Identifier: MIT
"""What the course needs installed, and how it comes here."""
