#include <gtest/gtest.h>

#include "tools/bench/memory_bandwidth.h"
#include "tools/bench/spread.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

TEST(SpreadOf, MedianLeastAndGreatest) {
  const Spread odd = spread_of({3, 1, 10});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 10);
  EXPECT_EQ(spread_of({4, 1, 2, 10}).median, 3);
  EXPECT_EQ(spread_of({}).max, 0);
}

TEST(MemoryBandwidth, IsBelievable) {
  ThreadPool pool(2);
  const double rate = measure_read_bandwidth(pool, 16 << 20);
  EXPECT_GT(rate, 1e8);
  EXPECT_LT(rate, 1e13);
  EXPECT_GT(bandwidth_buffer_bytes(), 0u);
}

TEST(MemoryBandwidth, NothingToRead) {
  ThreadPool pool(1);
  EXPECT_EQ(measure_read_bandwidth(pool, 0), 0);
}

class Bench : public testing::Test {
 protected:
  SynthModel file_;
  Engine engine_ = Engine::load({.model_path = file_.str(), .n_threads = 1}).value();
};

TEST_F(Bench, MeasuresBothParts) {
  uint64_t runs = 0, total = 0;
  const auto result =
      bench(engine_, {.n_prompt = 16, .n_generate = 4, .repeats = 2, .on_progress = [&](const Progress& p) {
                        ++runs;
                        total = p.total;
                      }});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(runs, 3u);  // one is warm-up
  EXPECT_EQ(total, 3u);
  for (const Spread& spread : {result->prefill, result->decode}) {
    EXPECT_GT(spread.min, 0);
    EXPECT_LE(spread.min, spread.median);
    EXPECT_LE(spread.median, spread.max);
  }
  EXPECT_EQ(result->bytes_per_token, engine_.info().bytes_per_token);
  EXPECT_DOUBLE_EQ(result->decode_gb_per_s, static_cast<double>(result->bytes_per_token) * result->decode.median / 1e9);
  EXPECT_GT(result->machine_gb_per_s, 0);
}

TEST_F(Bench, EitherPartMayBeLeftOut) {
  const auto prefill = bench(engine_, {.n_prompt = 8, .n_generate = 0, .repeats = 1});
  ASSERT_TRUE(prefill.has_value()) << prefill.error().message;
  EXPECT_GT(prefill->prefill.median, 0);
  EXPECT_EQ(prefill->decode.median, 0);
  const auto decode = bench(engine_, {.n_prompt = 0, .n_generate = 3, .repeats = 1});
  ASSERT_TRUE(decode.has_value()) << decode.error().message;
  EXPECT_EQ(decode->prefill.median, 0);
  EXPECT_GT(decode->decode.median, 0);
}

TEST_F(Bench, TheContextIsTheLimit) {
  EXPECT_TRUE(bench(engine_, {.n_prompt = 240, .n_generate = 16, .repeats = 1}).has_value());
  const auto too_long = bench(engine_, {.n_prompt = 241, .n_generate = 16, .repeats = 1});
  ASSERT_FALSE(too_long.has_value());
  EXPECT_EQ(too_long.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(too_long.error().message.find("holds 256"), std::string::npos);
}

TEST_F(Bench, RefusesToMeasureNothing) {
  EXPECT_EQ(bench(engine_, {.n_prompt = 0, .n_generate = 0, .repeats = 1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(bench(engine_, {.n_prompt = 8, .n_generate = 1, .repeats = 0}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(bench(engine_, {.n_prompt = -1, .n_generate = 1, .repeats = 1}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(Bench, OperationsAreOnlyTimedOnAGpu) {
  const auto result = bench_ops(engine_, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(result.error().message.find("use the webgpu backend"), std::string::npos) << result.error().message;
}

TEST_F(Bench, OperationsNeedRoomInTheContextAndInABatch) {
  const int n_ctx = engine_.info().n_ctx;
  for (const OpBenchOptions& options :
       {OpBenchOptions{.pos = -1}, OpBenchOptions{.repeats = 0}, OpBenchOptions{.pos = n_ctx - 21, .repeats = 20},
        OpBenchOptions{.n_parallel = 0}, OpBenchOptions{.n_parallel = 1'000'000}}) {
    const auto result = bench_ops(engine_, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tern
