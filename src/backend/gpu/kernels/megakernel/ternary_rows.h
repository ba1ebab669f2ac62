// The megakernel for several tokens: computes all layers of a ternary model in one dispatch, whose workgroups run until
// the end (layers_shape.h), for one token of each of several sequences. Weights are read and unpacked once for all of
// them.
//
// Every workgroup norms and quantizes all rows, each with a team of its invocations. A row's statistics, Σx² and max
// |x·gain|, are needed before its first value can be quantized, so the workgroups that compute the values add them up:
// each publishes its part. The values that they publish are x·gain, with the gain of the norm that follows.
#pragma once

#include "backend/gpu/kernels/megakernel/ternary_layers.h"

namespace tern::gpu {

struct TernaryRowsConfig : TernaryLayersConfig {
  uint32_t staged_bytes = 32768;  // of int8 activations in workgroup memory; wider rows are staged in pieces
  uint32_t units_ahead = 3;       // runs of 16 values that an invocation loads together with a row's statistics
  uint32_t rows_added = 2;        // for products that are added to x: rows that a group of lanes computes together

  uint32_t most_columns() const { return staged_bytes / tokens / 128 * 128; }
  uint32_t pieces(uint32_t cols) const { return (cols + most_columns() - 1) / most_columns(); }

  bool operator==(const TernaryRowsConfig&) const = default;
};

// Interface like the kernel for one row, with the rows of x one after the other. `params` has the number of rows and
// each row's position in its own sequence. Grid: [n], with n at least least_workgroups(), and at most the number of
// workgroups that run at the same time.
TernaryLayersKernel ternary_rows(const TernaryRowsConfig& c);

bool fits(const TernaryRowsConfig& c);

// The layout for `rows` rows, derived from `of_one`, the layout for one row.
TernaryRowsConfig rows_config(const TernaryLayersConfig& of_one, uint32_t rows);

}  // namespace tern::gpu
