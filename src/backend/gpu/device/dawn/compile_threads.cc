// Dawn compiles pipelines on two threads, on any machine, and compilation is most of a model's first start: 4 to 6 s on
// an NVIDIA GPU; 16 threads bring it down to 1.5 to 1.7 s. Dawn's way to change the number is a platform object
// supplied by the program, but the header that declares it is not installed with the library. So this file replaces the
// function with which Dawn creates its threads: when a program defines a function that a library also has, the library
// calls the program's. The replacement calls the library's own function with another number. If a future Dawn no longer
// calls it, only the test CompileThreads.AreMoreThanTwo fails.
#include "backend/gpu/device/dawn/compile_threads.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "base/thread_pool.h"

namespace tern::gpu {
namespace {

constexpr int kMostThreads = 16;

std::atomic<int> threads = 0;

}  // namespace

int compile_threads() { return threads; }

}  // namespace tern::gpu

namespace dawn::platform {

class __attribute__((visibility("default"))) WorkerTaskPool {
 public:
  virtual ~WorkerTaskPool();
  static std::unique_ptr<WorkerTaskPool> CreateDawnDefault(uint32_t n_threads);  // NOLINT(*-naming): Dawn's name
};

std::unique_ptr<WorkerTaskPool> WorkerTaskPool::CreateDawnDefault(uint32_t n_threads) {
  using Make = std::unique_ptr<WorkerTaskPool>(uint32_t);
  auto* const make =
      reinterpret_cast<Make*>(dlsym(RTLD_NEXT, "_ZN4dawn8platform14WorkerTaskPool17CreateDawnDefaultEj"));
  const int cpus = tern::ThreadPool::available_cpus();
  CHECK(make != nullptr);
  tern::gpu::threads = std::max(static_cast<int>(n_threads), std::min(cpus, tern::gpu::kMostThreads));
  return make(static_cast<uint32_t>(tern::gpu::threads.load()));
}

}  // namespace dawn::platform
