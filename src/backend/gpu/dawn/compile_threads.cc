// Dawn compiles pipelines on two threads, whatever the machine has, and a model's first start is little else than that:
// 4 to 6 s on an NVIDIA GPU, of which 16 threads leave 1.5 to 1.7. Who wants more is meant to hand it a platform of
// their own, but the header that says what one looks like is not installed with the library. So this defines the
// function by which Dawn makes its threads in its place: a library calls a program's function where both have one of
// that name. The library's own then makes them, of another number. Where Dawn no longer asks this way, nothing changes,
// but for CompileThreads.AreMoreThanTwo.
#include "backend/gpu/dawn/compile_threads.h"

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
