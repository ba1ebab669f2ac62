// What does the host pay to encode and submit one token's dispatches, and for what? One submit has `n` dispatches, each
// with `weights` read-only buffers of its own. With `chained`, two buffers are alternately read and written, so that
// every dispatch waits for the previous one; otherwise each writes its own buffer. With `switching`, two kernels
// alternate. BM_SubmitNull uses Dawn's backend that runs nothing, and so measures Dawn's own cost.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {
namespace {

wgsl::Module kernel(int n_weights, const char* term) {
  wgsl::Module module{.name = "step", .text = "", .bindings = {}, .needs = {.matrices = {}, .invocations = 1}};
  std::string sum = term;
  const auto add = [&](const std::string& name, const char* access, wgsl::Access kind) {
    module.text += "@group(0) @binding(" + std::to_string(module.bindings.size()) + ") var<storage, " + access + "> " +
                   name + ": array<u32>;\n";
    module.bindings.push_back({.name = name, .access = kind, .element_bytes = 4});
  };
  add("x", "read", wgsl::Access::kRead);
  add("y", "read_write", wgsl::Access::kReadWrite);
  for (int i = 0; i < n_weights; ++i) {
    add("w" + std::to_string(i), "read", wgsl::Access::kRead);
    sum += " + w" + std::to_string(i) + "[0]";
  }
  module.text += "@compute @workgroup_size(1) fn step() { y[0] = x[0] + " + sum + "; }\n";
  module.needs.storage_buffers = static_cast<uint32_t>(module.bindings.size());
  return module;
}

struct Shape {
  int64_t n, weights;
  bool chained, switching;
};

void run(benchmark::State& state, Result<std::unique_ptr<Device>> opened) {
  if (!opened) return state.SkipWithError(opened.error().message);
  Device& device = **opened;
  const Shape shape{state.range(0), state.range(2), state.range(3) != 0, state.range(4) != 0};
  std::vector<std::unique_ptr<Buffer>> buffers;
  const auto new_view = [&] {
    buffers.push_back(device.new_buffer("b", 256, BufferUse::kWork).value());
    return BufferView{buffers.back().get(), 0, 0};
  };
  const BufferView x = new_view(), y = new_view();
  const Pipeline* kernels[] = {device.pipeline(kernel(static_cast<int>(shape.weights), "1u")).value(),
                               device.pipeline(kernel(static_cast<int>(shape.weights), "2u")).value()};
  std::vector<std::unique_ptr<BindGroup>> groups;
  std::vector<Command> commands;
  for (int64_t i = 0; i < shape.n; ++i) {
    const bool odd = i % 2 == 1;
    std::vector<BufferView> views = {odd && shape.chained ? y : x, shape.chained ? (odd ? x : y) : new_view()};
    for (int64_t w = 0; w < shape.weights; ++w) views.push_back(new_view());
    const Pipeline* pipeline = kernels[odd && shape.switching ? 1 : 0];
    groups.push_back(device.bind(*pipeline, views).value());
    commands.push_back({.pipeline = pipeline, .bindings = groups.back().get(), .grid = {}, .from = {}, .to = {}});
  }
  for (auto _ : state) {
    if (const auto status = device.submit(commands); !status) return state.SkipWithError(status.error().message);
    state.PauseTiming();
    if (const auto status = device.wait(); !status) return state.SkipWithError(status.error().message);
    state.ResumeTiming();
  }
  state.SetLabel(device.adapter().name);
  state.counters["s_per_dispatch"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_Submit(benchmark::State& state) { run(state, open_device({.validation = state.range(1) != 0})); }
void BM_SubmitNull(benchmark::State& state) { run(state, open_validation_device(state.range(1) != 0)); }

void arguments(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "validation", "weights", "chained", "switching"})->UseRealTime();
  b->Args({156, 0, 0, 1, 1})->Args({156, 1, 0, 1, 1});
  b->Args({156, 0, 0, 0, 0})->Args({156, 0, 0, 1, 0})->Args({156, 0, 0, 0, 1});
  b->Args({156, 0, 6, 1, 1})->Args({156, 0, 6, 0, 1})->Args({300, 0, 6, 1, 1});
}
BENCHMARK(BM_Submit)->Apply(arguments);
BENCHMARK(BM_SubmitNull)->Apply(arguments);

}  // namespace
}  // namespace tern::gpu
