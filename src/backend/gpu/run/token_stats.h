// What is known about decoded tokens, for gpu_stats and gpu_kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/gpu/record/prepared_store.h"

namespace tern::gpu {

struct TokenStats {
  struct Last {
    std::weak_ptr<const PreparedStore> store;
    std::vector<KvBlockId> blocks;
    int n_ctx = 0;
    const Program* sampler = nullptr;  // null: sampled on the host
    int n_pos = 0;
    int n_best = 0;
    bool embeds_next = false;
    int dispatches = 0;
  };
  Last last;                   // the last decoded token
  int n_layer_dispatches = 0;  // of the step whose choice is queued apart from its layers
  int n_streams = 0;           // that are alive
  uint64_t n_decoded = 0;
  double record_seconds = 0;  // spent recording and submitting the decoded tokens
  uint64_t n_streamed = 0;    // decoded tokens that followed another one in a stream
  double stream_seconds = 0;  // from each of those to the next, as the stream's reader saw it
};

}  // namespace tern::gpu
