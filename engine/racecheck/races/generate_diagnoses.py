# SPDX-License-Identifier: MIT
"""Compiles the table of diagnoses: generate_diagnoses.py diagnoses.json HEADER. Meson runs it.

A row's `code` becomes an enumerator, in the order in which diagnoses are told. So do the conditions
and the {placeholders} of its texts: finding_text.cpp has a switch over each, which the compiler refuses
if one is not handled there.
"""

import json
import pathlib
import re
import sys

TEXTS = ("name", "advice", "repair", "otherwise")
VARIANTS = ("advice_if", "repair_if")
WORD = re.compile(r"[a-z]+(_[a-z]+)*")
PLACEHOLDER = re.compile(r"\{([^}]*)\}")

HEADER = """\
// SPDX-License-Identifier: MIT
// Made of diagnoses.json by generate_diagnoses.py.
#pragma once

#include <array>

namespace racecheck {{

enum class diagnosis {{ {codes} }};
enum class condition {{ {conditions} }};
enum class placeholder {{ {placeholders} }};

struct text_variant {{
  condition when;
  const char* text;  // nullptr if there is none
}};

// Texts that a row does not have are "".
struct diagnosis_row {{
  const char* code;
  const char* name;
  const char* advice;
  text_variant advice_if;
  const char* repair;
  text_variant repair_if;
  diagnosis refines;  // itself if it refines no other one
  const char* otherwise;
}};

inline constexpr std::array<diagnosis_row, {count}> diagnosis_table = {{{{
{rows}
}}}};
inline constexpr std::array<const char*, {placeholder_count}> placeholder_names = {{
    {placeholder_names}}};

}}  // namespace racecheck
"""


def checked_rows(table):
    """The rows of the table. Raises ValueError if it is none."""
    rows = table["diagnoses"]
    codes = [row["code"] for row in rows]
    for row in rows:
        where = f"the diagnosis {row['code']!r}"
        unknown = set(row) - {"code", "refines", *TEXTS, *VARIANTS}
        if unknown:
            raise ValueError(f"{where} has an unknown key {min(unknown)!r}")
        if codes.count(row["code"]) > 1:
            raise ValueError(f"{where} is there twice")
        if row.get("refines", row["code"]) not in codes:
            raise ValueError(f"{where} refines {row['refines']!r}, which is no diagnosis")
        for key in VARIANTS:
            if len(row.get(key, {})) > 1:
                raise ValueError(f"{where} has more than one condition in {key!r}")
        for word in (row["code"], *_conditions(row), *_placeholders(row)):
            if not WORD.fullmatch(word):
                raise ValueError(f"{where}: {word!r} is no word of small letters and _")
    return rows


def header(rows):
    def sorted_words(of):
        return sorted({word for row in rows for word in of(row)})

    conditions, placeholders = sorted_words(_conditions), sorted_words(_placeholders)
    return HEADER.format(
        codes=", ".join(row["code"] for row in rows),
        conditions=", ".join(conditions),
        placeholders=", ".join(placeholders),
        count=len(rows),
        rows="\n".join(_row(row, conditions[0]) for row in rows),
        placeholder_count=len(placeholders),
        placeholder_names=", ".join(map(_literal, placeholders)),
    )


def _row(row, any_condition):
    texts = {key: _literal(row.get(key, "")) for key in ("code", *TEXTS)}
    for key in VARIANTS:
        (variant,) = row.get(key, {any_condition: None}).items()
        text = "nullptr" if variant[1] is None else _literal(variant[1])
        texts[key] = f"{{condition::{variant[0]}, {text}}}"
    order = ("code", "name", "advice", "advice_if", "repair", "repair_if")
    fields = [texts[key] for key in order]
    fields += [f"diagnosis::{row.get('refines', row['code'])}", texts["otherwise"]]
    return f"    {{{', '.join(fields)}}},"


def _literal(text):
    return json.dumps(text)  # whose escapes are C++'s as well


def _conditions(row):
    return [when for key in VARIANTS for when in row.get(key, {})]


def _placeholders(row):
    texts = [row.get(key, "") for key in TEXTS]
    texts += [text for key in VARIANTS for text in row.get(key, {}).values()]
    return [name for text in texts for name in PLACEHOLDER.findall(text)]


def main():
    table, made = map(pathlib.Path, sys.argv[1:])
    try:
        rows = checked_rows(json.loads(table.read_text(encoding="utf-8")))
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        sys.exit(f"{table} is no table of diagnoses: {error}")
    made.write_text(header(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
