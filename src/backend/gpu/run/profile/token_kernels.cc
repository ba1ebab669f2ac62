// The kernels of a decoded token: their texts, and each one's share of its time.
#include <algorithm>
#include <array>
#include <map>

#include "backend/gpu/run/executable.h"
#include "backend/kv_layout.h"
#include "base/median.h"

namespace tern::gpu {
namespace {

// A token's commands, grouped by kernel text in order of first use.
class KernelsOfToken {
 public:
  explicit KernelsOfToken(std::span<const Command> commands) {
    std::map<std::string_view, size_t> index;
    for (const Command& command : commands) {
      const wgsl::Module& module = command.pipeline->module();
      const auto [at, is_new] = index.try_emplace(module.text, kernels.size());
      if (is_new) kernels.push_back({.name = module.name, .wgsl = module.text});
      ++kernels[at->second].dispatches;
      kernel_of.push_back(at->second);
    }
  }

  std::vector<GpuKernel> kernels;
  std::vector<size_t> kernel_of;  // per command
};

}  // namespace

Result<std::vector<Command>> GpuExecutable::last_token_again() const {
  std::vector<Command> commands;
  const auto store = stats_.last.store.lock();
  const auto is_there = [&](KvBlockId block) { return store->has_room_for(block); };
  if (!store || !std::ranges::all_of(stats_.last.blocks, is_there)) return commands;
  const int pos = std::min(stats_.last.n_pos, stats_.last.n_ctx - 1);
  std::vector<KvBlockId> blocks = stats_.last.blocks;
  blocks.resize(static_cast<size_t>(kv_blocks_for(pos + 1)));
  blocks.back() = PreparedStore::kSpare;
  const TokenId token = 0;
  const Slice slice{.tokens = {&token, 1},
                    .first_pos = pos,
                    .n_best = stats_.last.n_best,
                    .blocks = blocks,
                    .n_ctx = stats_.last.n_ctx};
  // The spare state has no other place: what it becomes does not matter.
  TRY(RunShape shape, put(*store, {&slice, 1}, 0, work_->has_states()));
  shape = choose_layer_path(shape, *store);
  shape.embeds_next = shape.is_embedded = stats_.last.embeds_next;
  TRY_STATUS(layer_path_->ready(shape));
  store->program().commands(shape, commands);
  if (stats_.last.sampler) stats_.last.sampler->commands(shape, commands);
  return commands;
}

Result<std::vector<GpuKernel>> GpuExecutable::gpu_kernels() {
  TRY(std::vector<Command> commands, last_token_again());
  KernelsOfToken token(commands);
  if (commands.empty() || !device_->features().timestamps) return std::move(token.kernels);
  // Three times, because the GPU may be asleep at the first.
  std::vector<std::array<double, 3>> seconds(token.kernels.size());
  for (size_t repeat = 0; repeat < 3; ++repeat) {
    TRY(commands, last_token_again());
    TRY(const auto times, device_->time(commands));
    for (size_t i = 0; i < times.size(); ++i) seconds[token.kernel_of[i]][repeat] += times[i];
  }
  for (size_t i = 0; i < seconds.size(); ++i) token.kernels[i].us = median(seconds[i]) * 1e6;
  return std::move(token.kernels);
}

std::optional<GpuAdapter> GpuExecutable::gpu_adapter() const {
  const AdapterInfo& info = device_->adapter();
  const Features& f = device_->features();
  GpuAdapter adapter{.name = info.name,
                     .vendor = info.vendor,
                     .driver = info.driver,
                     .features = {},
                     .failed_tests = checks_.failed_tests};
  if (f.f16) adapter.features.emplace_back("f16");
  if (f.subgroups) adapter.features.emplace_back("subgroups");
  if (!f.matrices.empty()) adapter.features.emplace_back("subgroup-matrix");
  if (f.packed_dot) adapter.features.emplace_back("dot4");
  if (f.timestamps) adapter.features.emplace_back("timestamps");
  return adapter;
}

}  // namespace tern::gpu
