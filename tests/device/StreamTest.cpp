#include <atomic>
#include <chrono>
#include <thread>

#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::AnyOf;

/// Holds a stream until it is let go.
struct Gate {
  std::atomic<bool> open{false};
  static void wait(void *argument) {
    auto *gate = static_cast<Gate *>(argument);
    for (int i = 0; i < 20000 && !gate->open; ++i) // a failing test must end
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

class Streams : public test::DeviceTest {
protected:
  Stream stream(unsigned flags = hipStreamNonBlocking) {
    auto made = Stream::create(hip, flags);
    EXPECT_TRUE(made) << made.status().message();
    return made ? *std::move(made) : Stream();
  }
  Event event(unsigned flags = hipEventDefault) {
    auto made = Event::create(hip, flags);
    EXPECT_TRUE(made) << made.status().message();
    return made ? *std::move(made) : Event();
  }
};
ON_EVERY_DEVICE(Streams);

TEST_P(Streams, WorkOfOneStreamRunsInOrder) {
  Stream stream = this->stream();
  DeviceBuffer buffer = this->buffer(4);
  void *pinned = nullptr;
  ASSERT_EQ(hip->hipHostMalloc(&pinned, 64 * 4, 0), hipSuccess);
  auto *seen = static_cast<std::uint32_t *>(pinned);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), i, 1, stream.get()), hipSuccess);
    ASSERT_EQ(hip->hipMemcpyAsync(seen + i, buffer.data(), 4, hipMemcpyDeviceToHost, stream.get()),
              hipSuccess);
  }
  ASSERT_TRUE(stream.synchronize());
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(seen[i], i);
  EXPECT_EQ(hip->hipHostFree(pinned), hipSuccess);
}

TEST_P(Streams, EnqueuingDoesNotWait) {
  if (!hip->hipLaunchHostFunc)
    GTEST_SKIP() << "no hipLaunchHostFunc";
  Stream stream = this->stream();
  Gate gate;
  ASSERT_EQ(hip->hipLaunchHostFunc(stream.get(), Gate::wait, &gate), hipSuccess);
  Event event = this->event();
  ASSERT_TRUE(event.record(stream.get()));
  EXPECT_EQ(hip->hipStreamQuery(stream.get()), hipErrorNotReady);
  EXPECT_EQ(hip->hipEventQuery(event.get()), hipErrorNotReady);
  gate.open = true;
  ASSERT_TRUE(event.synchronize());
  EXPECT_EQ(hip->hipEventQuery(event.get()), hipSuccess);
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(hip->hipStreamQuery(stream.get()), hipSuccess);
  EXPECT_EQ(hip->hipGetLastError(), hipSuccess) << "not-ready is an answer, not an error";
}

TEST_P(Streams, AnEventOrdersTwoStreams) {
  if (hip->isEmulator())
    ASSERT_EQ(hip->wavesmithEmulatorConfigure("streams=random,seed=5"), 0);
  Stream first = stream(), second = stream();
  DeviceBuffer buffer = this->buffer(4);
  for (int i = 0; i < 32; ++i) {
    Event done = event(hipEventDisableTiming);
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), 2 * i, 1, first.get()), hipSuccess);
    ASSERT_TRUE(done.record(first.get()));
    ASSERT_EQ(hip->hipStreamWaitEvent(second.get(), done.get(), 0), hipSuccess);
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), 2 * i + 1, 1, second.get()), hipSuccess);
    ASSERT_TRUE(second.synchronize());
    EXPECT_EQ(words(buffer)[0], static_cast<std::uint32_t>(2 * i + 1));
  }
}

TEST_P(Streams, TheLegacyStreamWaitsForBlockingStreams) {
  if (!hip->hipLaunchHostFunc)
    GTEST_SKIP() << "no hipLaunchHostFunc";
  if (hip->isEmulator())
    ASSERT_EQ(hip->wavesmithEmulatorConfigure("streams=random,seed=9"), 0);
  Stream blocking = stream(hipStreamDefault);
  DeviceBuffer buffer = this->buffer(4);
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), 1, 1, blocking.get()), hipSuccess);
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), 2, 1, nullptr), hipSuccess);
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), 3, 1, blocking.get()), hipSuccess);
    ASSERT_TRUE(blocking.synchronize());
    EXPECT_EQ(words(buffer)[0], 3u);
  }
}

TEST_P(Streams, EventsMeasureTime) {
  Stream stream = this->stream();
  Event start = event(), stop = event();
  ASSERT_TRUE(start.record(stream.get()));
  DeviceBuffer buffer = this->buffer(1 << 20);
  ASSERT_EQ(hip->hipMemsetAsync(buffer.data(), 1, buffer.size(), stream.get()), hipSuccess);
  ASSERT_TRUE(stop.record(stream.get()));
  ASSERT_TRUE(stop.synchronize());
  const auto elapsed = stop.since(start);
  ASSERT_TRUE(elapsed) << elapsed.status().message();
  EXPECT_GE(*elapsed, 0.0f);
  EXPECT_LT(*elapsed, 60000.0f);
}

TEST_P(Streams, TimeOfUnrecordedOrUntimedEventsIsRefused) {
  Event start = event(), stop = event(), untimed = event(hipEventDisableTiming);
  EXPECT_FALSE(stop.since(start));
  ASSERT_TRUE(untimed.record(nullptr));
  ASSERT_TRUE(start.record(nullptr));
  ASSERT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
  EXPECT_FALSE(untimed.since(start));
}

TEST_P(Streams, DestroyedStreamsFinishTheirWork) {
  DeviceBuffer buffer = this->buffer(4);
  {
    Stream stream = this->stream();
    ASSERT_EQ(hip->hipMemsetD32Async(buffer.data(), 77, 1, stream.get()), hipSuccess);
  }
  ASSERT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(words(buffer)[0], 77u);
}

TEST_P(Streams, DeadHandlesAreRefused) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "real HIP follows dead handles";
  const auto dead = reinterpret_cast<hipStream_t>(0x1234500);
  EXPECT_THAT(hip->hipStreamSynchronize(dead), hipErrorInvalidHandle);
  EXPECT_THAT(hip->hipEventSynchronize(reinterpret_cast<hipEvent_t>(dead)), hipErrorInvalidHandle);
  DeviceBuffer buffer = this->buffer(4);
  EXPECT_THAT(hip->hipMemsetAsync(buffer.data(), 0, 4, dead), hipErrorInvalidHandle);
}

TEST_P(Streams, ManyThreadsMayEnqueue) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      if (!hip->makeCurrent())
        ++failures;
      auto stream = Stream::create(hip);
      auto buffer = DeviceBuffer::allocate(hip, 4096);
      for (int i = 0; stream && buffer && i < 50; ++i) {
        if (hip->hipMemsetD32Async(buffer->data(), t * 1000 + i, 1024, stream->get()) != hipSuccess)
          ++failures;
        if (!stream->synchronize())
          ++failures;
        std::uint32_t value = 0;
        if (!buffer->download(std::as_writable_bytes(std::span(&value, 1)), 4092) ||
            value != static_cast<std::uint32_t>(t * 1000 + i))
          ++failures;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

} // namespace
} // namespace wavesmith
