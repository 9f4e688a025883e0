#include "runtime/session/RunReport.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace wavesmith {
namespace {

TEST(RunReport, JsonFollowsTheContract) {
  RunReport report;
  report.target = "gfx942";
  report.device = "d";
  report.provider = "jit";
  report.compileMs = 12.5;
  RunKernel kernel{.key = "f00d", .provider = "disk"};
  kernel.info.name = "k";
  kernel.info.vgprs = 200;
  kernel.info.codeSize = 4096;
  report.kernels.push_back(kernel);
  report.errors.emplace();
  report.errors->outMaxAbs = std::nan("");
  report.errors->outRelRms = 1e-3;
  report.checks = {{"memory", 0}, {"races", 3}, {"waits", std::nullopt}};
  report.emulated = {1000, 0.25};
  report.failures = {"x"};
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["kernels"][0]["vgprs"], 200);
  EXPECT_EQ(json["kernels"][0]["code_bytes"], 4096);
  EXPECT_EQ(json["kernels"][0]["provider"], "disk");
  EXPECT_EQ(json["kernels"][0]["key"], "f00d");
  EXPECT_TRUE(json["quantization"].is_null());
  EXPECT_TRUE(json["errors"]["out_max_abs"].is_null());
  EXPECT_EQ(json["errors"]["out_rel_rms"], 1e-3);
  EXPECT_EQ(json["checks"].size(), 8u);
  EXPECT_EQ(json["checks"]["races"], 3);
  EXPECT_TRUE(json["checks"]["waits"].is_null());
  EXPECT_TRUE(json["checks"]["registers"].is_null());
  EXPECT_EQ(json["emulated"]["instructions"], 1000);
  EXPECT_TRUE(json["modelled"].is_null());
  report.modelled = {.chip = "MI325X", .cycles = 2100, .microseconds = 1, .boundBy = "mfma"};
  EXPECT_EQ(nlohmann::json::parse(report.json())["modelled"]["microseconds"], 1);
  EXPECT_TRUE(nlohmann::json::parse(RunReport().json())["errors"].is_null());
}

TEST(RunReport, JsonTellsWhatQuantisersDid) {
  RunReport report;
  report.quantization = {.scales = "static", .rotation = 7, .tensors = {}, .errors = ErrorReport()};
  report.quantization->errors->outRelRms = 0.05;
  report.quantization->tensors[1] = {.saturated = {0, 9}, .relRms = 0.026};
  const auto json = nlohmann::json::parse(report.json())["quantization"];
  EXPECT_EQ(json["scales"], "static");
  EXPECT_EQ(json["rotation"], 7);
  EXPECT_EQ(json["tensors"]["k"]["saturated"][1], 9);
  EXPECT_EQ(json["tensors"]["k"]["codes_rel_rms"], 0.026);
  EXPECT_TRUE(json["tensors"]["q"]["codes_rel_rms"].is_null());
  EXPECT_EQ(json["errors_unquantised"]["out_rel_rms"], 0.05);
}

TEST(RunReport, AMalformedEmulatorReportIsAnError) {
  RunReport report;
  for (const char *bad :
       {"", "[]", "{}", R"({"checks": {}})", R"({"checks": {}, "instructions": -1})",
        R"({"checks": {}, "instructions": 1, "seconds": "x"})",
        R"({"checks": {}, "instructions": 1, "seconds": 2, "modelled": {"chip": "c"}})"})
    EXPECT_EQ(readEmulatorReport(bad, report).code(), StatusCode::Internal) << bad;
  EXPECT_TRUE(readEmulatorReport(
                  R"({"checks": {}, "instructions": 1, "seconds": 2, "faults": [3, {}]})", report)
                  .isOk());
  EXPECT_EQ(report.checks.size(), 8u);
}

} // namespace
} // namespace wavesmith
