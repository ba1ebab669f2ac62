// A device and a few kernels for the device tests.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

// Skips the test if the machine has no adapter; otherwise opens one, with validation.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto adapters = list_adapters(); !adapters) GTEST_SKIP() << adapters.error().message;
    open({.validation = true});
  }

  virtual void open(const DeviceOptions& options) {
    auto opened = open_device(options);
    ASSERT_TRUE(opened) << opened.error().message;
    device = std::move(*opened);
  }

  // A buffer that holds these words.
  std::unique_ptr<Buffer> words(const std::vector<uint32_t>& values, BufferUse use = BufferUse::kWork) {
    auto buffer = device->new_buffer("words", values.size() * 4, use).value();
    EXPECT_TRUE(device->write(*buffer, 0, std::as_bytes(std::span(values))));
    return buffer;
  }

  std::vector<uint32_t> read(const Buffer& buffer) {
    std::vector<uint32_t> values(buffer.bytes() / 4);
    const auto status = device->read({&buffer}, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status) << status.error().message;
    return values;
  }

  std::unique_ptr<Device> device;
};

inline std::vector<uint32_t> iota(size_t n, uint32_t first = 0) {
  std::vector<uint32_t> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// y[i] = x[i] + `term`, in workgroups of 64.
inline wgsl::Module add_module(uint32_t term = 1) {
  return {.name = "add",
          .text =
              "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
              "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
              "@compute @workgroup_size(64)\n"
              "fn add(@builtin(global_invocation_id) id: vec3<u32>) {\n"
              "  if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] + " +
              std::to_string(term) + "u; }\n}\n",
          .bindings = {{.name = "x", .access = wgsl::Access::kRead, .element_bytes = 4},
                       {.name = "y", .access = wgsl::Access::kReadWrite, .element_bytes = 4}},
          .needs = {.matrices = {}, .invocations = 64, .storage_buffers = 2}};
}

// A kernel of one invocation with this body.
inline wgsl::Module body_module(const std::string& name, const std::string& body, const std::string& head = "") {
  return {.name = name,
          .text = head + "@compute @workgroup_size(1)\nfn " + name + "() {\n  " + body + "\n}\n",
          .bindings = {},
          .needs = {.matrices = {}, .invocations = 1}};
}

}  // namespace tern::gpu
