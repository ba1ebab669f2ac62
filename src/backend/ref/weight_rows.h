// Rows of a weight matrix, decoded by the format's own decoder.
#pragma once

#include <vector>

#include "model/source/weights.h"

namespace tern::ref {

// Row `row` of `w`, [w.cols], as the format decodes it, without w.scale.
inline std::vector<float> weight_row(const Tensor& w, int row) {
  const uint64_t bytes = row_bytes(w.format, w.cols);
  std::vector<float> values(static_cast<size_t>(w.cols));
  format_info(w.format).decode(w.data.subspan(static_cast<uint64_t>(row) * bytes, bytes), values);
  return values;
}

}  // namespace tern::ref
