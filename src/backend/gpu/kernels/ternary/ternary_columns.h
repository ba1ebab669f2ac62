// The ternary layers for a few tokens (one from each of several sequences, or from the end of a prompt). A workgroup
// reads its weights once, and multiplies them with several rows of activations, which it norms and quantizes itself.
// Each row of results and of statistics has the same bits as with the kernels for one row (norm_fused.h,
// ternary_qkv.h).
#pragma once

#include <optional>

#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"

namespace tern::gpu {

struct ColumnsConfig {
  uint32_t columns = 4;         // rows of x per workgroup: a power of two
  uint32_t norm_workgroup = 0;  // invocations of the kernel for one row, which determine the order of sums

  bool operator==(const ColumnsConfig&) const = default;
};

// Rows that slots need room for beyond the batch. The last workgroups read and write whole groups of columns; rows past
// the end are meaningless.
inline constexpr uint32_t kMostColumns = 8;

// Upper limit of the workgroup memory of any of these kernels, in bytes.
uint32_t columns_bytes(const TernaryConfig& c, const ColumnsConfig& columns);

// True if the kernels support this layout: a row's sums, and the parts of its statistics, must be computed within a
// subgroup.
bool has_columns(const TernaryConfig& c, const ColumnsConfig& columns);

// Interfaces are those of the kernels for one row. Grid: [⌈rows / rows_per_workgroup⌉, ⌈n_tokens / columns⌉].
NormedMatvecAddKernel normed_matvec_add_columns(const TernaryConfig& c, const NormConfig& norm,
                                                const ColumnsConfig& columns);
NormedGluKernel normed_glu_columns(const TernaryConfig& c, const NormConfig& norm, const ColumnsConfig& columns);
template <class KvWord>
NormedQkvKernel<KvWord> normed_qkv_columns(const TernaryQkvConfig& c, const NormConfig& norm,
                                           const ColumnsConfig& columns);

}  // namespace tern::gpu
