// Rows of a weight matrix, decoded by the format's own decoder, and rows of a float layer's input.
#pragma once

#include <vector>

#include "backend/ops.h"
#include "model/source/weights.h"

namespace tern::ref {

// Row `row` of `w`, [w.cols], as the format decodes it, without w.scale.
inline std::vector<float> weight_row(const Tensor& w, int row) {
  const uint64_t bytes = row_bytes(w.format, w.cols);
  std::vector<float> values(static_cast<size_t>(w.cols));
  format_info(w.format).decode(w.data.subspan(static_cast<uint64_t>(row) * bytes, bytes), values);
  return values;
}

// Row `r` of the input as floats; int8 blocks are dequantized.
inline std::vector<double> input_row(const ops::FloatRows& in, int r, size_t cols) {
  std::vector<double> row(cols);
  const size_t first = static_cast<size_t>(r) * cols;
  for (size_t i = 0; i < cols; ++i) {
    const size_t at = first + i;
    row[i] = in.x ? static_cast<double>(in.x[at])
                  : static_cast<double>(in.blocks.q[at]) * static_cast<double>(in.blocks.scale[at / kInt8Block]);
  }
  return row;
}

}  // namespace tern::ref
