// The text that the DSL writes: expressions, statements, and their names.
#include "backend/gpu/wgsl/wgsl.h"

#include <gtest/gtest.h>

#include "backend/gpu/wgsl/trace_test_support.h"

namespace tern::wgsl {
namespace {

// The text of one expression over the names a, b (u32), i, j (i32), x, y (f32), p, q (bool) and w (a packed word).
struct Names {
  Name<U32> a{"a"}, b{"b"};
  Name<I32> i{"i"}, j{"j"};
  Name<F32> x{"x"}, y{"y"};
  Name<Bool> p{"p"}, q{"q"};
  Name<I8x4> w{"w"};
  Name<Vec4<F32>> v{"v"};
};

#define EXPECT_TEXT(expression, expected) EXPECT_EQ(trace_text([&] { return expression; }), expected)

TEST(Literals, HaveTheTypeOfTheirCppType) {
  EXPECT_EQ(e(1u).text, "1u");
  EXPECT_EQ(e(4294967295u).text, "4294967295u");
  EXPECT_EQ(e(1).text, "1i");
  EXPECT_EQ(e(-7).text, "-7i");
  EXPECT_EQ(e(2147483647).text, "2147483647i");
  EXPECT_EQ(e(std::numeric_limits<int32_t>::min()).text, "i32(-2147483648)");  // -2147483648i is an error
  static_assert(std::same_as<TypeOf<unsigned>, U32> && std::same_as<TypeOf<int>, I32> &&
                std::same_as<TypeOf<float>, F32>);
  static_assert(!Value<double> && !Value<bool>);
}

TEST(Literals, FloatsAreTheShortestTextThatReadsBack) {
  EXPECT_EQ(e(1.0f).text, "1f");
  EXPECT_EQ(e(0.1f).text, "0.1f");
  EXPECT_EQ(e(-2.5f).text, "-2.5f");
  EXPECT_EQ(e(1e-5f).text, "1e-05f");
  EXPECT_EQ(e(3.0e38f).text, "3e+38f");
  EXPECT_EQ(e(16777216.0f).text, "16777216f");
  for (const float value : {0.1f, 1.0f / 3.0f, 1.17549435e-38f, 3.4028235e38f, -0.0f}) {
    EXPECT_EQ(std::stof(std::string(e(value).text)), value);
  }
  EXPECT_DEATH(e(std::numeric_limits<float>::infinity()), "isfinite");
  EXPECT_DEATH(e(std::numeric_limits<float>::quiet_NaN()), "isfinite");
}

TEST(Literals, NegativeOnesAreParenthesisedWhereAMinusWouldMeetAMinus) {
  const Names n;
  EXPECT_TEXT(n.x - e(-1.0f), "x - (-1f)");
  EXPECT_TEXT(n.i - -3, "i - (-3i)");
  EXPECT_TEXT(n.i * -3, "i * (-3i)");
  EXPECT_TEXT(-e(-1.0f), "-(-1f)");
  EXPECT_TEXT(-e(-0.0f), "-(-0f)");
  EXPECT_TEXT(-e(-1), "-(-1i)");
}

TEST(Operators, SumsAndProductsBindAsInC) {
  const Names n;
  EXPECT_TEXT(n.a + n.b * 2u, "a + b * 2u");
  EXPECT_TEXT((n.a + n.b) * 2u, "(a + b) * 2u");
  EXPECT_TEXT(n.a - (n.b - 1u), "a - (b - 1u)");
  EXPECT_TEXT(n.a - n.b - 1u, "a - b - 1u");
  EXPECT_TEXT(n.a / (n.b * 2u), "a / (b * 2u)");
  EXPECT_TEXT(n.a / n.b * 2u, "a / b * 2u");
  EXPECT_TEXT(n.a % (n.b % 3u), "a % (b % 3u)");
  EXPECT_TEXT(n.x * (n.x + n.y) - 1.0f, "x * (x + y) - 1f");
  EXPECT_TEXT(2.0f - n.x, "2f - x");
  EXPECT_TEXT(n.v * n.x, "v * x");
}

// WGSL's grammar defines no precedence among these, or between them and + − * / %.
TEST(Operators, BitsShiftsAndComparisonsNeverMixUnparenthesized) {
  const Names n;
  EXPECT_TEXT((n.a & n.b) | 1u, "(a & b) | 1u");
  EXPECT_TEXT(n.a & n.b & 1u, "(a & b) & 1u");
  EXPECT_TEXT(n.a ^ (n.b | 1u), "a ^ (b | 1u)");
  EXPECT_TEXT((n.a + n.b) & 1u, "(a + b) & 1u");
  EXPECT_TEXT((n.a & 1u) + n.b, "(a & 1u) + b");
  EXPECT_TEXT((n.a >> 2u) & 3u, "(a >> 2u) & 3u");
  EXPECT_TEXT(n.a << (n.b + 1u), "a << (b + 1u)");
  EXPECT_TEXT((n.a * 2u) << 1u, "(a * 2u) << 1u");
  EXPECT_TEXT((n.a << 1u) * 2u, "(a << 1u) * 2u");
  EXPECT_TEXT((n.i << 24u) >> 24u, "(i << 24u) >> 24u");
  EXPECT_TEXT(n.a + 1u < n.b, "(a + 1u) < b");
  EXPECT_TEXT((n.a < n.b) && (n.x > 0.0f), "(a < b) && (x > 0f)");
  EXPECT_TEXT(n.p || (n.q && n.p), "p || (q && p)");
  EXPECT_TEXT((n.a & 1u) == 0u, "(a & 1u) == 0u");
  EXPECT_TEXT(n.a != (n.b ^ 1u), "a != (b ^ 1u)");
}

TEST(Operators, Unary) {
  const Names n;
  EXPECT_TEXT(-n.x, "-x");
  EXPECT_TEXT(-(n.x + n.y), "-(x + y)");
  EXPECT_TEXT(-n.x * n.y, "(-x) * y");
  EXPECT_TEXT(n.x - -n.y, "x - (-y)");
  EXPECT_TEXT(-(-n.x), "-(-x)");
  EXPECT_TEXT(-(n.x * n.y), "-(x * y)");
  EXPECT_TEXT(!n.p && n.q, "(!p) && q");
  EXPECT_TEXT(!(n.p && n.q), "!(p && q)");
  EXPECT_TEXT(!(n.a < n.b), "!(a < b)");
  EXPECT_TEXT(~n.a & 7u, "(~a) & 7u");
  EXPECT_TEXT(~(n.a | n.b), "~(a | b)");
}

TEST(Operators, ArgumentsNeedNoParentheses) {
  const Names n;
  EXPECT_TEXT(max(n.a + 1u, n.b), "max(a + 1u, b)");
  EXPECT_TEXT(select(n.x, n.y * 2.0f, n.a < n.b), "select(x, y * 2f, a < b)");
  EXPECT_TEXT(clamp(n.i, -128, 127), "clamp(i, -128i, 127i)");
  EXPECT_TEXT(max(n.x, 0.0f) * 2.0f, "max(x, 0f) * 2f");
  EXPECT_TEXT(bitcast<U32>(n.x) & 1u, "bitcast<u32>(x) & 1u");
  EXPECT_TEXT(splat<Vec4<F32>>(0.5f), "vec4<f32>(0.5f)");
  EXPECT_TEXT(at(n.v, 2) + n.x, "v.z + x");
}

TEST(PackedWords, CodesOfEachPlane) {
  const Name<I2sWord> word{"word"};
  EXPECT_TEXT(codes(word, 0), "(word >> 6u) & 0x03030303u");
  EXPECT_TEXT(codes(word, 2), "(word >> 2u) & 0x03030303u");
  EXPECT_TEXT(codes(word, 3), "word & 0x03030303u");
  EXPECT_TEXT(codes(word, Name<U32>{"shift"}), "(word >> shift) & 0x03030303u");
  const Names n;
  EXPECT_TEXT(dot4I8Packed(codes(word, 3), n.w), "dot4I8Packed(word & 0x03030303u, w)");
  EXPECT_TEXT(bits(n.w) >> 8u, "w >> 8u");
  EXPECT_TEXT(bits(packed<I8x4>(n.a | n.b)) + 1u, "(a | b) + 1u");
}

TEST(Statements, LetsAndVars) {
  EXPECT_EQ(trace([] {
              auto a = let("a", e(1u) + 2u);
              auto b = let("b", a * a);
              auto v = var("v", b);
              v = v + 1u;
              v += a;
              auto zero = var<Vec4<F32>>("zero");
              at(zero, 1) = 2.0f;
              auto w = var("w", v);
              w = v;
            }),
            "let a = 1u + 2u;\n"
            "let b = a * a;\n"
            "var v: u32 = b;\n"
            "v = v + 1u;\n"
            "v += a;\n"
            "var zero: vec4<f32> = vec4<f32>();\n"
            "zero.y = 2f;\n"
            "var w: u32 = v;\n"
            "w = v;\n");
}

TEST(Statements, WhenAndLoop) {
  EXPECT_EQ(trace([] {
              auto n = let("n", e(9u) + 1u);
              loop("i", 0u, n, 2u, [&](const Name<U32>& i) {
                when(i < 3u, [&] { note("first rounds"); });
                when(i == 4u, [] { return_(); }, [&] { let("twice", i * 2u); });
              });
            }),
            "let n = 9u + 1u;\n"
            "for (var i = 0u; i < n; i += 2u) {\n"
            "  if (i < 3u) {\n"
            "    // first rounds\n"
            "  }\n"
            "  if (i == 4u) {\n"
            "    return;\n"
            "  } else {\n"
            "    let twice = i * 2u;\n"
            "  }\n"
            "}\n");
}

// A WGSL `for` evaluates its bound in every iteration.
TEST(Statements, ALoopsBoundIsWhatItWasAtTheStart) {
  EXPECT_EQ(trace([] {
              auto n = var("n", 8u);
              loop("i", n, n + 8u, n, [&](const Name<U32>& i) { n = i; });
            }),
            "var n: u32 = 8u;\n"
            "let end = n + 8u;\n"
            "let by = n;\n"
            "for (var i = n; i < end; i += by) {\n"
            "  n = i;\n"
            "}\n");
}

TEST(Statements, BlocksIndentAndCopiesBetweenElementsAreAssignments) {
  EXPECT_EQ(trace([] {
              auto tile = shared<F32>("tile", 8);
              tile[0u] = tile[1u];
              tile[2u] += 1.0f;
              workgroupBarrier();
            }),
            "tile[0u] = tile[1u];\n"
            "tile[2u] += 1f;\n"
            "workgroupBarrier();\n");
}

TEST(Statements, AnIndexThatReadsMemoryIsBoundFirst) {
  EXPECT_EQ(trace([] {
              auto tile = shared<U32>("tile", 8);
              auto v = var("v", 1u);
              auto ref = tile[v + 1u];
              v = 5u;
              ref = 7u;  // still element 2
              tile[tile[0u]] = 1u;
            }),
            "var v: u32 = 1u;\n"
            "let at = v + 1u;\n"
            "v = 5u;\n"
            "tile[at] = 7u;\n"
            "let at_1 = tile[0u];\n"
            "tile[at_1] = 1u;\n");
}

TEST(Statements, FunctionsGoToModuleScopeOnce) {
  const Module m = trace_module([] {
    auto twice = function("twice", [](Name<U32> a) {
      auto sum = let("sum", a + a);
      return sum * 1u;
    });
    let("r", twice(3u) + twice(4u));
  });
  EXPECT_NE(m.text.find("fn twice(a: u32) -> u32 {\n  let sum = a + a;\n  return sum * 1u;\n}\n"), std::string::npos)
      << m.text;
  EXPECT_NE(m.text.find("  let r = twice(3u) + twice(4u);\n"), std::string::npos) << m.text;
}

TEST(Statements, SubgroupOperationsAndAtomicsAreWrittenWhereTheyAreCalled) {
  EXPECT_EQ(trace([] {
              auto hits = shared<Atomic<U32>>("hits", 2);
              auto v = let("v", e(1u) + 1u);
              auto sum = subgroupAdd(v);
              auto old = atomicAdd(hits[0u], sum);
              atomicMax(hits[1u], old + 1u);
              atomicStore(hits[0u], 0u);
              when(atomicLoad(hits[1u]) > 0u, [&] { let("other", subgroupShuffleXor(v, 4u)); });
            }),
            "let v = 1u + 1u;\n"
            "let sg = subgroupAdd(v);\n"
            "let old = (atomicAdd(&hits[0u], sg));\n"
            "let old_1 = (atomicMax(&hits[1u], old + 1u));\n"
            "atomicStore(&hits[0u], 0u);\n"
            "let now = (atomicLoad(&hits[1u]));\n"
            "if (now > 0u) {\n"
            "  let sg_1 = subgroupShuffleXor(v, 4u);\n"
            "  let other = sg_1;\n"
            "}\n");
}

}  // namespace
}  // namespace tern::wgsl
