"""The validator finds what it is for; every schema is sound and documented."""

import json
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

    def test_limits_and_references(self):
        self.check("abc", {"maxLength": 2}, False)
        self.check([1, 2], {"maxItems": 1}, False)
        self.check({}, {"minProperties": 1}, False)
        self.check(3, {"maxLength": 2, "maxItems": 1, "minProperties": 1}, True)
        rule = {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer", "minimum": 2}}}
        self.check([2, 3], rule, True)
        self.check([2, 1], rule, False)
        with self.assertRaises(ValueError):
            schema.problems([1], {"items": {"$ref": "#/$defs/m"}, "$defs": {}})

    def test_policies_fit_their_schema(self):
        presets = schema.SCHEMAS.parents[1] / "runtime" / "dispatch" / "policy" / "presets"
        files = sorted(presets.glob("*.json"))
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            policy = json.loads(file.read_text())
            self.assertEqual(schema.problems(policy, schema.load("policy")), [], file.name)
            policy["rules"][0]["when"] = {"q_len": {"above": 3}}
            self.assertNotEqual(schema.problems(policy, schema.load("policy")), [], file.name)

    def test_schemas(self):
        cli = (schema.SCHEMAS.parent / "cli.md").read_text()
        policies = (schema.SCHEMAS.parent / "policy.md").read_text()
        found = sorted(path.stem for path in schema.SCHEMAS.glob("*.json"))
        for name in found:
            rule = schema.load(name)
            schema.problems({}, rule)
            self.assertEqual(rule["additionalProperties"], False, name)
            page = cli if name != "policy" else policies
            self.assertIn(f"schemas/{name}.json", page)
        self.assertLessEqual(
            {"run", "build", "exec", "inspect", "targets", "doctor", "error"}, set(found)
        )


if __name__ == "__main__":
    unittest.main()
