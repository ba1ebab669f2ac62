#include "backend/gpu/memory/rope_tables.h"

#include <algorithm>
#include <limits>

#include "backend/rope_table.h"

namespace tern::gpu {
namespace {

constexpr int kFirstPositions = 4096;  // new tables mean that programs must be recorded anew

// The most tokens of a sequence that still uses the frequencies of short sequences. −1: all use the same.
int longest_short(const Config& config) {
  int longest = -1;
  for (const RopeParams& rope : config.ropes) {
    if (rope.is_long(std::numeric_limits<int>::max())) longest = std::max(longest, rope.original_ctx);
  }
  return longest;
}

struct TableRows {
  int n_short, n_long;
};
TableRows rows_for(const Config& config, int n_pos) {
  const int longest = longest_short(config);
  return longest < 0 ? TableRows{n_pos, 0} : TableRows{std::min(n_pos, longest), n_pos};
}

uint64_t row_bytes(const Config& config) { return uint64_t{8} * static_cast<uint64_t>(config.head_dim / 2); }

}  // namespace

RopeTables::RopeTables(Device& device, const Config& config)
    : device_(device), config_(config), tables_(config.ropes.size()) {
  reserve(1);
}

bool RopeTables::is_long(int n_ctx) const {
  return std::ranges::any_of(config_.ropes, [&](const RopeParams& rope) { return rope.is_long(n_ctx); });
}

uint64_t RopeTables::bytes(const Config& config, int n_pos) {
  const TableRows rows = rows_for(config, n_pos);
  return static_cast<uint64_t>(rows.n_short + rows.n_long) * row_bytes(config);
}

void RopeTables::reserve(int n_pos) {
  if (n_pos <= n_pos_) return;
  n_pos_ = std::max({n_pos, 2 * n_pos_, kFirstPositions});
  if (n_pos <= config_.n_ctx) n_pos_ = std::min(n_pos_, config_.n_ctx);
  const TableRows rows = rows_for(config_, n_pos_);
  n_short_ = rows.n_short;
  n_long_ = rows.n_long;
  for (auto& table : tables_) table.reset();
  ++version_;
}

Result<const Buffer*> RopeTables::table(int rope) {
  std::unique_ptr<Buffer>& table = tables_[static_cast<size_t>(rope)];
  if (!table) {
    TRY(auto made, device_.new_buffer("rope", bytes(config_, n_pos_), BufferUse::kWeights));
    TRY_STATUS(fill(rope, *made, 0, n_short_, 0));
    TRY_STATUS(fill(rope, *made, n_short_, n_long_, std::numeric_limits<int>::max()));
    table = std::move(made);
  }
  return table.get();
}

Result<void> RopeTables::fill(int rope, const Buffer& buffer, int first_row, int n_rows, int n_ctx) const {
  constexpr int kAtOnce = 256;
  const RopeParams& params = config_.ropes[static_cast<size_t>(rope)];
  const auto half = static_cast<size_t>(params.rotated(config_.head_dim) / 2);
  RopeTable table(params, config_.head_dim, kAtOnce);
  std::vector<float> pairs;
  for (int first = 0; first < n_rows; first += kAtOnce) {
    const int n = std::min(kAtOnce, n_rows - first);
    table.fill(0, n, first, n_ctx);
    pairs.resize(2 * half * static_cast<size_t>(n));
    for (size_t i = 0; i < pairs.size() / 2; ++i) {
      pairs[2 * i] = table.cos()[i];
      pairs[2 * i + 1] = table.sin()[i];
    }
    TRY_STATUS(device_.write(buffer, static_cast<uint64_t>(first_row + first) * half * 2 * sizeof(float),
                             std::as_bytes(std::span(pairs))));
  }
  return {};
}

}  // namespace tern::gpu
