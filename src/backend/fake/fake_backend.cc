#include "backend/fake/fake_backend.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tern::fake {
namespace {

TokenId next_token(const Script& script, int pos) {
  return script.next[std::min(static_cast<size_t>(pos), script.next.size() - 1)];
}

std::unexpected<Error> lost(const Script& script) {
  return fail(ErrorCode::kDeviceLost, "the fake device is lost at position {}", script.fail_at_pos);
}

class FakeKvCache final : public KvCache {
 public:
  explicit FakeKvCache(int n_ctx) : n_ctx_(n_ctx) {}
  int n_ctx() const override { return n_ctx_; }
  uint64_t bytes() const override { return 0; }

 private:
  int n_ctx_;
};

// The script's tokens, some of them worked out before they are asked for. Aborts on a caller that asks for too many.
class FakeStream final : public TokenStream {
 public:
  FakeStream(const Script& script, Log& log) : script_(script), log_(log), index_(log.streams.size() - 1) {
    ++log_.n_live_streams;
  }
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;
  ~FakeStream() override { --log_.n_live_streams; }

  Result<TokenId> next() override {
    Log::Stream& stream = log_.streams[index_];
    CHECK(stream.n_taken < stream.n_tokens);
    const int pos = stream.pos + stream.n_taken;
    if (script_.fail_at_pos >= 0 && pos >= script_.fail_at_pos) return lost(script_);
    run_until(std::min(stream.n_taken + 1 + script_.runs_ahead, stream.n_tokens), stream);
    ++stream.n_taken;
    return next_token(script_, pos);
  }

 private:
  void run_until(int n_tokens, Log::Stream& stream) {
    for (; n_run_ < n_tokens; ++n_run_) {
      if (stream.sampling.temperature > 0) stream.random.push_back(stream.sampling.uniform());
    }
  }

  const Script& script_;
  Log& log_;
  const size_t index_;
  int n_run_ = 0;
};

class FakeExecutable final : public Executable {
 public:
  FakeExecutable(Script script, Log& log) : script_(std::move(script)), log_(log) { CHECK(!script_.next.empty()); }

  std::string description() const override { return "fake"; }
  int max_batch() const override { return script_.max_batch; }
  int max_logit_rows() const override { return script_.max_logit_rows; }

  Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType) const override {
    if (n_ctx > script_.most_ctx) return fail(ErrorCode::kOutOfMemory, "no memory for {} tokens", n_ctx);
    return std::make_unique<FakeKvCache>(n_ctx);
  }

  Result<std::span<const float>> run(KvCache& cache, const Batch& batch) override {
    const int n = static_cast<int>(batch.tokens.size());
    CHECK(n >= 1 && n <= max_batch() && batch.first_pos >= 0 && batch.first_pos + n <= cache.n_ctx());
    log_.calls.push_back({{batch.tokens.begin(), batch.tokens.end()}, batch.first_pos, batch.logits, batch.n_best});
    if (script_.fail_at_pos >= 0 && batch.first_pos + n > script_.fail_at_pos) {
      return lost(script_);
    }
    logits_.clear();
    if (batch.logits == WantLogits::kLast) append_row(batch.first_pos + n - 1);
    if (batch.logits == WantLogits::kAll) {
      CHECK(n <= max_logit_rows());
      for (int i = 0; i < n; ++i) append_row(batch.first_pos + i);
    }
    return logits_;
  }

  Result<std::unique_ptr<TokenStream>> decode(KvCache& cache, TokenId token, int pos, int n_tokens,
                                              const DeviceSampling& sampling) override {
    if (!script_.decodes) return nullptr;
    CHECK(n_tokens >= 1 && pos >= 0 && pos + n_tokens <= cache.n_ctx());
    log_.streams.push_back({token, pos, n_tokens, sampling});
    return std::make_unique<FakeStream>(script_, log_);
  }

  void observe(StepObserver) override {}

 private:
  void append_row(int pos) {
    const size_t row = logits_.size();
    logits_.resize(row + static_cast<size_t>(script_.n_vocab), 0.0f);
    logits_[row + static_cast<size_t>(next_token(script_, pos))] = 1.0f;
    if (script_.nan_at_pos >= 0 && pos >= script_.nan_at_pos) logits_.back() = NAN;
  }

  Script script_;
  Log& log_;
  std::vector<float> logits_;
};

}  // namespace

std::unique_ptr<Executable> make_executable(Script script, Log& log) {
  return std::make_unique<FakeExecutable>(std::move(script), log);
}

}  // namespace tern::fake
