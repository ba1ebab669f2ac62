// The requirements that a traced module reports, and the mistakes that stop a trace.
#include <gtest/gtest.h>

#include "backend/gpu/wgsl/trace_test_support.h"

namespace tern::wgsl {
namespace {

TEST(Kernel, TheParameterListIsTheInterface) {
  const auto k = kernel(
      "scale", 64,
      [](In<"x", F32> x, Uniform<"p", Field<"by", F32>> p, Out<"y", Vec2<F32>> y, WorkgroupId wg, LocalIndex tid) {
        auto v = let("v", x[tid] * p.get<"by">());
        y[wg.x * 64u + tid] = vec2f(v, v);
      });
  static_assert(std::same_as<decltype(k)::Bindings, TypeList<F32, Uniform<"p", Field<"by", F32>>, Vec2<F32>>>);
  EXPECT_EQ(k.module.text,
            "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
            "struct p_fields { by: f32 }\n"
            "@group(0) @binding(1) var<uniform> p: p_fields;\n"
            "@group(0) @binding(2) var<storage, read_write> y: array<vec2<f32>>;\n"
            "\n"
            "@compute @workgroup_size(64)\n"
            "fn scale(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {\n"
            "  let v = x[tid] * p.by;\n"
            "  y[wg.x * 64u + tid] = vec2<f32>(v, v);\n"
            "}\n");
  ASSERT_EQ(k.module.bindings.size(), 3u);
  EXPECT_EQ(k.module.bindings[0].access, Access::kRead);
  EXPECT_EQ(k.module.bindings[1].access, Access::kUniform);
  EXPECT_EQ(k.module.bindings[1].element_bytes, 16u);
  EXPECT_EQ(k.module.bindings[2].access, Access::kReadWrite);
  EXPECT_EQ(k.module.bindings[2].element_bytes, 8u);
  EXPECT_EQ(k.module.needs.storage_buffers, 2u);
  EXPECT_EQ(k.module.needs.invocations, 64u);
}

TEST(Requirements, NothingIsAskedForThatIsNotUsed) {
  const Module m = trace_module([] { let("a", e(1u) + 1u); });
  EXPECT_FALSE(m.needs.f16 || m.needs.subgroups || m.needs.packed_dot || m.needs.subgroup_matrix);
  EXPECT_EQ(m.needs.workgroup_bytes, 0u);
  EXPECT_EQ(m.needs.immediate_bytes, 0u);
  EXPECT_EQ(m.text.find("enable"), std::string::npos);
  EXPECT_EQ(m.text.find("requires"), std::string::npos);
}

TEST(Requirements, F16FromEveryPlaceWhereTheTypeCanAppear) {
  const auto has = [](const Module& m) { return m.needs.f16 && m.text.starts_with("enable f16;\n"); };
  EXPECT_TRUE(has(trace_module([] { let("h", f16(1.0f)); })));
  EXPECT_TRUE(has(trace_module([] { (void)var<Vec4<F16>>("h"); })));
  EXPECT_TRUE(has(trace_module([] { shared<F16>("h", 4); })));
  EXPECT_TRUE(has(trace_module([] { function("id", [](Name<F16> a) { return a + a; }); })));
  EXPECT_TRUE(has(kernel("k", 1, [](In<"x", Vec2<F16>>) {}).module));
  EXPECT_TRUE(has(kernel("k", 1, [](Uniform<"u", Field<"h", F16>>) {}).module));
}

TEST(Requirements, SubgroupsAndPackedDot) {
  const Module sum = trace_module([] { subgroupAdd(e(1.0f)); });
  EXPECT_TRUE(sum.needs.subgroups);
  EXPECT_TRUE(sum.text.starts_with("enable subgroups;\n"));
  EXPECT_TRUE(kernel("k", 32, [](SubgroupLane) {}).module.needs.subgroups);
  EXPECT_TRUE(kernel("k", 32, [](SubgroupSize) {}).module.needs.subgroups);
  const Module dot = trace_module([] {
    auto w = let("w", packed<I8x4>(e(1u)));
    let("d", dot4I8Packed(w, w));
  });
  EXPECT_TRUE(dot.needs.packed_dot);
  EXPECT_TRUE(dot.text.starts_with("requires packed_4x8_integer_dot_product;\n"));
}

// The device rounds each variable up to 16 bytes.
TEST(Requirements, WorkgroupBytes) {
  const Module m = trace_module([] {
    shared<F32>("a", 3);          // 12 → 16
    shared<Vec4<F32>>("b", 2);    // 32
    shared<F16>("c", 9);          // 18 → 32
    shared<Atomic<U32>>("d", 1);  // 4 → 16
  });
  EXPECT_EQ(m.needs.workgroup_bytes, 96u);
}

TEST(Layout, AFieldStartsAtAMultipleOfItsSize) {
  using Mixed = Uniform<"u", Field<"a", U32>, Field<"v", Vec4<F32>>, Field<"b", F32>, Field<"w", Vec2<U32>>>;
  static_assert(Mixed::Layout::offset_of("a") == 0 && Mixed::Layout::offset_of("v") == 16);
  static_assert(Mixed::Layout::offset_of("b") == 32 && Mixed::Layout::offset_of("w") == 40);
  static_assert(Mixed::kBytes == 48);
  static_assert(Uniform<"u", Field<"a", F32>>::kBytes == 16);
  static_assert(Uniform<"u", Field<"a", Vec4<F32>>, Field<"b", U32>>::kBytes == 32);
  static_assert(Immediates<"im", Field<"a", U32>, Field<"b", U32>, Field<"c", U32>>::kBytes == 12);
  static_assert(Immediates<"im", Field<"a", U32>, Field<"v", Vec2<F32>>>::kBytes == 16);
  const auto k = kernel("k", 1, [](Immediates<"im", Field<"a", U32>, Field<"b", F32>> im) { let("a", im.get<"a">()); });
  EXPECT_EQ(k.module.needs.immediate_bytes, 8u);
  EXPECT_TRUE(k.module.text.starts_with("requires immediate_address_space;\n"));
  EXPECT_TRUE(k.module.bindings.empty());
}

TEST(Names, RepeatedOnesGetASuffix) {
  EXPECT_EQ(trace([] {
              auto a = let("sum", e(1u) + 1u);
              auto b = let("sum", a + 1u);
              auto c = let("sum_1", b + 1u);
              let("sum", c + 1u);
            }),
            "let sum = 1u + 1u;\n"
            "let sum_1 = sum + 1u;\n"
            "let sum_1_1 = sum_1 + 1u;\n"
            "let sum_2 = sum_1_1 + 1u;\n");
  // Parameters keep their names; later names get a suffix.
  const auto k = kernel("k", 1, [](In<"x", F32> x, LocalIndex tid) { let("x", x[tid]); });
  EXPECT_NE(k.module.text.find("let x_1 = x[tid];"), std::string::npos);
}

TEST(NamesDeathTest, TakenOnesAndWgslsOwnStopTheTrace) {
  EXPECT_DEATH(kernel("k", 1, [](In<"x", F32>, Out<"x", F32>) {}), "kernel k: the name x is taken");
  EXPECT_DEATH(kernel("k", 1, [](In<"k", F32>) {}), "the name k is taken");
  EXPECT_DEATH(kernel("k", 1, [](LocalIndex, In<"tid", F32>) {}), "the name tid is taken");
  for (const char* name :
       {"max", "target", "meta", "f32", "while", "subgroupAdd", "mat3x3", "writeonly", "immediate"}) {
    EXPECT_DEATH(trace([&] { let(name, e(1u) + 1u); }), "is a name of WGSL's own; choose another") << name;
  }
  EXPECT_DEATH(kernel("k", 1, [](In<"filter", F32>) {}), "filter is a name of WGSL's own");
  EXPECT_DEATH(kernel("k", 1, [](Uniform<"u", Field<"ref", F32>>) {}), "\"ref\" is no name for a field");
  for (const char* name : {"", "_", "__a", "1a", "a b", "a-b"}) {
    EXPECT_DEATH(trace([&] { let(name, e(1u) + 1u); }), "is no name") << name;
  }
}

// An expression that reads memory before a write and is used after it would see the new value.
TEST(StaleReadsDeathTest, AVar) {
  EXPECT_DEATH(trace([] {
                 auto v = var("v", 1u);
                 auto sum = v + 1u;
                 v = 5u;
                 let("late", std::move(sum));
               }),
               "\"v \\+ 1u\" reads memory that has been written since; bind it with let");
}

TEST(StaleReadsDeathTest, WorkgroupAndStorageMemory) {
  EXPECT_DEATH(trace([] {
                 auto tile = shared<F32>("tile", 4);
                 auto product = 2.0f * (tile[0u] + 1.0f);
                 tile[1u] = 3.0f;  // may be the same element
                 let("late", std::move(product));
               }),
               "reads memory that has been written since");
  EXPECT_DEATH(kernel("k", 1,
                      [](InOut<"y", F32> y) {
                        auto old = e(y[0u]);
                        y[0u] += 1.0f;
                        y[1u] = std::move(old);
                      }),
               "kernel k: \"y\\[0u\\]\" reads memory");
}

TEST(StaleReadsDeathTest, BarriersAtomicsAndBlocks) {
  EXPECT_DEATH(trace([] {
                 auto tile = shared<F32>("tile", 4);
                 auto old = e(tile[0u]);
                 workgroupBarrier();
                 let("late", std::move(old));
               }),
               "reads memory");
  EXPECT_DEATH(trace([] {
                 auto n = shared<Atomic<U32>>("n", 1);
                 auto v = var("v", 1u);
                 auto old = v + 0u;
                 atomicAdd(n[0u], 1u);
                 let("late", std::move(old));
               }),
               "reads memory");
  EXPECT_DEATH(trace([] {  // v may differ in the second iteration
                 auto v = var("v", 1u);
                 auto old = v + 0u;
                 loop("i", 0u, 2u, 1u, [&](const Name<U32>&) { let("late", std::move(old)); });
               }),
               "reads memory");
}

TEST(StaleReads, ReadOnlyMemoryAndNamesStayAsTheyAre) {
  const auto k = kernel("k", 1, [](In<"x", F32> x, InOut<"y", F32> y) {
    auto later = x[0u] + 1.0f;
    auto name = let("name", y[0u]);
    y[1u] = 2.0f;
    y[2u] = std::move(later) + name;
  });
  EXPECT_NE(k.module.text.find("y[2u] = x[0u] + 1f + name;"), std::string::npos) << k.module.text;
}

TEST(MisuseDeathTest, WhatTypesCannotSee) {
  EXPECT_DEATH(trace([] {
                 auto sum = e(1u) + 1u;
                 let("a", std::move(sum));
                 let("b", std::move(sum));  // NOLINT(bugprone-use-after-move): what is tested
               }),
               "an unnamed expression is used twice");
  EXPECT_DEATH(kernel("k", 1, [](Immediates<"a", Field<"x", U32>>, Immediates<"b", Field<"x", U32>>) {}),
               "immediate_bytes == 0");
}

// A call is written where its value is used, so a side effect inside a function would move.
TEST(MisuseDeathTest, FunctionsWorkOnTheirArgumentsAlone) {
  EXPECT_DEATH(trace([] {
                 auto tile = shared<F32>("tile", 4);
                 function("first", [&](Name<U32> i) { return let("v", tile[i]) + 0.0f; });
               }),
               "memory that can change \\(tile\\) inside a function");
  EXPECT_DEATH(trace([] { function("sum", [&](Name<U32> a) { return subgroupAdd(a) + 0u; }); }),
               "a subgroup operation inside a function");
  EXPECT_DEATH(trace([] {
                 function("sync", [&](Name<U32> a) {
                   workgroupBarrier();
                   return a + 0u;
                 });
               }),
               "a barrier inside a function");
}

}  // namespace
}  // namespace tern::wgsl
