#include "backend/rope_table.h"

#include <cmath>
#include <limits>

namespace tern {

RopeTable::RopeTable(const RopeParams& rope, int head_dim, int max_rows)
    : rope_(rope),
      short_(rope_frequencies(rope, rope.rotated(head_dim), 0)),
      long_(rope_frequencies(rope, rope.rotated(head_dim), std::numeric_limits<int>::max())) {
  cos_.resize(static_cast<size_t>(max_rows) * short_.frequencies.size());
  sin_.resize(cos_.size());
}

void RopeTable::fill(int first_row, int n_rows, int first_pos, int n_ctx) {
  const RopeFrequencies& turns = rope_.is_long(n_ctx) ? long_ : short_;
  size_t at = static_cast<size_t>(first_row) * turns.frequencies.size();
  for (int row = 0; row < n_rows; ++row) {
    for (const double frequency : turns.frequencies) {
      const double angle = (first_pos + row) * frequency;
      cos_[at] = static_cast<float>(turns.magnitude * std::cos(angle));
      sin_[at] = static_cast<float>(turns.magnitude * std::sin(angle));
      ++at;
    }
  }
}

}  // namespace tern
