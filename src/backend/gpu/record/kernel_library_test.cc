// Kernels are traced once per maker and arguments.
#include "backend/gpu/record/kernel_library.h"

#include "backend/gpu/device/device_test_support.h"
#include "backend/gpu/kernels/elementwise.h"

namespace tern::gpu {
namespace {

int n_traced = 0;

AddKernel counted_add(const RowsConfig& c) {
  ++n_traced;
  return add(c);
}

SoftcapKernel counted_softcap(const RowsConfig& c, float cap) {
  ++n_traced;
  return softcap(c, cap);
}

using KernelLibraryTest = DeviceTest;

TEST_F(KernelLibraryTest, TracesOnceForTheSameArguments) {
  KernelLibrary kernels(*device);
  n_traced = 0;
  const TracedKernel<AddKernel> small = kernels.traced(counted_add, {.width = 64});
  const TracedKernel<AddKernel> large = kernels.traced(counted_add, {.width = 640});
  EXPECT_EQ(n_traced, 2);
  EXPECT_EQ(small.module.text, add({.width = 64}).module.text);
  EXPECT_EQ(large.module.text, add({.width = 640}).module.text);
  EXPECT_EQ(&kernels.traced(counted_add, {.width = 64}).module, &small.module);
  EXPECT_EQ(n_traced, 2);

  // Every argument counts, and so does the function that makes the kernel.
  EXPECT_EQ(kernels.traced(counted_softcap, {.width = 64}, 20.0f).module.text, softcap({.width = 64}, 20).module.text);
  EXPECT_EQ(kernels.traced(counted_softcap, {.width = 64}, 30.0f).module.text, softcap({.width = 64}, 30).module.text);
  EXPECT_EQ(kernels.traced(add_bias, {.width = 64}).module.text, add_bias({.width = 64}).module.text);
  EXPECT_EQ(n_traced, 4);
}

}  // namespace
}  // namespace tern::gpu
