# SPDX-License-Identifier: MIT
"""What a submission may ask of the system: looked at before it is linked, and before it runs."""
