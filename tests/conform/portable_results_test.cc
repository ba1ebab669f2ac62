// The stores of results, compiled for Highway's portable target. Its Max and Min return the number of a number and a
// NaN, as those of ARM do, so that x86 also notices a kernel that loses a NaN in them.
#define HWY_COMPILE_ONLY_EMU128
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "backend/cpu/ops/results.cc"

namespace tern::cpu::HWY_NAMESPACE {
namespace {

static_assert(HWY_TARGET == HWY_EMU128);
constexpr size_t kCount = 11;
bool is_bad(size_t i) { return i == 0 || i == 5 || i == 10; }

void expect_bad_alone(const float* results) {
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(std::isnan(results[i]), is_bad(i)) << i;
}

TEST(PortableResults, KeepNan) {
  float gate[kCount], up[kCount], out[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    gate[i] = is_bad(i) ? NAN : 1.0f;
    up[i] = 2.0f;
  }
  for (const GluAct act : {GluAct::kRelu2, GluAct::kSilu, GluAct::kGeluTanh, GluAct::kSwigluOai}) {
    SCOPED_TRACE(static_cast<int>(act));
    Glu(act, gate, up, kCount, out);
    expect_bad_alone(out);
  }
  std::copy_n(up, kCount, out);
  MulSigmoid(gate, kCount, out);
  expect_bad_alone(out);
  std::copy_n(gate, kCount, out);
  Cap(3, out, kCount);
  expect_bad_alone(out);
}

}  // namespace
}  // namespace tern::cpu::HWY_NAMESPACE
