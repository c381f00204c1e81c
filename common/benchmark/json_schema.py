# SPDX-License-Identifier: MIT
"""The few words of JSON Schema (draft 2020-12) that the schema of recorded runs uses."""

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}
RULES = {"$ref", "type", "const", "enum", "minimum", "minItems", "items", "required"}
RULES |= {"properties", "additionalProperties"}
ANNOTATIONS = {"$schema", "$defs", "title", "description"}


class Schema:
    """A schema that values are checked by.

    Raises ValueError for one that uses other words than these: they would be ignored.
    """

    def __init__(self, schema):
        self._schema = schema
        self._definitions = {
            f"#/$defs/{name}": definition for name, definition in schema.get("$defs", {}).items()
        }
        for each in (schema, *self._definitions.values()):
            _require_known_words(each)

    def problems(self, value):
        """What of `value` is not as the schema says: sentences without a full stop."""
        return self._problems(value, self._schema, "")

    def _problems(self, value, schema, where):
        """`where` is the place of `value`, as in rows[3].name."""
        if "$ref" in schema:
            schema = self._definitions[schema["$ref"]]
        place = where or "it"
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(TYPES[name](value) for name in types):
            yield f"{place} is no {' or '.join(types)}"
            return
        if "const" in schema and value != schema["const"]:
            yield f"{place} is {value!r}, and not {schema['const']!r}"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{place} is {value!r}, and none of {', '.join(map(repr, schema['enum']))}"
        if "minimum" in schema and value < schema["minimum"]:
            yield f"{place} is {value}, and less than {schema['minimum']}"
        if isinstance(value, list):
            if len(value) < schema.get("minItems", 0):
                yield f"{place} has fewer than {schema['minItems']} items"
            for number, item in enumerate(value):
                yield from self._problems(item, schema.get("items", {}), f"{where}[{number}]")
        if isinstance(value, dict):
            known = schema.get("properties", {})
            missing = sorted(set(schema.get("required", [])) - set(value))
            if missing:
                yield f"{place} has no {', '.join(missing)}"
            for name, member in value.items():
                if name in known:
                    inside = f"{where}.{name}" if where else name
                    yield from self._problems(member, known[name], inside)
                elif schema.get("additionalProperties") is False:
                    yield f"{place} has {name}, which the format does not know"


def _require_known_words(schema):
    unknown = set(schema) - RULES - ANNOTATIONS
    if unknown:
        raise ValueError(f"the schema uses {', '.join(sorted(unknown))}, which is not known here")
    for each in schema.get("properties", {}).values():
        _require_known_words(each)
    if "items" in schema:
        _require_known_words(schema["items"])
