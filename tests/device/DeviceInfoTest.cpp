#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::HasSubstr;

class Device : public test::DeviceTest {};
ON_EVERY_DEVICE(Device);

TEST_P(Device, SaysWhatItIs) {
  const DeviceInfo &info = hip->device();
  EXPECT_THAT(info.target, testing::AnyOf("gfx942", "gfx950"));
  EXPECT_GT(info.computeUnits, 0);
  EXPECT_EQ(info.ldsBytes, info.target == "gfx950" ? 160u * 1024 : 64u * 1024);
  EXPECT_FALSE(info.name.empty());
  int warp = 0;
  ASSERT_EQ(hip->hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, info.ordinal),
            hipSuccess);
  EXPECT_EQ(warp, 64);
}

TEST_P(Device, AnOrdinalOutOfRangeIsRefused) {
  int count = 0, value = 0;
  ASSERT_EQ(hip->hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(hip->hipSetDevice(count), hipErrorInvalidDevice);
  EXPECT_EQ(hip->hipSetDevice(-1), hipErrorInvalidDevice);
  EXPECT_EQ(hip->hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, count),
            hipErrorInvalidDevice);
  EXPECT_TRUE(hip->makeCurrent());
}

TEST_P(Device, ErrorsHaveNames) {
  EXPECT_STREQ(hip->hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue");
  EXPECT_STREQ(hip->hipGetErrorName(hipSuccess), "hipSuccess");
  EXPECT_STREQ(hip->hipGetErrorName(hipErrorNoBinaryForGpu), "hipErrorNoBinaryForGpu");
  EXPECT_STRNE(hip->hipGetErrorString(hipErrorOutOfMemory), "");
  EXPECT_NE(hip->hipGetErrorName(static_cast<hipError_t>(2000)), nullptr);
}

TEST_P(Device, EveryChipReportsItsFigures) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "the chip of a real device is what it is";
  struct Row {
    const char *chip, *target;
    int computeUnits;
    std::uint64_t lds;
  };
  for (const Row &row : {Row{"MI300X", "gfx942", 304, 65536}, Row{"MI308X", "gfx942", 80, 65536},
                         Row{"MI350X", "gfx950", 256, 163840}, Row{"MI355X", "gfx950", 256, 163840},
                         Row{"MI325X", "gfx942", 304, 65536}}) {
    ASSERT_EQ(hip->hipDeviceReset(), hipSuccess);
    ASSERT_EQ(hip->wavesmithEmulatorConfigure((std::string("chip=") + row.chip).c_str()), 0)
        << hip->wavesmithEmulatorLastError();
    const auto info = hip->queryDevice(0);
    ASSERT_TRUE(info) << info.status().message();
    EXPECT_THAT(info->name, HasSubstr(row.chip));
    EXPECT_EQ(info->target, row.target);
    EXPECT_EQ(info->computeUnits, row.computeUnits);
    EXPECT_EQ(info->ldsBytes, row.lds);
    hipDeviceProp_t old;
    ASSERT_EQ(hip->hipGetDeviceProperties(&old, 0), hipSuccess);
    EXPECT_THAT(old.gcnArchName, testing::StartsWith(row.target));
    EXPECT_EQ(old.multiProcessorCount, row.computeUnits);
  }
}

TEST_P(Device, BadSettingsNameWhatWouldBeRight) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "settings are the emulator's";
  const auto refused = [&](const char *settings, const char *part) {
    EXPECT_NE(hip->wavesmithEmulatorConfigure(settings), 0) << settings;
    EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr(part)) << settings;
  };
  refused("chip=H100", "want MI325X, MI300X");
  refused("replay=most", "sample or all");
  refused("trace=/no/such/folder/t.json", "folder");
  refused("trace_mib=x", "number");
  refused("target=gfx90a", "want gfx942 or gfx950");
  refused("seed=many", "want a number");
  refused("colour=red", "no such setting");
  refused("fast", "want key=value");
  refused("order=sideways", "sideways");
  refused("checks=memory,nothing", "nothing");
  DeviceBuffer held = buffer(16);
  refused("chip=MI355X", "cannot change from gfx942 to gfx950");
  EXPECT_EQ(hip->wavesmithEmulatorConfigure("order=vmem-early,lds-late,seed=3,checks=memory,waits"),
            0);
  EXPECT_THAT(hip->wavesmithEmulatorConfiguration(), HasSubstr("seed=3,checks=memory,waits"));
}

TEST_P(Device, ChoicesAreParsed) {
  EXPECT_TRUE(parseDeviceChoice("auto"));
  EXPECT_THAT(parseDeviceChoice("cuda").status().message(),
              HasSubstr("want auto, hip or emulator"));
}

} // namespace
} // namespace wavesmith
