"""Each check of scripts/lint finds what it is for in a small tree, and nothing in a clean one."""

import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lint"))

import docs_links  # noqa: E402
import file_rules  # noqa: E402
import include_direction  # noqa: E402
import test_presence  # noqa: E402


class LintTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copy(ROOT / "LICENSE", self.root / "LICENSE")

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def problems(self, module):
        names = sorted(p.relative_to(self.root) for p in self.root.rglob("*") if p.is_file())
        return module.check(self.root, names)

    def assertFinds(self, module, *parts):
        problems = self.problems(module)
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def test_clean(self):
        self.put(
            "runtime/support/A.h", "#pragma once\n#include <fmt/format.h>\n#include <vector>\n"
        )
        self.put(
            "runtime/spec/B.cpp",
            '#include "runtime/support/A.h"\n#include "runtime/spec/Toolchain.inc"\n',
        )
        for module in (include_direction, file_rules, test_presence, docs_links):
            self.assertEqual(self.problems(module), [])

    def test_upward_include(self):
        self.put("runtime/spec/B.h", "#pragma once\n")
        self.put("runtime/support/A.h", '#pragma once\n#include "runtime/spec/B.h"\n')
        self.assertFinds(include_direction, "runtime/support/A.h:2", "runtime/spec/B.h")

    def test_llvm_in_runtime(self):
        self.put("runtime/spec/B.cpp", "#include <llvm/ADT/StringRef.h>\n")
        self.assertFinds(include_direction, "runtime/spec/B.cpp:1", "llvm/ADT")

    def test_mlir_in_emulator_by_quotes(self):
        self.put("emulator/B.cpp", '#include "mlir/IR/Builders.h"\n')
        self.assertFinds(include_direction, "emulator/B.cpp:1", "mlir/IR")

    def test_compiler_in_emulator(self):
        self.put("compiler/A.h", "#pragma once\n")
        self.put("emulator/B.cpp", '#include "compiler/A.h"\n')
        self.assertFinds(include_direction, "emulator/B.cpp:1", "compiler/A.h")

    def test_spec_in_emulator(self):
        self.put("runtime/spec/A.h", "#pragma once\n")
        self.put("emulator/B.cpp", '#include "runtime/spec/A.h"\n')
        self.assertFinds(include_direction, "emulator/B.cpp:1")

    def test_relative_include(self):
        self.put("runtime/support/A.h", "#pragma once\n")
        self.put("runtime/support/A.cpp", '#include "A.h"\n')
        self.assertFinds(include_direction, "no path from the repository root")

    def test_unknown_folder(self):
        self.put("stuff/A.cpp", "\n")
        self.assertFinds(include_direction, "no row for this folder")

    def test_long_file(self):
        self.put("runtime/support/A.cpp", "\n" * 601)
        self.assertFinds(file_rules, "601 lines")
        self.put("runtime/support/A.cpp", "\n" * 600)
        self.assertEqual(self.problems(file_rules), [])

    def test_no_pragma_once(self):
        self.put("runtime/support/A.h", "int f();\n")
        self.assertFinds(file_rules, "#pragma once")

    def test_machine_path(self):
        self.put("docs/a.md", "see " + "/ho" + "me/someone/x\n")
        self.assertFinds(file_rules, "docs/a.md:1", "path of one machine")

    def test_open_marker(self):
        self.put("runtime/support/A.cpp", "// TO" + "DO later\n")
        self.assertFinds(file_rules, "finish it")

    def test_licence(self):
        self.put("LICENSE", "do what you like\n")
        self.assertFinds(file_rules, "LICENSE:1")

    def test_pass_without_lit(self):
        self.put(
            "compiler/passes/A.cpp",
            'StringRef getArgument() const final { return "wavesmith-fold"; }\n',
        )
        self.assertFinds(test_presence, "wavesmith-fold")
        self.put("tests/lit/fold-more.mlir", "// RUN: wavesmith-opt --wavesmith-fold-more %s\n")
        self.assertFinds(test_presence, "wavesmith-fold")
        self.put("tests/lit/fold.mlir", "// RUN: wavesmith-opt --wavesmith-fold %s\n")
        self.assertEqual(self.problems(test_presence), [])

    def test_dead_link(self):
        self.put("docs/a.md", "[a](a.md), [b](https://b.example/), [c](../c/d.md#e)\n")
        self.assertFinds(docs_links, "docs/a.md:1", "../c/d.md")

    def test_dead_path(self):
        self.put("docs/a.md", "see `docs/a.md`\nand `runtime/spec/Gone.h`\n")
        self.assertFinds(docs_links, "docs/a.md:2", "runtime/spec/Gone.h")


if __name__ == "__main__":
    unittest.main()
