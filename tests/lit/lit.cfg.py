"""Shared by the suites of tests/lit and templates: shell lines, our tools and LLVM's on PATH."""

# ruff: noqa: F821 (lit defines config and lit_config)

import os

import lit.formats

if not hasattr(config, "suite_source"):
    lit_config.fatal("run lit on the build tree: ninja check-lit, or lit <build>/lit")

config.name = f"wavesmith-{config.suite_name}"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = config.suite_source
config.test_exec_root = config.suite_output
config.environment["PATH"] = os.pathsep.join(
    [config.wavesmith_tools, config.llvm_tools, os.environ.get("PATH", "")]
)
templates = os.path.join(os.path.dirname(__file__), "../../templates")
config.substitutions.append(("%templates", templates))
