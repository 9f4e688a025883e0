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
  KernelInfo kernel;
  kernel.name = "k";
  kernel.vgprs = 200;
  kernel.codeSize = 4096;
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
