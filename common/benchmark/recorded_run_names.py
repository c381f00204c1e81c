#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the C++ header with a recorded run's format number and names, from its schema.

recorded_run_names.py SCHEMA HEADER
"""

import json
import pathlib
import sys


def names(schema):
    """The names of all properties, at any depth."""
    if isinstance(schema, list):
        return set().union(*map(names, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(names, schema.values()))


def header(schema):
    constants = "".join(
        f'inline constexpr char {name}[] = "{name}";\n' for name in sorted(names(schema))
    )
    return f"""\
// Made from recorded_run.schema.json by recorded_run_names.py.
#pragma once

namespace benchmarks::recorded_run_names {{

inline constexpr int format_number = {schema["properties"]["format"]["const"]};

{constants}
}}  // namespace benchmarks::recorded_run_names
"""


def main():
    source, target = sys.argv[1:]
    schema = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
    pathlib.Path(target).write_text(header(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
