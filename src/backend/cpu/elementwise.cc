// copy, relu2_mul and add. Plain loops that the compiler vectorises; they run only where the plan was not fused.
#include <algorithm>

#include "backend/cpu/ops.h"

namespace tern::cpu {
namespace {

constexpr int kGrain = 4096;

}  // namespace

void copy(const ops::Copy& op, Share& share) {
  share.for_ranges(static_cast<int>(op.count), kGrain,
                   [&](int begin, int end) { std::copy(op.in + begin, op.in + end, op.out + begin); });
}

void relu2_mul(const ops::Relu2Mul& op, Share& share) {
  share.for_ranges(static_cast<int>(op.count), kGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const float positive = std::max(op.gate[i], 0.0f);
      op.out[i] = positive * positive * op.up[i];
    }
  });
}

void add(const ops::Add& op, Share& share) {
  share.for_ranges(static_cast<int>(op.count), kGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) op.x[i] += op.in[i];
  });
}

}  // namespace tern::cpu
