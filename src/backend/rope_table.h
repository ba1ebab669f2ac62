// Cosines and sines of RoPE for the rows of a batch: computed once and used by every layer.
#pragma once

#include <vector>

#include "model/source/rope.h"

namespace tern {

// Angles are computed in double precision, so that at positions in the thousands the float cosines are still exact to
// the last bit.
class RopeTable {
 public:
  RopeTable(const RopeParams& rope, int head_dim, int max_rows);
  // Fills n_rows rows from first_row on, for positions first_pos and after of a sequence of at most n_ctx tokens.
  void fill(int first_row, int n_rows, int first_pos, int n_ctx = 0);
  const float* cos() const { return cos_.data(); }  // [n_rows, head_dim / 2]
  const float* sin() const { return sin_.data(); }

 private:
  RopeParams rope_;
  RopeFrequencies short_, long_;
  std::vector<float> cos_, sin_;
};

}  // namespace tern
