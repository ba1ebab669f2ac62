#include "backend/rope_table.h"

#include <cmath>

namespace tern {

RopeTable::RopeTable(float theta, int head_dim, int max_rows) {
  const int half = head_dim / 2;
  for (int i = 0; i < half; ++i) frequencies_.push_back(std::pow(static_cast<double>(theta), -2.0 * i / head_dim));
  cos_.resize(static_cast<size_t>(max_rows) * static_cast<size_t>(half));
  sin_.resize(cos_.size());
}

void RopeTable::fill(int first_pos, int n_rows) {
  size_t at = 0;
  for (int row = 0; row < n_rows; ++row) {
    for (const double frequency : frequencies_) {
      const double angle = (first_pos + row) * frequency;
      cos_[at] = static_cast<float>(std::cos(angle));
      sin_[at] = static_cast<float>(std::sin(angle));
      ++at;
    }
  }
}

}  // namespace tern
