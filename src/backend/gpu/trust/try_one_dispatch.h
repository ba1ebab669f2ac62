// Whether this device computes a token's layers as one dispatch (record/one_dispatch.h), with how many workgroups, and
// what that takes.
#pragma once

#include <algorithm>
#include <string>

#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/one_dispatch.h"
#include "backend/kv_layout.h"

namespace tern::gpu {

struct OneDispatchTrial {
  uint32_t workgroups = 0;  // with which it is fastest; 0: it cannot be used
  std::string why_not = {};
  double seconds = 0, seconds_in_steps = 0;  // of a token's layers; 0 where the device does not tell
};

// A long history, as a trial has it: of blocks that each part of it has, the first ones are one block again and again,
// which a workgroup sees in its first round, and the last ones two others. Who leaves out what comes later has another
// result.
struct LongHistory {
  int blocks_of_part = 0, first_blocks = 0;
  int n_positions = 0;  // the token's own included

  LongHistory(const Config& config, const LayersShape& shape, uint32_t parts) {
    const auto at_once = static_cast<int>(shape.workgroup / shape.lanes_of_position());
    const int n_parts = static_cast<int>(parts);
    first_blocks = kv_blocks_for(at_once);
    blocks_of_part = std::clamp(config.n_ctx / (kKvBlock * n_parts), 1, first_blocks + 2);
    n_positions = std::min(config.n_ctx, blocks_of_part * n_parts * kKvBlock);
  }
  KvBlockId block(int i) const {  // of three
    const int of_part = i % blocks_of_part;
    if (blocks_of_part <= first_blocks) return i % 3;  // there is no room for more
    return of_part < first_blocks ? 0 : 1 + (of_part - first_blocks) % 2;
  }
};
inline constexpr int kBlocksOfTrial = 4;

// How many positions it needs RoPE's angles of.
inline int positions_of_trial(const Config& config, const LayersShape& shape) {
  return std::max(kKvBlock, LongHistory(config, shape, shape.most_splits).n_positions);
}
// Runs tokens in both ways. `program` is of a store with kBlocksOfTrial blocks, which it overwrites. Errors are those
// of the device; wrong results and workgroups that wait in vain are no errors.
Result<OneDispatchTrial> try_one_dispatch(Device& device, const Plan& plan, const Program& program,
                                          const WorkBuffers& work, const OneDispatch& one, int max_batch);

}  // namespace tern::gpu
