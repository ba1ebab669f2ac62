// Whether this device computes a token's layers as one dispatch (record/one_dispatch.h), with how many workgroups, and
// what that takes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/one_dispatch.h"
#include "backend/kv_layout.h"

namespace tern::gpu {

struct OneDispatchTrial {
  uint32_t workgroups = 0;  // with which it is fastest; 0: it cannot be used
  std::string why_not = {};
  // What the layers take with ever more rows; empty where the device does not tell.
  struct Times {
    int n_rows = 1;
    double seconds = 0, in_steps = 0;
  };
  std::vector<Times> times = {};

  // From how many rows on it is faster; none: it is not.
  std::optional<int> faster_from() const {
    std::optional<int> from;
    for (const Times& t : times) {
      if (t.seconds > 0.97 * t.in_steps) {
        from.reset();
      } else if (!from) {
        from = t.n_rows;
      }
    }
    return from;
  }
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
    const auto most_short =
        static_cast<int>(shape.has_short() ? shape.most_of_short() * shape.short_rounds : 0) * at_once;
    n_positions = std::min(config.n_ctx, std::max(blocks_of_part * n_parts * kKvBlock, most_short + kKvBlock));
  }
  KvBlockId block(int i) const {  // of three
    const int of_part = i % blocks_of_part;
    if (blocks_of_part <= first_blocks) return i % 3;  // there is no room for more
    return of_part < first_blocks ? 0 : 1 + (of_part - first_blocks) % 2;
  }
};
// Those of histories, and each row's own: of tokens near the first, where there are several rows, and of those far from
// it.
inline constexpr int kHistoryBlocks = 3;
constexpr int blocks_of_trial(uint32_t rows) { return kHistoryBlocks + static_cast<int>(rows > 1 ? 2 * rows : 1); }

// How many positions it needs RoPE's angles of.
inline int positions_of_trial(const Config& config, const LayersShape& shape) {
  return std::max(kKvBlock, LongHistory(config, shape, shape.most_splits).n_positions);
}
// Runs tokens in both ways. `program` is of a store with as many blocks as above, which it overwrites. Errors are those
// of the device; wrong results and workgroups that wait in vain are no errors.
Result<OneDispatchTrial> try_one_dispatch(Device& device, const Plan& plan, const Program& program,
                                          const WorkBuffers& work, OneDispatch& one, int max_batch);

}  // namespace tern::gpu
