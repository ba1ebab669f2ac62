#include <gtest/gtest.h>

#include <algorithm>

#include "base/thread_pool.h"
#include "tern/tools.h"

namespace tern {
namespace {

TEST(BenchKernels, MeasuresEveryKernel) {
  uint64_t done = 0, total = 0;
  const auto result = bench_kernels(
      {.rows = 70, .cols = 300, .n_threads = 2, .repeats = 3, .cached = true, .on_progress = [&](const Progress& p) {
         done = p.done, total = p.total;
       }});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_GE(result->kernels.size(), 10u);
  EXPECT_EQ(done, result->kernels.size());
  EXPECT_EQ(total, result->kernels.size());
  EXPECT_EQ(result->n_threads, std::min(2, ThreadPool::available_cpus()));
  EXPECT_NEAR(result->result_rms, 1, 0.5);
  for (const KernelBench& kernel : result->kernels) {
    SCOPED_TRACE(kernel.name);
    EXPECT_EQ(kernel.runs, 3);
    EXPECT_EQ(kernel.copies, 1);
    EXPECT_GT(kernel.ms.min, 0);
    EXPECT_LE(kernel.ms.min, kernel.ms.median);
    EXPECT_LE(kernel.ms.median, kernel.ms.max);
    EXPECT_DOUBLE_EQ(kernel.gb_per_s, static_cast<double>(kernel.bytes) / kernel.ms.median / 1e6);
    EXPECT_DOUBLE_EQ(kernel.share, kernel.gb_per_s / kernel.read_gb_per_s);
    EXPECT_DOUBLE_EQ(kernel.bits_per_weight, 8.0 * static_cast<double>(kernel.bytes) / (70 * 300));
    EXPECT_LT(kernel.max_error, kernel.activations == "int8" ? 0.1 : 1e-4);
  }
}

TEST(BenchKernels, BitsPerWeight) {
  const auto result = bench_kernels({.rows = 128, .cols = 1280, .n_threads = 1, .repeats = 1, .cached = true});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  for (const KernelBench& kernel : result->kernels) {
    const double expected = kernel.packing == "f32" ? 32 : kernel.packing == "2-bit" ? 2 : 1.6;
    EXPECT_NEAR(kernel.bits_per_weight, expected, 0.1) << kernel.name;
  }
}

TEST(BenchKernels, CopiesLeaveTheCache) {
  const auto result = bench_kernels({.rows = 256, .cols = 4096, .n_threads = 1, .repeats = 1});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  for (const KernelBench& kernel : result->kernels) {
    const uint64_t bytes = static_cast<uint64_t>(kernel.copies) * kernel.bytes;
    EXPECT_GE(bytes, uint64_t{64} << 20) << kernel.name;
    EXPECT_GE(bytes, 2 * result->cache_bytes) << kernel.name;
  }
}

TEST(BenchKernels, AnyShapeAndThreadCount) {
  struct Case {
    int64_t rows, cols;
    int n_threads;
  };
  for (const auto& [rows, cols, n_threads] : {Case{1, 1, 1}, {1, 128, 0}, {3, 5, 200}, {65, 129, 3}}) {
    const auto result =
        bench_kernels({.rows = rows, .cols = cols, .n_threads = n_threads, .repeats = 1, .cached = true});
    EXPECT_TRUE(result.has_value()) << rows << "x" << cols << ": " << result.error().message;
  }
}

TEST(BenchKernels, RefusesWhatMakesNoSense) {
  for (const KernelBenchOptions& options : {KernelBenchOptions{.rows = 0},
                                            {.cols = 0},
                                            {.rows = -1},
                                            {.cols = (1 << 22) + 1},
                                            {.n_threads = -1},
                                            {.n_threads = 1025},
                                            {.repeats = -1}}) {
    const auto result = bench_kernels(options);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(BenchKernels, MatricesBeyondTheMemory) {
  const auto result = bench_kernels({.rows = 1'000'000, .cols = 1'000'000});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(result.error().message.find("smaller matrix"), std::string::npos) << result.error().message;
}

}  // namespace
}  // namespace tern
