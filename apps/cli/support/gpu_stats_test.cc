#include "cli/support/gpu_stats.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

TEST(GpuStats, ShowsEverythingThatWasMeasured) {
  const GpuStats stats = {.dispatches_per_token = 153,
                          .shaders = 14,
                          .pipeline_hit_rate = 0.93,
                          .disk_hits = 13,
                          .compile_seconds = 0.12,
                          .upload_seconds = 0.5,
                          .upload_bytes = 1'200'000'000,
                          .device_bytes = 1'300'000'000,
                          .gpu_ms_per_token = 1.25,
                          .host_ms_per_token = 0.05,
                          .record_ms_per_token = 0.3};
  EXPECT_EQ(gpu_stats_lines(stats),
            (Lines{{"gpu", "153 dispatches a token"},
                   {"gpu time",
                    "1.250 ms a token on the GPU, 0.0500 ms waiting for the host, 0.3000 ms of recording alongside"},
                   {"shaders", "14, compiled in 120 ms, 93 % of pipelines reused, 13 from the cache on disk"},
                   {"upload", "1.20 GB, took 500 ms, 2.40 GB/s"},
                   {"gpu memory", "1.30 GB"}}));
}

TEST(GpuStats, LeavesOutWhatWasNot) {
  EXPECT_EQ(gpu_stats_lines({}), Lines{});
  EXPECT_EQ(gpu_stats_lines({.host_ms_per_token = 2}), (Lines{{"gpu time", "2.000 ms waiting for the host"}}));
  EXPECT_EQ(gpu_stats_lines({.disk_hits = 3}), (Lines{{"shaders", "3 from the cache on disk"}}));
  EXPECT_EQ(gpu_stats_lines({.upload_seconds = 2}), (Lines{{"upload", "took 2.00 s"}}));
}

}  // namespace
}  // namespace tern::cli
