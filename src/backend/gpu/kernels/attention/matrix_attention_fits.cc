// Which heads and matrices there are kernels for.
#include "backend/gpu/kernels/attention/matrix_attention_memory.h"
#include "backend/gpu/kernels/f16_shapes.h"

namespace tern::gpu {

uint32_t MatrixAttentionConfig::workgroup_bytes() const {
  return 2 * staged_halves(*this) + 4 * tokens() * stride_of_floats(chunk) + 2 * tokens() * stride_of_halves(chunk) +
         16;
}

bool has_matrix_attention(const MatrixAttentionConfig& c, uint32_t invocations, uint32_t workgroup_bytes) {
  const uint32_t dim = c.heads.head_dim;
  return dim % 16 == 0 && dim <= kMostMatrixHead && kBlockPositions % c.chunk == 0 && c.subgroup % c.shape.m == 0 &&
         c.chunk % c.shape.n == 0 && c.chunk % c.shape.k == 0 && c.chunk * dim / 4 % c.workgroup() == 0 &&
         c.workgroup() <= invocations && c.workgroup_bytes() <= workgroup_bytes &&
         with_f16_shape(c.shape, []<uint32_t, uint32_t, uint32_t>() {});
}

}  // namespace tern::gpu
