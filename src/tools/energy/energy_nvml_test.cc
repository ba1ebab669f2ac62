#include "tools/energy/energy_nvml.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tern {
namespace {

// A fake NVIDIA driver with these GPUs, behind C functions.
struct MadeUpGpu {
  std::string name;
  unsigned long long millijoules = 0;
  int energy_status = 0;
};
std::vector<MadeUpGpu> made_up_gpus;
int n_begun = 0;

const Nvml kMadeUp = {.init = [] { return ++n_begun, 0; },
                      .shutdown = [] { return --n_begun, 0; },
                      .count = [](unsigned* n) { return *n = static_cast<unsigned>(made_up_gpus.size()), 0; },
                      .device = [](unsigned i, void** device) { return *device = &made_up_gpus[i], 0; },
                      .name =
                          [](void* device, char* name, unsigned size) {
                            std::strncpy(name, static_cast<MadeUpGpu*>(device)->name.c_str(), size);
                            return 0;
                          },
                      .energy =
                          [](void* device, unsigned long long* millijoules) {
                            const auto* gpu = static_cast<MadeUpGpu*>(device);
                            *millijoules = gpu->millijoules;
                            return gpu->energy_status;
                          },
                      .error = [](int status) { return status == 3 ? "Not Supported" : "Unknown Error"; }};

TEST(NvmlReader, CountsTheGpuOfThatName) {
  made_up_gpus = {{.name = "GPU A", .millijoules = 1'000}, {.name = "GPU B", .millijoules = 5'000}};
  {
    const auto reader = open_nvml(kMadeUp, "GPU B");
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ((*reader)->source(), "nvml (GPU B)");
    const double before = (*reader)->joules().value();
    made_up_gpus[0].millijoules += 99'000;
    made_up_gpus[1].millijoules += 2'500;
    EXPECT_DOUBLE_EQ((*reader)->joules().value() - before, 2.5);
    made_up_gpus[1].energy_status = 15;
    EXPECT_EQ((*reader)->joules().error().code, ErrorCode::kIo);
    EXPECT_EQ(n_begun, 1);
  }
  EXPECT_EQ(n_begun, 0);
}

TEST(NvmlReader, SaysWhyNot) {
  made_up_gpus = {
      {.name = "GPU A"}, {.name = "GPU A"}, {.name = "Old", .energy_status = 3}, {.name = std::string(500, 'x')}};
  const auto none = open_nvml(kMadeUp, "GPU");
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  const auto two = open_nvml(kMadeUp, "GPU A");
  EXPECT_EQ(two.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(two.error().message.find("2 GPUs are called GPU A"), std::string::npos) << two.error().message;
  const auto old = open_nvml(kMadeUp, "Old");
  EXPECT_EQ(old.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(old.error().message.find("Not Supported"), std::string::npos) << old.error().message;
  EXPECT_EQ(n_begun, 0) << "what was begun has been ended";
}

TEST(NvmlReader, WithoutTheLibrary) {
  const auto nvml = load_nvml("libno-such-library.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(load_nvml("libm.so.6").error().code, ErrorCode::kNotFound) << "a library without these functions";
}

TEST(NvmlReader, TogetherWithTheProcessors) {
  made_up_gpus = {{.name = "A", .millijoules = 1'000}, {.name = "B", .millijoules = 2'000}};
  const auto both = add_readers(open_nvml(kMadeUp, "A").value(), open_nvml(kMadeUp, "B").value());
  EXPECT_EQ(both->source(), "nvml (A) + nvml (B)");
  EXPECT_DOUBLE_EQ(both->joules().value(), 3);
  made_up_gpus[1].energy_status = 1;
  EXPECT_FALSE(both->joules());
}

}  // namespace
}  // namespace tern
