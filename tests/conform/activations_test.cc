// quantize, rms_norm, rms_norm_quantize.
#include "backend/cpu/ops/ops.h"
#include "backend/ref/ops.h"
#include "conform/conform.h"

namespace tern::conform {
namespace {

struct Int8Rows {
  Int8Rows(int n, int width)
      : q(static_cast<size_t>(n * width), 3), scale(static_cast<size_t>(n)), sum(static_cast<size_t>(n)) {}
  ops::MutableQuantizedRows view() { return {q.data(), scale.data(), sum.data()}; }
  void expect_same(const Int8Rows& other) const {
    EXPECT_EQ(q.values(), other.q.values());
    EXPECT_EQ(scale.values(), other.scale.values());
    EXPECT_EQ(sum.values(), other.sum.values());
    EXPECT_TRUE(q.intact() && scale.intact() && sum.intact());
  }
  Guarded<int8_t> q;
  Guarded<float> scale;
  Guarded<int32_t> sum;
};

// Integer results are part of the model's definition: no tolerance.
TEST(Conform, QuantizeIsBitIdentical) {
  on_every_target([] {
    for (int width = 1; width <= 70; ++width) {
      const int n = 1 + width % 5;
      Guarded<float> in(static_cast<size_t>(n * width), static_cast<size_t>(width % 3));
      Values(static_cast<uint64_t>(width)).fill(in);
      Int8Rows expected(n, width), actual(n, width);
      ref::quantize({in.data(), n, width, expected.view()});
      run_on(1 + width % 3, cpu::quantize, {in.data(), n, width, actual.view()});
      actual.expect_same(expected);
    }
  });
}

TEST(Conform, QuantizeRoundsHalvesToEvenAndKeepsTheExtremes) {
  on_every_target([] {
    // The largest magnitude is 127, so the scale is 1 and each value is only rounded.
    std::vector<float> in = {127.0f, -127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49999997f, 126.5f, 0.0f, -0.0f};
    in.resize(40, 3.5f);
    const int width = static_cast<int>(in.size());
    Int8Rows actual(1, width);
    run_on(1, cpu::quantize, {in.data(), 1, width, actual.view()});
    const std::vector<int8_t> head(actual.q.data(), actual.q.data() + 12);
    EXPECT_EQ(head, (std::vector<int8_t>{127, -127, 0, 2, 2, 0, -2, -2, 0, 126, 0, 0}));
    EXPECT_EQ(actual.q[39], 4);
  });
}

TEST(Conform, QuantizeOfZerosAndTinyRows) {
  on_every_target([] {
    const std::vector<float> in(64, 1e-7f);
    Int8Rows expected(1, 64), actual(1, 64);
    ref::quantize({in.data(), 1, 64, expected.view()});
    run_on(1, cpu::quantize, {in.data(), 1, 64, actual.view()});
    actual.expect_same(expected);
    EXPECT_EQ(actual.scale[0], 127.0f / 1e-5f);  // the lower limit of the largest magnitude
  });
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A single NaN or infinity, at any position, makes its whole row NaN, and only that row.
TEST(Conform, QuantizeKeepsWhatIsNotFinite) {
  on_every_target([] {
    for (const int width : {1, 3, 16, 37, 70}) {
      for (const float bad : {NAN, -NAN, kInfinity, -kInfinity}) {
        for (int place = 0; place < width; ++place) {
          std::vector<float> in(static_cast<size_t>(3 * width));
          Values(static_cast<uint64_t>(place)).fill(in);
          in[static_cast<size_t>(width + place)] = bad;
          Int8Rows expected(3, width), actual(3, width);
          ref::quantize({in.data(), 3, width, expected.view()});
          run_on(1, cpu::quantize, {in.data(), 3, width, actual.view()});
          ASSERT_TRUE(std::isnan(expected.scale[1]) && std::isnan(actual.scale[1])) << bad << " at " << place;
          expected.scale[1] = actual.scale[1] = 0;
          actual.expect_same(expected);
          ASSERT_EQ(actual.sum[1], 0);
          ASSERT_TRUE(std::isfinite(actual.scale[0]) && std::isfinite(actual.scale[2]));
        }
      }
    }
  });
}

TEST(Conform, RmsNormQuantizeKeepsWhatIsNotFinite) {
  on_every_target([] {
    for (const float bad : {NAN, kInfinity}) {
      std::vector<float> in(100, 1.0f), gain(100, 0.5f);
      for (std::vector<float>* where : {&in, &gain}) {
        (*where)[71] = bad;
        Int8Rows out(1, 100);
        run_on(1, cpu::rms_norm_quantize, {in.data(), gain.data(), 1e-5f, 1, 100, out.view()}, 100);
        EXPECT_TRUE(std::isnan(out.scale[0])) << bad;
        (*where)[71] = 1.0f;
      }
    }
  });
}

TEST(Conform, RmsNorm) {
  on_every_target([] {
    for (const int width : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 127, 128, 640, 2560, 2563}) {
      const int n = 3;
      Guarded<float> in(static_cast<size_t>(n * width), 1), gain(static_cast<size_t>(width), 2);
      Guarded<float> expected(static_cast<size_t>(n * width)), actual(static_cast<size_t>(n * width), 1);
      Values values(static_cast<uint64_t>(width));
      values.fill(in);
      values.fill(gain);
      ref::rms_norm({in.data(), gain.data(), 1e-5f, n, width, expected.data()});
      run_on(2, cpu::rms_norm, {in.data(), gain.data(), 1e-5f, n, width, actual.data()});
      // A float sum of positive terms has at most `width` roundings. The square root halves that error; a few more
      // follow.
      const double bound = (width / 2.0 + 8) * kUlp;
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], std::abs(expected[i]) * bound) << "width " << width << " at " << i;
      }
      EXPECT_TRUE(actual.intact());
    }
  });
}

// Head norms: many narrow rows, in place.
TEST(Conform, RmsNormInPlace) {
  on_every_target([] {
    for (const int width : {8, 64, 80, 96, 128, 256}) {
      const int n = 37;
      Guarded<float> expected(static_cast<size_t>(n * width)), actual(static_cast<size_t>(n * width), 1),
          gain(static_cast<size_t>(width), 1);
      Values values(static_cast<uint64_t>(width));
      values.fill(expected);
      values.fill(gain);
      std::copy_n(expected.data(), expected.size(), actual.data());
      ref::rms_norm({expected.data(), gain.data(), 1e-6f, n, width, expected.data()});
      run_on(3, cpu::rms_norm, {actual.data(), gain.data(), 1e-6f, n, width, actual.data()});
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], std::abs(expected[i]) * (width / 2.0 + 8) * kUlp) << "width " << width;
      }
      EXPECT_TRUE(actual.intact());
    }
  });
}

// Fusion must not change a bit; otherwise cached and fused runs would diverge.
TEST(Conform, RmsNormQuantizeIsTheTwoOpsInOne) {
  on_every_target([] {
    for (const int width : {1, 5, 16, 17, 128, 640, 2560}) {
      const int n = 4;
      Guarded<float> in(static_cast<size_t>(n * width)), gain(static_cast<size_t>(width)),
          normed(static_cast<size_t>(n * width));
      Values values(static_cast<uint64_t>(width));
      values.fill(in);
      values.fill(gain);
      Int8Rows separate(n, width), fused(n, width);
      run_on(1, cpu::rms_norm, {in.data(), gain.data(), 1e-5f, n, width, normed.data()});
      run_on(1, cpu::quantize, {normed.data(), n, width, separate.view()});
      run_on(2, cpu::rms_norm_quantize, {in.data(), gain.data(), 1e-5f, n, width, fused.view()},
             static_cast<size_t>(width));
      fused.expect_same(separate);
    }
  });
}

}  // namespace
}  // namespace tern::conform
