#include "engine/load/layer_split.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "backend/hybrid/layer_split.h"
#include "base/check.h"
#include "base/text/format_text.h"
#include "base/text/human_numbers.h"

namespace tern {
namespace {

// What the last layers take on a GPU.
uint64_t bytes_of_last(const Model& model, int n_on_gpu, const CompileOptions& compile) {
  constexpr int kConversation = 8192;
  const int n = model.config.n_layers;
  const Plan plan = make_plan(model.config, model.weights,
                              {.fuse = fusions_for(BackendKind::kWebGpu), .layers = LayerRange{n - n_on_gpu, n}});
  return gpu_bytes(plan, compile, std::min(model.config.n_ctx, kConversation));
}

}  // namespace

Result<LayerSplit> split_with(const Config& config, int n_on_gpu) {
  const int n = config.n_layers;
  CHECK(1 <= n_on_gpu && n_on_gpu < n);
  for (int border = n - n_on_gpu; border < n; ++border) {
    if (!may_part_before(config, border)) continue;
    return LayerSplit{.n_on_gpu = n - border,
                      .reason = format_text("{} of {} layers on the GPU, as asked for", n - border, n)};
  }
  return fail(ErrorCode::kNotSupported,
              "the layers of this model cannot be divided between two devices: they share more than their results");
}

Result<LayerSplit> split_by_memory(const Model& model, const CompileOptions& compile) {
  TRY(const FoundGpu gpu, find_gpu(compile.gpu.adapter));
  return split_by_memory(model, gpu, compile);
}

Result<LayerSplit> split_by_memory(const Model& model, const FoundGpu& gpu, const CompileOptions& compile) {
  constexpr int kLeastPart = 8;  // fewer layers than one in so many are not worth a copy in each pass
  if (gpu.memory_bytes == 0) {
    return fail(ErrorCode::kNotFound, "the GPU {} does not tell its memory; give the number of its layers", gpu.name);
  }
  const int n = model.config.n_layers;
  // A screen and other programs have some of it.
  const uint64_t usable = gpu.memory_bytes / 10 * 9;
  const uint64_t whole = bytes_of_last(model, n, compile);
  if (whole <= usable) {
    return fail(ErrorCode::kInvalidArgument, "the GPU {} holds the whole model", gpu.name);
  }
  const auto fits = [&](int n_on_gpu) { return bytes_of_last(model, n_on_gpu, compile) <= usable; };
  const int fitting = *std::ranges::partition_point(std::views::iota(1, n), fits) - 1;
  if (fitting < std::max(n / kLeastPart, 1)) {
    return fail(ErrorCode::kOutOfMemory,
                "the model needs {}, and the GPU {} has {}: too little for {} of its {} layers", human_bytes(whole),
                gpu.name, human_bytes(gpu.memory_bytes), std::max(n / kLeastPart, 1), n);
  }
  TRY(LayerSplit split, split_with(model.config, fitting));
  split.reason = format_text("{} of {} layers on the GPU: the model needs {}, and {} has {}", split.n_on_gpu, n,
                             human_bytes(whole), gpu.name, human_bytes(gpu.memory_bytes));
  return split;
}

std::unique_ptr<Executable> join_split(std::array<std::unique_ptr<Executable>, 2> parts) {
  return hybrid::join_layers(std::move(parts));
}

}  // namespace tern
