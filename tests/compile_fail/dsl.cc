// Code that the shader language must refuse: each line below a comment with the compiler's required message (a regular
// expression; "GCC" or "Clang" where their wording differs). Without REFUSED the file must compile.
#include "backend/gpu/kernels/ternary/ternary_linear.h"
#include "backend/gpu/memory/views.h"
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
#ifdef REFUSED
                  // GCC: no match for 'operator\+'.*F32.*U32
                  // Clang: invalid operands to binary expression.*F32.*U32
                  let("r", f + u);
                  // GCC: no match for 'operator\+'.*U32.*'int'
                  // Clang: invalid operands to binary expression.*U32.*'int'
                  let("r", u + 1);
                  // GCC: no match for 'operator&'.*I2sWord
                  // Clang: invalid operands to binary expression.*I2sWord
                  let("r", word & word);
                  auto product = f * 2.0f;
                  // GCC: no match for 'operator\*'.*Temp<
                  // Clang: invalid operands to binary expression.*Temp<
                  let("r", product * product);
                  // GCC: no match for 'operator='.*Temp<
                  // Clang: no viable overloaded '='
                  x[tid] = f;
                  // error: no matching function for call to 'let(\(.*WriteRef)?
                  let("r", y[tid]);
                  // GCC: no match for 'operator='.*Ref<.*F32.*I32
                  // Clang: no viable overloaded '='
                  z[tid] = i;
                  // GCC: no match for 'operator\[\]'.*I32
                  // Clang: no viable overloaded operator\[\]
                  let("r", x[i]);
                  // error: no matching function for call to 'dot4I8Packed
                  let("r", dot4I8Packed(word, word));
                  auto first = let("first", tid == 0u);
                  // GCC: use of deleted function '.*Name<T>::operator bool
                  // Clang: attempt to use a deleted function
                  if (first) y[tid] = f;
                  // GCC: use of deleted function '.*Temp<T>::operator bool
                  // Clang: attempt to use a deleted function
                  if (tid == 0u) y[tid] = f;
                  // GCC: use of deleted function '.*Var<T>::Var
                  // Clang: call to deleted constructor of 'Var<
                  auto copy = v;
                  // error: no matching function for call to 'when
                  when(true, [] {});
                  // GCC: no match for 'operator\*'.*'double'
                  // Clang: invalid operands to binary expression.*'double'
                  let("r", f * 2.0);
                  // GCC: no match for 'operator<<'.*'int'
                  // Clang: invalid operands to binary expression.*'int'
                  let("r", u << 1);
                  // error: no matching (member )?function for call to '.*get
                  let("r", scales.get<"c">());
                  // GCC: no match for 'operator-'.*U32
                  // Clang: invalid argument type.*U32
                  let("r", -u);
                  // GCC: no match for 'operator&'.*F32
                  // Clang: invalid operands to binary expression.*F32
                  let("r", f & f);
                  // GCC: no match for 'operator\+'.*Atomic
                  // Clang: invalid operands to binary expression.*Atomic
                  let("r", hits[0u] + 1u);
                  // GCC: template constraint failure for
                  // Clang: constraints not satisfied for class template 'Vec'
                  (void)var<Vec<F32, 3>>("r");
                  // GCC: no match for call to .*Function<
                  // Clang: no matching function for call to object of type 'Function<
                  let("r", twice(u));
                  // error: no matching function for call to 'subgroupMatrixMultiplyAccumulate
                  subgroupMatrixMultiplyAccumulate(right, left, sums);
                  // error: no matching function for call to 'subgroupMatrixLoad
                  let("r", subgroupMatrixLoad<Left>(words, 0u, MatrixLayout::kRowMajor, 32));
#endif
                  y[tid] = f;
                });
}

// The host side: buffers with typed elements.
void bind(View<F32> floats, View<Words> weights, View<QuantizedWords> x, View<WeightScales> scales) {
  using List = TernaryMatvecKernel::Bindings;
#ifdef REFUSED
  // GCC: cannot convert .*View<
  // Clang: no viable conversion from 'View<F32>'
  (void)ViewsOf<List>::pack(floats, x, scales, floats);
  // GCC: no matching function for call to .*ViewsOf
  // Clang: too few arguments to function call
  (void)ViewsOf<List>::pack(weights, x, scales);
#endif
  (void)ViewsOf<List>::pack(weights, x, scales, floats);
}
