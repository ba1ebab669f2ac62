// All layers of a ternary model for a token of each of several sequences, in one dispatch whose workgroups stay until
// the end (layers_shape.h). Weights are read, and unpacked, once for all of them.
//
// Every workgroup norms and quantises all rows, each by a team of its invocations. What it needs to know of a row
// before its first value, Σx² and max |x·gain|, those add up who make the values: each workgroup tells of its part.
// And what they tell the others is x·gain, with the gain of the norm that follows.
#pragma once

#include "backend/gpu/kernels/ternary_layers.h"

namespace tern::gpu {

struct TernaryRowsConfig : TernaryLayersConfig {
  uint32_t staged_bytes = 32768;  // of int8 activations in workgroup memory; wider rows go through it in pieces
  uint32_t units_ahead = 3;       // runs of 16 values that an invocation takes together with a row's statistics
  uint32_t rows_added = 2;        // of a product that is added to x, which a group of lanes multiplies together

  uint32_t most_columns() const { return staged_bytes / tokens / 128 * 128; }
  uint32_t pieces(uint32_t cols) const { return (cols + most_columns() - 1) / most_columns(); }

  bool operator==(const TernaryRowsConfig&) const = default;
};

// As the kernel of one row has it, with the rows of x one behind the other. `params` says how many there are, and where
// in its own sequence each is. Grid: [n], n at least least_workgroups(), and as many as run at the same time.
TernaryLayersKernel ternary_rows(const TernaryRowsConfig& c);

bool fits(const TernaryRowsConfig& c);

// As a kernel of so many rows is laid out where that of one is `of_one`.
TernaryRowsConfig rows_config(const TernaryLayersConfig& of_one, uint32_t rows);

}  // namespace tern::gpu
