// Output of the shader DSL, checked by Dawn's compiler: it must be valid WGSL and mean what its types say.
#include <gtest/gtest.h>

#include "backend/gpu/device/device.h"
#include "backend/gpu/wgsl/wgsl.h"

namespace tern::gpu {
namespace {

using namespace wgsl;

class Wgsl : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_validation_device();
    ASSERT_TRUE(opened) << opened.error().message;
    device_ = std::move(*opened);
  }
  void expect_valid(const Module& module) {
    const auto pipeline = device_->pipeline(module);
    EXPECT_TRUE(pipeline) << pipeline.error().message << "\n" << module.text;
  }
  // True if `name` is a valid name for a let.
  bool takes_name(std::string_view name) {
    Module module = {.name = "k", .text = {}, .bindings = {}, .needs = {}};
    module.text = cat("@compute @workgroup_size(1) fn k() { let ", name, " = 1; }");
    return device_->pipeline(module).has_value();
  }

  std::unique_ptr<Device> device_;
};

TEST_F(Wgsl, AtomicsInWorkgroupAndStorageMemory) {
  expect_valid(kernel("count", 64,
                      [](InOut<"totals", Atomic<U32>> totals, InOut<"greatest", Atomic<I32>> greatest, LocalIndex tid) {
                        auto hits = shared<Atomic<U32>>("hits", 4);
                        when(tid < 4u, [&] { atomicStore(hits[tid], 0u); });
                        workgroupBarrier();
                        auto before = atomicAdd(hits[tid % 4u], 1u);
                        atomicMax(greatest[0u], i32(before) - 5);
                        workgroupBarrier();
                        when(tid < 4u, [&] { atomicAdd(totals[tid], atomicLoad(hits[tid])); });
                      })
                   .module);
}

// Every operator nested in every other, in one kernel.
TEST_F(Wgsl, MixedOperators) {
  expect_valid(kernel("mixed", 1, [](In<"x", F32> x, In<"n", U32> n, InOut<"y", F32> y, LocalIndex tid) {
                 auto a = let("a", n[0u]);
                 auto i = let("i", bitcast<I32>(a));
                 auto f = let("f", x[tid]);
                 let("b", ((a + 1u) & 7u) | ((a ^ 3u) << (a % 5u)));
                 let("c", (~a & 7u) * 2u - (a | 1u) / 3u);
                 let("d", -i - -3 - (-i * -7) + ((i << 24u) >> 24u) + e(std::numeric_limits<int32_t>::min()));
                 let("e", (a < 3u && !(f > 1.0f)) || (i == -4 && (a & 1u) != 0u));
                 let("g", -f - -(-f) - e(-0.0f) * 1e-30f + fma(f, 2.0f, -f) - -e(-1.0f));
                 let("h", f32(a < 2u) + clamp(f, -1.0f, 1.0f) + select(f, -f, i > -1));
                 auto v = var("v", splat<Vec4<F32>>(0.5f));
                 at(v, 3) += f;
                 auto w = let("w", v * f - v / splat<Vec4<F32>>(3.0f));
                 y[tid] = dot(w, v) + at(w, 0);
               }).module);
}

TEST_F(Wgsl, StructsWithGapsAndImmediates) {
  expect_valid(kernel("fields", 1,
                      [](Uniform<"u", Field<"a", U32>, Field<"v", Vec4<F32>>, Field<"b", F32>> u,
                         Immediates<"im", Field<"first", U32>, Field<"by", F32>> im, Out<"y", F32> y) {
                        auto v = let("v", u.get<"v">());
                        y[im.get<"first">() + u.get<"a">()] = at(v, 1) * im.get<"by">() + u.get<"b">();
                      })
                   .module);
}

TEST_F(Wgsl, FunctionsAndLoopsOverMemory) {
  expect_valid(kernel("loops", 8, [](In<"x", U32> x, InOut<"y", U32> y, LocalIndex tid) {
                 auto twice = function("twice", [](Name<U32> value) { return value + value; });
                 auto n = var("n", x[tid]);
                 loop("i", n, n + 8u, 2u, [&](const Name<U32>& i) {
                   n += twice(i);
                   y[y[i]] = n;
                 });
               }).module);
}

TEST_F(Wgsl, WordsThatTheCompilerRefusesAreRefusedWhileTracing) {
  for (const char* word :
       {"meta",  "target",   "mod",    "self", "filter", "common", "std",    "yield",     "wgsl",   "NULL",
        "final", "resource", "layout", "pass", "set",    "get",    "shared", "writeonly", "unless", "loop"}) {
    EXPECT_FALSE(takes_name(word)) << word;
    EXPECT_TRUE(is_wgsl_reserved(word)) << word;
  }
  for (const char* word : {"acc", "row", "value", "end", "at", "by", "first", "tile", "position", "buffer"}) {
    EXPECT_TRUE(takes_name(word)) << word;
    EXPECT_FALSE(is_wgsl_name(word)) << word;
  }
}

}  // namespace
}  // namespace tern::gpu
