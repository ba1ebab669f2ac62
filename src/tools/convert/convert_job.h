// Describes how one tensor is written to a new GGUF file.
#pragma once

#include <span>
#include <vector>

#include "model/source/source.h"
#include "tools/convert/packing_loss.h"
#include "tools/row_stream.h"

namespace tern {

struct ConvertJob {
  SourceTensor from;
  Format format;
  float scale = 1;              // decoded values are multiplied by it before they are encoded
  float tail_scale = 0;         // I2_S: stored after the last row
  int heads_to_interleave = 0;  // rows (of a bias: values) of this many heads change from halves to adjacent pairs
  std::vector<int> row_order = {}, column_order = {};  // the old index of each; empty: unchanged
  std::span<const float> importance = {};              // of each column, for one expert after another; empty: unknown

  bool is_bias_to_sort() const { return from.shape.size() == 1 && heads_to_interleave > 0; }
  bool is_matrix() const { return from.shape.size() == 3 || (from.shape.size() == 2 && from.shape[0] > 1); }
  int n_experts() const { return from.shape.size() == 3 ? static_cast<int>(from.shape[0]) : 1; }
  int expert_rows() const {
    if (from.shape.size() == 3) return static_cast<int>(from.shape[1]);
    return from.shape.size() == 1 && !is_bias_to_sort() ? 1 : static_cast<int>(from.shape.front());
  }
  int rows() const { return n_experts() * expert_rows(); }
  int cols() const { return is_bias_to_sort() ? 1 : static_cast<int>(from.shape.back()); }
  std::span<const float> importance_of(int row) const {
    if (importance.empty()) return {};
    const auto n = static_cast<size_t>(cols());
    return importance.subspan(static_cast<size_t>(row / expert_rows()) * n, n);
  }
  MatrixInFile in_file() const { return {format, rows(), cols()}; }
  // Every row keeps its bytes, but may move.
  bool keeps_rows() const { return has_same_values() && column_order.empty(); }
  // All rows are copied in one step.
  bool is_copy() const {
    return keeps_rows() && heads_to_interleave == 0 && row_order.empty() && format != Format::kI2_S;
  }
  // Values are encoded again and may change. (Encoding to I2_S takes codes, and none of them changes.)
  bool is_packing() const { return !has_same_values() && format != Format::kI2_S; }
  bool has_same_values() const { return from.format == format && (scale == 1 || format == Format::kI2_S); }
};

// Fills `out` with rows [first, first + losses.size()), each with its own blocks, and `losses` with each row's loss.
void make_rows(const ConvertJob& job, int first, MutableBytes out, std::span<PackingLoss> losses);

}  // namespace tern
