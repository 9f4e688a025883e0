"""The part of JSON Schema that docs/schemas uses. A keyword that it does not know is an error, so
that a schema never promises what nobody checks."""

import json
import pathlib
import re

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
_NOTES = {"$schema", "title", "description"}
_TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "null": lambda v: v is None,
}


def _type(value, wanted):
    names = wanted if isinstance(wanted, list) else [wanted]
    return None if any(_TYPES[n](value) for n in names) else f"is not {' or '.join(names)}"


def _any_of(value, options, where):
    tried = [problems(value, option, where) for option in options]
    return [] if any(not found for found in tried) else min(tried, key=len)


def _object(value, schema, where):
    found = []
    known = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            found.append(f"{where}: {name} is missing")
    for name, item in value.items():
        if name in known:
            found += problems(item, known[name], f"{where}.{name}")
        elif schema.get("additionalProperties", True) is False:
            found.append(f"{where}: {name} is not in the schema")
    return found


def problems(value, schema, where="$"):
    """What is wrong with the value, as lines; empty when it fits."""
    found = []
    for key, wanted in schema.items():
        wrong = None
        if key in _NOTES or key in ("properties", "required", "additionalProperties"):
            continue
        if key == "type":
            wrong = _type(value, wanted)
        elif key == "const":
            wrong = None if value == wanted else f"is not {wanted!r}"
        elif key == "enum":
            wrong = None if value in wanted else f"is none of {wanted}"
        elif key == "anyOf":
            found += _any_of(value, wanted, where)
        elif key == "minimum":
            if _TYPES["number"](value) and value < wanted:
                wrong = f"is below {wanted}"
        elif key == "minLength":
            if isinstance(value, str) and len(value) < wanted:
                wrong = f"is shorter than {wanted}"
        elif key == "minItems":
            if isinstance(value, list) and len(value) < wanted:
                wrong = f"has fewer than {wanted} items"
        elif key == "pattern":
            if isinstance(value, str) and not re.search(wanted, value):
                wrong = f"does not match {wanted}"
        elif key == "items":
            if isinstance(value, list):
                for index, item in enumerate(value):
                    found += problems(item, wanted, f"{where}[{index}]")
        else:
            raise ValueError(f"{where}: unknown schema keyword {key}")
        if wrong:
            found.append(f"{where}: {value!r} {wrong}")
    if isinstance(value, dict) and "properties" in schema:
        found += _object(value, schema, where)
    return found


def load(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text())
