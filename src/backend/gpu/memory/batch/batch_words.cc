#include "backend/gpu/memory/batch/batch_words.h"

#include <algorithm>
#include <climits>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/delta/delta.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/kv_layout.h"
#include "base/check.h"

namespace tern::gpu {

namespace {

// The blocks that hold the slice's positions and n_more after them.
std::span<const KvBlockId> blocks_of(const Slice& slice, int n_more) {
  const int end = slice.first_pos + static_cast<int>(slice.tokens.size()) + n_more;
  CHECK(!slice.tokens.empty() && slice.first_pos >= 0 && end <= slice.n_ctx);
  CHECK(kv_blocks_for(end) <= std::ssize(slice.blocks));
  return slice.blocks.first(static_cast<size_t>(kv_blocks_for(end)));
}

}  // namespace

int slice_tokens_estimate(Batch batch) {
  int n_tokens = 0, shortest = INT_MAX;
  for (const Slice& slice : batch) {
    n_tokens += static_cast<int>(slice.tokens.size());
    shortest = std::min(shortest, static_cast<int>(slice.tokens.size()));
  }
  return std::max(shortest, n_tokens / (4 * std::max(1, static_cast<int>(batch.size()))));
}

int n_best(Batch batch) {
  int most = 0;
  for (const Slice& slice : batch) {
    if (slice.n_logit_rows() == 0) continue;
    if (slice.n_best == 0) return 0;
    most = std::max(most, slice.n_best);
  }
  return most;
}

void BatchWords::set(Batch batch, const RopeTables& ropes, int n_more) {
  shape = {.n_tokens = 0,
           .n_logit_rows = 0,
           .n_sequences = static_cast<int>(batch.size()),
           .n_pos = 0,
           .is_decode_batch = true,
           .slice_tokens_estimate = slice_tokens_estimate(batch),
           .n_best = n_best(batch)};
  tokens.clear();
  for (const Slice& slice : batch) {
    const int n = static_cast<int>(slice.tokens.size());
    tokens.insert(tokens.end(), slice.tokens.begin(), slice.tokens.end());
    shape.n_tokens += n;
    shape.n_logit_rows += slice.n_logit_rows();
    shape.n_pos = std::max(shape.n_pos, slice.first_pos + n);
    shape.is_decode_batch = shape.is_decode_batch && n == 1;
  }
  const auto logit_rows = kFirstRow + kRowWords * static_cast<uint32_t>(shape.n_tokens) + 1;
  params.assign({static_cast<uint32_t>(shape.n_tokens), logit_rows, 0});
  auto table = logit_rows + static_cast<uint32_t>(shape.n_logit_rows);
  for (const Slice& slice : batch) {
    const int n = static_cast<int>(slice.tokens.size());
    for (int i = 0; i < n; ++i) {
      params.insert(params.end(), {static_cast<uint32_t>(slice.first_pos + i), table, ropes.first_row(slice.n_ctx)});
    }
    table += static_cast<uint32_t>(blocks_of(slice, n_more).size());
  }
  params.push_back(static_cast<uint32_t>(shape.n_logit_rows));
  uint32_t end = 0;
  for (const Slice& slice : batch) {
    end += static_cast<uint32_t>(slice.tokens.size());
    for (auto row = end - static_cast<uint32_t>(slice.n_logit_rows()); row < end; ++row) params.push_back(row);
  }
  for (const Slice& slice : batch) {
    for (const KvBlockId block : blocks_of(slice, n_more)) params.push_back(GpuKvStore::place(block));
  }
}

void BatchWords::set_sequences(Batch batch, const GpuKvStore& store, bool moves) {
  CHECK(batch.size() <= kMostSequences);
  sequences.assign(kSequenceOfRow, 0);
  uint32_t first = 0;
  for (uint32_t i = 0; i < batch.size(); ++i) {
    const Slice& slice = batch[i];
    uint32_t* const words = sequences.data() + size_t{kSequenceWords} * i;
    words[kFirstRowOf] = first;
    words[kRowsOf] = static_cast<uint32_t>(slice.tokens.size());
    words[kStateOf] = store.state_place(slice.state);
    words[kStateTo] = moves ? store.other_place(slice.state) : words[kStateOf];
    words[kIsNew] = slice.first_pos == 0 ? 1 : 0;
    first += words[kRowsOf];
    sequences.insert(sequences.end(), slice.tokens.size(), i);
  }
}

Result<void> BatchWords::write(Device& device, const WorkBuffers& work) const {
  TRY_STATUS(device.write(work.params(), 0, std::as_bytes(std::span(params))));
  if (work.has_states()) TRY_STATUS(device.write(work.sequences(), 0, std::as_bytes(std::span(sequences))));
  return device.write(work.tokens(), 0, std::as_bytes(std::span(tokens)));
}

}  // namespace tern::gpu
