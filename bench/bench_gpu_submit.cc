// What does the host pay to encode and submit one token's worth of dispatches? Two kernels take turns on two buffers.
// Arguments: dispatches in one submit; validation on. `null` is Dawn's backend that runs nothing: the host's time
// alone.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "backend/gpu/device.h"

namespace tern::gpu {
namespace {

wgsl::Module kernel(const char* term) {
  return {.name = "step",
          .text = std::string("@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
                              "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
                              "@compute @workgroup_size(1) fn step() { y[0] = x[0] + ") +
                  term + "; }\n",
          .bindings = {{.name = "x", .access = wgsl::Access::kRead, .element_bytes = 4},
                       {.name = "y", .access = wgsl::Access::kReadWrite, .element_bytes = 4}},
          .needs = {.matrices = {}, .invocations = 1, .storage_buffers = 2}};
}

void run(benchmark::State& state, Result<std::unique_ptr<Device>> opened) {
  if (!opened) return state.SkipWithError(opened.error().message);
  Device& device = **opened;
  const auto x = device.new_buffer("x", 4, BufferUse::kWork).value();
  const auto y = device.new_buffer("y", 4, BufferUse::kWork).value();
  const Pipeline* forth = device.pipeline(kernel("1u")).value();
  const Pipeline* back = device.pipeline(kernel("2u")).value();
  const BufferView x_to_y[] = {{x.get()}, {y.get()}}, y_to_x[] = {{y.get()}, {x.get()}};
  std::vector<std::unique_ptr<BindGroup>> groups;
  std::vector<Command> commands;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const bool even = i % 2 == 0;
    groups.push_back(device.bind(even ? *forth : *back, even ? x_to_y : y_to_x).value());
    commands.push_back(
        {.pipeline = even ? forth : back, .bindings = groups.back().get(), .grid = {}, .from = {}, .to = {}});
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
BENCHMARK(BM_Submit)->ArgsProduct({{160, 300}, {0, 1}})->ArgNames({"n", "validation"})->UseRealTime();

void BM_SubmitNull(benchmark::State& state) { run(state, open_validation_device(state.range(1) != 0)); }
BENCHMARK(BM_SubmitNull)->ArgsProduct({{160, 300}, {0, 1}})->ArgNames({"n", "validation"})->UseRealTime();

}  // namespace
}  // namespace tern::gpu
