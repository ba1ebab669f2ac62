// Programs that the shader language must refuse: each is what one macro puts into this file. Without any, the file must
// compile. CMakeLists.txt has the message that each must give.
#include "backend/gpu/kernels/ternary_linear.h"
#include "backend/gpu/views.h"
#include "backend/gpu/wgsl/wgsl.h"

using namespace tern::gpu;
using namespace tern::wgsl;

using Scales = Uniform<"scales", Field<"a", F32>, Field<"b", F32>>;
using Words = Vec4<I2sWord>;
using Left = LeftMatrix<I8, 16, 32>;
using Right = RightMatrix<I8, 32, 16>;
using Sums = ResultMatrix<I32, 16, 16>;

auto refuse() {
  return kernel("k", 32,
                [](In<"x", F32> x, In<"n", U32> n, In<"w", I2sWord> w, Scales scales, InOut<"z", F32> z,
                   Out<"y", F32> y, LocalIndex tid) {
                  auto f = let("f", x[tid]);
                  auto u = let("u", n[tid]);
                  auto i = let("i", i32(u));
                  auto word = let("word", w[tid]);
                  auto v = var("v", 0.0f);
                  auto hits = shared<Atomic<U32>>("hits", 4);
                  auto twice = function("twice", [](Name<F32> a) { return a + a; });
                  let("fine", f * scales.get<"a">() + twice(f) + z[u + 1u]);
                  let("dots", dot4I8Packed(codes(word, 0), codes(word, 1)) + (i << 2u));
                  v += f;
                  auto bytes = shared<MatrixI8x4>("bytes", 128);
                  auto words = shared<U32>("words", 128);
                  auto sums = var<Sums>("sums");
                  auto left = subgroupMatrixLoad<Left>(bytes, 0u, MatrixLayout::kRowMajor, 32);
                  auto right = subgroupMatrixLoad<Right>(bytes, 0u, MatrixLayout::kColumnMajor, 32);
                  subgroupMatrixMultiplyAccumulate(left, right, sums);
#ifdef MIXED_TYPES
                  let("r", f + u);
#elifdef WRONG_LITERAL
    let("r", u + 1);
#elifdef PACKED_ARITHMETIC
    let("r", word & word);
#elifdef USED_TWICE
    auto product = f * 2.0f;
    let("r", product * product);
#elifdef WRITE_TO_INPUT
    x[tid] = f;
#elifdef READ_OUTPUT
    let("r", y[tid]);
#elifdef INT_INTO_FLOAT
    z[tid] = i;
#elifdef SIGNED_INDEX
    let("r", x[i]);
#elifdef RAW_WORD_IN_DOT
    let("r", dot4I8Packed(word, word));
#elifdef IF_ON_GPU_BOOLEAN
    auto first = let("first", tid == 0u);
    if (first) y[tid] = f;
#elifdef IF_ON_GPU_TEMP
    if (tid == 0u) y[tid] = f;
#elifdef COPIED_VARIABLE
    auto copy = v;
#elifdef BOOL_LITERAL
    when(true, [] {});
#elifdef DOUBLE_LITERAL
    let("r", f * 2.0);
#elifdef SIGNED_SHIFT
    let("r", u << 1);
#elifdef UNKNOWN_FIELD
    let("r", scales.get<"c">());
#elifdef NEGATED_UNSIGNED
    let("r", -u);
#elifdef BITS_OF_FLOAT
    let("r", f & f);
#elifdef PLAIN_ATOMIC
    let("r", hits[0u] + 1u);
#elifdef VEC_OF_THREE
    (void)var<Vec<F32, 3>>("r");
#elifdef WRONG_FUNCTION_ARGUMENT
    let("r", twice(u));
#elifdef SWAPPED_MATRICES
    subgroupMatrixMultiplyAccumulate(right, left, sums);
#elifdef MATRIX_OF_OTHER_WORDS
    let("r", subgroupMatrixLoad<Left>(words, 0u, MatrixLayout::kRowMajor, 32));
#endif
                  y[tid] = f;
                });
}

// The host's side: buffers whose elements have a type.
void bind(View<F32> floats, View<Words> weights, View<QuantizedWords> x, View<WeightScales> scales) {
  using List = TernaryMatvecKernel::Bindings;
#ifdef WRONG_VIEW
  (void)ViewsOf<List>::pack(floats, x, scales, floats);
#elifdef TOO_FEW_VIEWS
  (void)ViewsOf<List>::pack(weights, x, scales);
#endif
  (void)ViewsOf<List>::pack(weights, x, scales, floats);
}
