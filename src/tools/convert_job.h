// How one tensor gets into a new GGUF file.
#pragma once

#include <span>

#include "model/source.h"
#include "tools/packing_loss.h"
#include "tools/row_stream.h"

namespace tern {

struct ConvertJob {
  SourceTensor from;
  Format format;
  float scale = 1;              // what decoded values are multiplied with before they are encoded
  float tail_scale = 0;         // I2_S: goes behind the last row
  int heads_to_interleave = 0;  // rows (of a bias: values) of so many heads go from halves to neighbouring pairs
  std::span<const float> importance = {};  // of each column; empty: not known

  bool is_bias_to_sort() const { return from.shape.size() == 1 && heads_to_interleave > 0; }
  bool is_matrix() const { return from.shape.size() == 2 && from.shape[0] > 1; }
  int rows() const { return from.shape.size() == 1 && !is_bias_to_sort() ? 1 : static_cast<int>(from.shape.front()); }
  int cols() const { return is_bias_to_sort() ? 1 : static_cast<int>(from.shape.back()); }
  MatrixInFile in_file() const { return {format, rows(), cols()}; }
  // Every row keeps its bytes, though not always its place.
  bool keeps_rows() const { return from.format == format && (scale == 1 || format == Format::kI2_S); }
  // The bytes of all rows are copied at once.
  bool is_copy() const { return keeps_rows() && heads_to_interleave == 0 && format != Format::kI2_S; }
  // Values are encoded anew, and may change. (Encoding I2_S takes codes, and none of them changes.)
  bool is_packing() const { return !keeps_rows() && format != Format::kI2_S; }
};

// Fills `out` with rows [first, first + losses.size()), each with blocks of its own, and `losses` with what they lost.
void make_rows(const ConvertJob& job, int first, MutableBytes out, std::span<PackingLoss> losses);

}  // namespace tern
