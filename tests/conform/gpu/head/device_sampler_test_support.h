// A device's sampler for tests, and the comparison of its tokens with Sampler's.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "backend/gpu/device/device_test_support.h"
#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/kernels/head/argmax.h"
#include "backend/gpu/record/device_sampler.h"
#include "sample/sample_test_support.h"
#include "sample/sampler.h"

namespace tern::gpu {

using sample_test::kInf;
using sample_test::kNan;
using sample_test::Logits;

// Random logits, the same on every platform: sums of uniform numbers, nearly normal with deviation `spread`.
inline Logits random_logits(size_t n, uint64_t seed, float spread) {
  SplitMix64 random(seed);
  Logits logits(n);
  for (float& logit : logits) {
    float sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    logit = (sum - 6) * spread;
  }
  return logits;
}

inline Caps caps_of(const Device& device, bool with_subgroups) {
  return {.subgroup = with_subgroups && device.features().subgroups ? device.features().subgroup_min : 0};
}

// A device sampler with its own buffers. It draws repeatedly from the same logits: `rows` rows, one after another.
class Draws {
 public:
  Draws(Device& device, const Logits& logits, bool with_subgroups = true, size_t rows = 1)
      : device_(device), kernels_(device), n_rows_(rows) {
    logits_ = device.new_buffer("logits", logits.size() * 4, BufferUse::kWork).value();
    tokens_ = device.new_buffer("tokens", 4 * rows, BufferUse::kWork).value();
    params_ = device.new_buffer("params", sizeof(BatchParams) + rows * sizeof(BatchRow), BufferUse::kWork).value();
    put(logits);
    auto made = DeviceSampler::create({.device = device,
                                       .kernels = kernels_,
                                       .caps = caps_of(device, with_subgroups),
                                       .n_vocab = static_cast<uint32_t>(logits.size() / rows),
                                       .max_rows = static_cast<uint32_t>(rows),
                                       .logits = {logits_.get()},
                                       .tokens = *tokens_,
                                       .params = *params_});
    EXPECT_TRUE(made) << made.error().message;
    sampler_ = std::move(*made);
  }

  void put(const Logits& logits) { EXPECT_TRUE(device_.write(*logits_, 0, std::as_bytes(std::span(logits)))); }

  std::vector<TokenId> greedy(int n) { return sampled({.temperature = 0}, n); }

  std::vector<TokenId> sampled(const Sampling& o, int n) { return sampled(std::vector{o}, n)[0]; }

  // The tokens of each row. Each row has its own options.
  std::vector<std::vector<TokenId>> sampled(const std::vector<Sampling>& rows, int n) {
    std::vector<Sampler> hosts;  // used only for their random numbers
    for (const Sampling& o : rows) hosts.emplace_back(o, 1);
    return sampled(rows, n, {}, [&](size_t row) { return hosts[row].uniform(); });
  }
  // The same with changes of each row's logits, and these random numbers. Changes, typical_p and XTC are for a single
  // step, as they change the logits.
  using Changes = std::vector<std::vector<LogitChange>>;
  std::vector<std::vector<TokenId>> sampled(const std::vector<Sampling>& rows, int n, const Changes& changes,
                                            const std::function<float(size_t row)>& uniform) {
    std::vector<DeviceSampling> sampling;
    for (const Sampling& o : rows) {
      sampling.push_back({.temperature = o.temperature,
                          .top_k = o.top_k,
                          .top_p = o.top_p,
                          .min_p = o.min_p,
                          .top_n_sigma = o.top_n_sigma,
                          .typical_p = o.typical_p,
                          .xtc_probability = o.xtc_probability,
                          .xtc_threshold = o.xtc_threshold,
                          .uniform = {}});
    }
    const auto program = sampler_->choosing(sampling);
    EXPECT_TRUE(program) << program.error().message;
    EXPECT_TRUE(changes.empty() || sampler_->change(changes));
    const bool draws = *program != &sampler_->greedy();
    return run(n, **program, [&](size_t row) -> std::optional<Numbers> {
      if (!draws) return {};
      const Sampling& o = rows[row];
      const bool excludes = has_xtc(o) && uniform(row) < o.xtc_probability;
      return Numbers{uniform(row), excludes ? o.xtc_threshold : DeviceSampler::kNoThreshold};
    });
  }

 private:
  struct Params {
    BatchParams batch;
    std::vector<BatchRow> rows;
  };
  void write(const Params& params) {
    EXPECT_TRUE(device_.write(*params_, 0, std::as_bytes(std::span(&params.batch, 1))));
    EXPECT_TRUE(device_.write(*params_, sizeof(BatchParams), std::as_bytes(std::span(params.rows))));
  }
  template <class T>
  std::vector<T> read(BufferView view, size_t n) {
    std::vector<T> values(n);
    view.bytes = n * sizeof(T);
    EXPECT_TRUE(device_.read(view, std::as_writable_bytes(std::span(values))));
    return values;
  }

  struct Numbers {
    float draw, threshold;
  };
  static bool has_xtc(const Sampling& o) { return o.temperature > 0 && o.xtc_probability > 0; }
  using NextDraw = std::function<std::optional<Numbers>(size_t row)>;
  std::vector<std::vector<TokenId>> run(int n, const Program& program, const NextDraw& next_draw) {
    Params params{.batch = {.n_tokens = static_cast<uint32_t>(n_rows_)}, .rows = {}};
    for (uint32_t row = 0; row < n_rows_; ++row) params.rows.push_back({.pos = 7 + 5 * row});
    write(params);
    std::vector<Command> one;
    const auto n_rows = static_cast<int>(n_rows_);
    program.commands({.n_tokens = n_rows, .n_logit_rows = n_rows}, one);
    std::vector<std::vector<TokenId>> tokens(n_rows_);
    for (int step = 0; step < n; step += static_cast<int>(DeviceSampler::kRing)) {
      const int batch = std::min(n - step, static_cast<int>(DeviceSampler::kRing));
      std::vector<Command> commands;
      for (int i = 0; i < batch; ++i) {
        std::vector<float> draws, thresholds;
        for (size_t row = 0; row < n_rows_; ++row) {
          const auto numbers = next_draw(row);
          if (!numbers) continue;
          draws.push_back(numbers->draw);
          thresholds.push_back(numbers->threshold);
        }
        EXPECT_TRUE(draws.empty() || sampler_->set_draws(static_cast<uint64_t>(step + i), draws));
        EXPECT_TRUE(draws.empty() || sampler_->set_thresholds(static_cast<uint64_t>(step + i), thresholds));
        commands.insert(commands.end(), one.begin(), one.end());
      }
      EXPECT_TRUE(device_.submit(commands));
      for (int i = 0; i < batch; ++i) {
        const auto ids = read<TokenId>(sampler_->ids(static_cast<uint64_t>(step + i), n_rows_), n_rows_);
        for (size_t row = 0; row < n_rows_; ++row) tokens[row].push_back(ids[row]);
      }
    }
    // The step and the positions have advanced, and the last tokens are the next input.
    EXPECT_EQ(read<BatchParams>({params_.get()}, 1)[0].step, static_cast<uint32_t>(n));
    const auto rows = read<BatchRow>({params_.get(), sizeof(BatchParams)}, n_rows_);
    const auto next = read<TokenId>({tokens_.get()}, n_rows_);
    for (size_t row = 0; row < n_rows_; ++row) {
      EXPECT_EQ(rows[row].pos, params.rows[row].pos + static_cast<uint32_t>(n));
      EXPECT_EQ(next[row], tokens[row].back());
    }
    return tokens;
  }

  Device& device_;
  KernelLibrary kernels_;
  size_t n_rows_;
  std::unique_ptr<Buffer> logits_, tokens_, params_;
  std::unique_ptr<DeviceSampler> sampler_;
};

class DeviceSamplerTest : public DeviceTest {
 protected:
  void open(const DeviceOptions& options) override {
    DeviceTest::open(options);
    if (device) device = std::make_unique<MutatingDevice>(std::move(device));
  }

  // Compares the device's tokens with the host's; at most `allowed` of them may differ.
  void expect_same(const Logits& logits, const Sampling& options, int n = 12, int allowed = 0) {
    Draws draws(*device, logits);
    expect_same(draws, logits, options, n, allowed);
  }
  static void expect_same(Draws& draws, const Logits& logits, const Sampling& options, int n = 12, int allowed = 0) {
    const auto found = draws.sampled(options, n);
    Sampler host(options, static_cast<int>(logits.size()));
    int differences = 0;
    std::string text;
    for (const TokenId token : found) {
      const TokenId expected = host.sample(logits);
      if (token == expected) continue;
      ++differences;
      text += " " + std::to_string(expected) + " became " + std::to_string(token);
    }
    EXPECT_LE(differences, allowed) << logits.size() << " logits, temperature " << options.temperature << " top_k "
                                    << options.top_k << " top_p " << options.top_p << " min_p " << options.min_p << ":"
                                    << text;
  }
};

}  // namespace tern::gpu
