# SPDX-License-Identifier: MIT
"""As much of JSON Schema as our own schemas use."""

TYPES = {
    "object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None),
}  # fmt: skip


def deviations(value, schema, where="$"):
    """Sentences about what in the value is not as the schema has it."""
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and type(value) not in [TYPES[kind] for kind in kinds]:
        return [*found, f"{where}: {value!r} is no {' or '.join(kinds)}"]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        more = schema.get("additionalProperties", True)
        found += [f"{where}: no {name}" for name in schema.get("required", ()) if name not in value]
        for name, item in value.items():
            inner = properties.get(name, more)
            if inner is False:
                found.append(f"{where}: {name} is not in the schema")
            elif inner is not True:
                found += deviations(item, inner, f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            found += deviations(item, schema["items"], f"{where}[{place}]")
    return found
