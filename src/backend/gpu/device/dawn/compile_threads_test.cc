#include "backend/gpu/device/dawn/compile_threads.h"

#include <algorithm>

#include "backend/gpu/device/device_test_support.h"
#include "base/thread_pool.h"

namespace tern::gpu {
namespace {

using CompileThreads = DeviceTest;

TEST_F(CompileThreads, AreMoreThanTwo) {
  EXPECT_GE(compile_threads(), 2);
  EXPECT_EQ(compile_threads(), std::max(2, std::min(ThreadPool::available_cpus(), 8)));
}

}  // namespace
}  // namespace tern::gpu
