// Tests whether this device can compute a token's layers as one dispatch (record/layer_path.h), with how many
// workgroups, and how long that takes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/megakernel/megakernel.h"
#include "backend/kv_layout.h"

namespace tern::gpu {

struct MegakernelTrial {
  uint32_t workgroups = 0;  // the fastest number; 0: it cannot be used
  std::string why_not = {};
  // Times of the layers for increasing numbers of rows; empty if the device has no timestamps.
  struct Times {
    int n_rows = 1;
    double seconds = 0, in_steps = 0;
  };
  std::vector<Times> times = {};

  // The number of rows from which the megakernel is faster; none: it is not.
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

// The long history of a trial. In each part, the first blocks are one block repeated, which a workgroup sees in its
// first round; the last ones alternate between two others. So a kernel that skips later blocks gives another result.
struct LongHistory {
  int blocks_of_part = 0, first_blocks = 0;
  int n_positions = 0;  // including the token's own

  LongHistory(const Config& config, const LayersShape& shape, uint32_t parts) {
    const auto at_once = static_cast<int>(shape.workgroup / shape.lanes_of_position());
    const int n_parts = static_cast<int>(parts);
    first_blocks = kv_blocks_for(at_once);
    blocks_of_part = std::clamp(config.n_ctx / (kKvBlock * n_parts), 1, first_blocks + 2);
    const auto most_short =
        static_cast<int>(shape.has_short() ? shape.most_of_short() * shape.short_rounds : 0) * at_once;
    n_positions = std::min(config.n_ctx, std::max(blocks_of_part * n_parts * kKvBlock, most_short + kKvBlock));
  }
  KvBlockId block(int i) const {  // one of kHistoryBlocks
    const int of_part = i % blocks_of_part;
    if (blocks_of_part <= first_blocks) return i % 3;  // there is no room for more
    return of_part < first_blocks ? 0 : 1 + (of_part - first_blocks) % 2;
  }
};
// The blocks of a trial: those of the history, and each row's own, for tokens near the first one (if there are several
// rows) and for tokens far from it.
inline constexpr int kHistoryBlocks = 3;
constexpr int blocks_of_trial(uint32_t rows) { return kHistoryBlocks + static_cast<int>(rows > 1 ? 2 * rows : 1); }

// The number of positions for which the trial needs RoPE's angles.
inline int positions_of_trial(const Config& config, const LayersShape& shape) {
  return std::max(kKvBlock, LongHistory(config, shape, shape.most_splits).n_positions);
}
// Runs tokens on both paths and compares them. `program` must be for a store with that many blocks, which are
// overwritten. Only the device's errors are errors; wrong results and failed waits are reported in the trial.
Result<MegakernelTrial> try_megakernel(Device& device, const Plan& plan, const Program& program,
                                       const WorkBuffers& work, Megakernel& one, int max_batch);

}  // namespace tern::gpu
