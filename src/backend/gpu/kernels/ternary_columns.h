// The ternary layers of a few tokens (of as many sequences, or of a prompt's end): a workgroup reads its weights once
// and multiplies them with several rows of activations, which it norms and quantises itself. Each row of results, and
// of statistics, has the bits that the kernels for one row give (norm_fused.h, ternary_qkv.h).
#pragma once

#include <optional>

#include "backend/gpu/kernels/norm_fused.h"
#include "backend/gpu/kernels/ternary_qkv.h"

namespace tern::gpu {

struct ColumnsConfig {
  uint32_t columns = 4;         // rows of x that a workgroup multiplies: a power of two
  uint32_t norm_workgroup = 0;  // invocations of the kernel for one row, in whose order statistics are added up

  bool operator==(const ColumnsConfig&) const = default;
};

// Rows that slots have room for beyond the batch: the last workgroups read and write whole groups of columns, where the
// rows past the end mean nothing.
inline constexpr uint32_t kMostColumns = 8;

// Bytes of workgroup memory that any of the kernels takes, at most.
uint32_t columns_bytes(const TernaryConfig& c, const ColumnsConfig& columns);

// Whether there are such kernels for this layout: a row's sums are made within a subgroup, and so are the parts of its
// statistics.
bool has_columns(const TernaryConfig& c, const ColumnsConfig& columns);

// Interfaces as those of one row, with a grid of [⌈rows / rows_per_workgroup⌉, ⌈n_tokens / columns⌉].
NormedMatvecAddKernel normed_matvec_add_columns(const TernaryConfig& c, const NormConfig& norm,
                                                const ColumnsConfig& columns);
NormedGluKernel normed_glu_columns(const TernaryConfig& c, const NormConfig& norm, const ColumnsConfig& columns);
template <class KvWord>
NormedQkvKernel<KvWord> normed_qkv_columns(const TernaryQkvConfig& c, const NormConfig& norm,
                                           const ColumnsConfig& columns);

}  // namespace tern::gpu
