"""The validator finds what it is for; every schema is sound and documented."""

import unittest

import schema


class Validator(unittest.TestCase):
    def check(self, value, rule, good):
        self.assertEqual(schema.problems(value, rule) == [], good, (value, rule))

    def test_keywords(self):
        self.check(3, {"type": "integer"}, True)
        self.check(True, {"type": "integer"}, False)
        self.check(3.5, {"type": "integer"}, False)
        self.check(None, {"type": ["number", "null"]}, True)
        self.check(-1, {"type": "integer", "minimum": 0}, False)
        self.check("ab", {"pattern": "^[a-c]+$", "minLength": 2}, True)
        self.check("ad", {"pattern": "^[a-c]+$"}, False)
        self.check([], {"type": "array", "minItems": 1}, False)
        self.check([1, "x"], {"items": {"type": "integer"}}, False)
        self.check("x", {"enum": ["x", "y"]}, True)
        self.check(True, {"const": False}, False)
        self.check(None, {"anyOf": [{"type": "null"}, {"type": "object"}]}, True)
        self.check(1, {"anyOf": [{"type": "null"}, {"type": "object"}]}, False)
        rule = {
            "type": "object",
            "required": ["a"],
            "additionalProperties": False,
            "properties": {"a": {"type": "string"}},
        }
        self.check({"a": "x"}, rule, True)
        self.check({}, rule, False)
        self.check({"a": "x", "b": 1}, rule, False)
        self.check({"a": 1}, rule, False)
        with self.assertRaises(ValueError):
            schema.problems(1, {"maximum": 3})

    def test_schemas(self):
        cli = (schema.SCHEMAS.parent / "cli.md").read_text()
        found = sorted(path.stem for path in schema.SCHEMAS.glob("*.json"))
        for name in found:
            rule = schema.load(name)
            schema.problems({}, rule)
            self.assertEqual(rule["additionalProperties"], False, name)
            self.assertIn(f"schemas/{name}.json", cli)
        self.assertLessEqual(
            {"run", "build", "exec", "inspect", "targets", "doctor", "error"}, set(found)
        )


if __name__ == "__main__":
    unittest.main()
