// Cosines and sines of RoPE for the rows of a batch: computed once and used by every layer.
#pragma once

#include <vector>

namespace tern {

// cos and sin of pos · theta^(−2i/head_dim), i < head_dim/2. Angles are computed in double precision, so that positions
// in the thousands keep all the bits that a float cosine can show.
class RopeTable {
 public:
  RopeTable(float theta, int head_dim, int max_rows);
  void fill(int first_pos, int n_rows);
  const float* cos() const { return cos_.data(); }  // [n_rows, head_dim / 2]
  const float* sin() const { return sin_.data(); }

 private:
  std::vector<double> frequencies_;
  std::vector<float> cos_, sin_;
};

}  // namespace tern
