// The matrix kernels compared with the plain ones: the same bits, also in partial tiles.
#include "backend/gpu/kernels/ternary/ternary_matmul_matrix.h"

#include <bit>
#include <random>

#include "backend/gpu/device/device_test_support.h"
#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/memory/views.h"

namespace tern::gpu {
namespace {

struct Case {
  uint32_t rows, cols, n_tokens;
  PromptTile tile = {};
};

class MatrixMatmul : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!device) return;
    device = std::make_unique<MutatingDevice>(std::move(device));
    const Features& f = device->features();
    const auto found = std::ranges::find_if(f.matrices, has_matrix_matmul);
    if (found == f.matrices.end() || f.subgroup_min != f.subgroup_max) {
      GTEST_SKIP() << device->adapter().name << " has no int8 subgroup matrices of a known shape";
    }
    shape_ = *found;
  }

  // Rows in I2_S with codes 0, 1 and 2.
  std::unique_ptr<Buffer> weights(uint32_t rows, uint32_t cols) {
    std::vector<uint32_t> values(rows * whole_blocks(cols) / 16);
    for (uint32_t& word : values) {
      for (int i = 0; i < 16; ++i) word = word << 2 | static_cast<uint32_t>(random_() % 3);
    }
    return words(values, BufferUse::kWeights);
  }
  // Rows in the layout of quantize().
  std::unique_ptr<Buffer> activations(uint32_t n_tokens, uint32_t cols) {
    std::vector<uint32_t> values;
    for (uint32_t t = 0; t < n_tokens; ++t) {
      int32_t sum = 0;
      for (uint32_t i = 0; i < whole_blocks(cols) / 4; ++i) {
        const auto word = static_cast<uint32_t>(random_());
        for (int b = 0; b < 4; ++b) sum += static_cast<int8_t>(word >> (8 * b));
        values.push_back(word);
      }
      const float scale = 1.0f + static_cast<float>(random_() % 1000) / 7.0f;
      values.insert(values.end(), {std::bit_cast<uint32_t>(scale), std::bit_cast<uint32_t>(sum), 0, 0});
    }
    return words(values);
  }
  std::unique_ptr<Buffer> floats(size_t n) {
    std::vector<uint32_t> values(n);
    for (uint32_t& v : values) v = std::bit_cast<uint32_t>(static_cast<float>(random_() % 2001) - 1000.0f);
    return words(values);
  }

  template <class... P, class... V>
  void run(const wgsl::Kernel<P...>& kernel, Grid grid, const V&... views) {
    const auto pipeline = device->pipeline(kernel.module);
    ASSERT_TRUE(pipeline) << pipeline.error().message;
    const auto group = device->bind(**pipeline, ViewsOf<typename wgsl::Kernel<P...>::Bindings>::pack(views...));
    ASSERT_TRUE(group) << group.error().message;
    const Command command = {.pipeline = *pipeline, .bindings = group->get(), .grid = grid, .from = {}, .to = {}};
    const auto status = device->submit({&command, 1});
    ASSERT_TRUE(status) << status.error().message;
  }

  static Grid grid_of(const Case& c, uint32_t tile_rows, uint32_t tile_tokens) {
    return {.x = (c.rows + tile_rows - 1) / tile_rows, .y = (c.n_tokens + tile_tokens - 1) / tile_tokens};
  }

  TernaryMatrixMatmulConfig config(const Case& c) const {
    return fit(
        {.rows = c.rows, .cols = c.cols, .shape = shape_, .subgroup = device->features().subgroup_min, .tile = c.tile});
  }

  template <class E>
  static View<E> view(const std::unique_ptr<Buffer>& buffer) {
    return {{buffer.get()}};
  }

  void compare(const Case& c, Store store) {
    const auto w = weights(c.rows, c.cols), x = activations(c.n_tokens, c.cols);
    const auto scales = words({std::bit_cast<uint32_t>(0.37f), 0, 0, 0}, BufferUse::kUniform);
    const auto params = words({c.n_tokens, 0, 0});
    const auto expected = floats(c.rows * c.n_tokens + 16);  // 16 that no kernel may touch
    const auto y = words(read(*expected));
    const TernaryMatmulConfig plain{.rows = c.rows, .cols = c.cols, .store = store, .caps = {}};
    TernaryMatrixMatmulConfig matrix = config(c);
    matrix.store = store;
    const auto use = [&](const auto& kernel, Grid grid, const auto& out) {
      run(kernel, grid, view<TernaryWeights>(w), view<QuantizedWords>(x), view<WeightScales>(scales),
          view<wgsl::U32>(params), view<wgsl::F32>(out));
    };
    use(ternary_matmul(plain), grid_of(c, plain.tile_rows, plain.tile_tokens), expected);
    use(ternary_matmul_matrix(matrix), grid_of(c, matrix.tile_rows, matrix.tile_tokens), y);
    EXPECT_EQ(read(*y), read(*expected)) << c.rows << " x " << c.cols << ", " << c.n_tokens << " tokens";
  }

  wgsl::MatrixShape shape_;
  std::mt19937 random_{17};
};

constexpr Case kCases[] = {
    {64, 128, 64},
    {64, 256, 64},
    {128, 384, 128, {2, 2, 2, 2, 1, 128}},
    {68, 128, 64},
    {64, 128, 65, {2, 2, 1, 2, 1, 128}},
    {68, 192, 64},
    {4, 128, 1},
    {200, 640, 77, {2, 2, 4, 2, 1, 128}},
    {96, 256, 33, {4, 1, 1, 4, 2, 64}},
    {100, 128, 70, {2, 2, 1, 2, 2, 128}},
};

TEST_F(MatrixMatmul, SetsTheSameBits) {
  for (const Case& c : kCases) {
    compare(c, Store::kSet);
    if (HasFailure()) return;  // each further case compiles another kernel, which is slow in mutation tests
  }
}

// CPU drivers take seconds to compile such a kernel, so other uses of the sums are tested with fewer shapes.
constexpr Case kFewCases[] = {{68, 128, 64}, {200, 640, 77, {2, 2, 2, 2, 1, 128}}, {100, 128, 70, {4, 2, 1, 2, 2}}};

TEST_F(MatrixMatmul, AddsTheSameBits) {
  for (const Case& c : kFewCases) compare(c, Store::kAdd);
}

TEST_F(MatrixMatmul, GluGivesTheSameBits) {
  for (const Case& c : kFewCases) {
    const auto gate = weights(c.rows, c.cols), up = weights(c.rows, c.cols), x = activations(c.n_tokens, c.cols);
    const auto scales =
        words({std::bit_cast<uint32_t>(0.37f), std::bit_cast<uint32_t>(1.7f), 0, 0}, BufferUse::kUniform);
    const auto params = words({c.n_tokens, 0, 0});
    const auto expected = floats(c.rows * c.n_tokens + 16);
    const auto y = words(read(*expected));
    const TernaryMatmulConfig plain{.rows = c.rows, .cols = c.cols, .caps = {}, .tile_tokens = 32};
    const auto use = [&](const auto& kernel, Grid grid, const auto& out) {
      run(kernel, grid, view<TernaryWeights>(gate), view<TernaryWeights>(up), view<QuantizedWords>(x),
          view<WeightScales>(scales), view<wgsl::U32>(params), view<wgsl::F32>(out));
    };
    use(ternary_glu_matmul(plain), grid_of(c, plain.tile_rows, plain.tile_tokens), expected);
    const TernaryMatrixMatmulConfig matrix = config(c);
    use(ternary_glu_matmul_matrix(matrix), grid_of(c, matrix.tile_rows, matrix.tile_tokens), y);
    EXPECT_EQ(read(*y), read(*expected)) << c.rows << " x " << c.cols << ", " << c.n_tokens << " tokens";
  }
}

}  // namespace
}  // namespace tern::gpu
