"""The part of JSON Schema that docs/schemas uses. A keyword that it does not know is an error, so
that a schema never promises what nobody checks."""

import json
import pathlib
import re

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
_NOTES = {"$schema", "$defs", "title", "description"}
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


def _any_of(value, options, where, root):
    tried = [problems(value, option, where, root) for option in options]
    return [] if any(not found for found in tried) else min(tried, key=len)


def _resolve(reference, root):
    name = reference.removeprefix("#/$defs/")
    if name == reference or name not in root.get("$defs", {}):
        raise ValueError(f"cannot resolve {reference}: only #/$defs/NAME of the same file")
    return root["$defs"][name]


def _object(value, schema, where, root):
    found = []
    known = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            found.append(f"{where}: {name} is missing")
    for name, item in value.items():
        others = schema.get("additionalProperties", True)
        if name in known:
            found += problems(item, known[name], f"{where}.{name}", root)
        elif isinstance(others, dict):
            found += problems(item, others, f"{where}.{name}", root)
        elif others is False:
            found.append(f"{where}: {name} is not in the schema")
    return found


# The limits of a schema: keyword, what it is a limit of, the figure, what breaking it is called.
_LIMITS = {
    "minLength": (str, len, int.__ge__, "is shorter than {}"),
    "maxLength": (str, len, int.__le__, "is longer than {}"),
    "minItems": (list, len, int.__ge__, "has fewer than {} items"),
    "maxItems": (list, len, int.__le__, "has more than {} items"),
    "minProperties": (dict, len, int.__ge__, "has fewer than {} members"),
}


def problems(value, schema, where="$", root=None):
    """What is wrong with the value, as lines; empty when it fits."""
    root = schema if root is None else root
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
        elif key == "$ref":
            found += problems(value, _resolve(wanted, root), where, root)
        elif key == "anyOf":
            found += _any_of(value, wanted, where, root)
        elif key == "minimum":
            if _TYPES["number"](value) and value < wanted:
                wrong = f"is below {wanted}"
        elif key in _LIMITS:
            kind, measure, fits, complaint = _LIMITS[key]
            if isinstance(value, kind) and not fits(measure(value), wanted):
                wrong = complaint.format(wanted)
        elif key == "pattern":
            if isinstance(value, str) and not re.search(wanted, value):
                wrong = f"does not match {wanted}"
        elif key == "items":
            if isinstance(value, list):
                for index, item in enumerate(value):
                    found += problems(item, wanted, f"{where}[{index}]", root)
        else:
            raise ValueError(f"{where}: unknown schema keyword {key}")
        if wrong:
            found.append(f"{where}: {value!r} {wrong}")
    if isinstance(value, dict) and "properties" in schema:
        found += _object(value, schema, where, root)
    return found


def load(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text())
