#include "backend/fake/fake_backend.h"

#include <algorithm>

#include "base/check.h"

namespace tern::fake {
namespace {

class FakeKvCache final : public KvCache {
 public:
  explicit FakeKvCache(int n_ctx) : n_ctx_(n_ctx) {}
  int n_ctx() const override { return n_ctx_; }
  uint64_t bytes() const override { return 0; }

 private:
  int n_ctx_;
};

class FakeExecutable final : public Executable {
 public:
  FakeExecutable(Script script, Log& log) : script_(std::move(script)), log_(log) { CHECK(!script_.next.empty()); }

  std::string description() const override { return "fake"; }
  int max_batch() const override { return script_.max_batch; }
  int max_logit_rows() const override { return script_.max_logit_rows; }

  Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType) const override {
    return std::make_unique<FakeKvCache>(n_ctx);
  }

  Result<std::span<const float>> run(KvCache& cache, const Batch& batch) override {
    const int n = static_cast<int>(batch.tokens.size());
    CHECK(n >= 1 && n <= max_batch() && batch.first_pos >= 0 && batch.first_pos + n <= cache.n_ctx());
    log_.calls.push_back({{batch.tokens.begin(), batch.tokens.end()}, batch.first_pos, batch.logits});
    if (script_.fail_at_pos >= 0 && batch.first_pos + n > script_.fail_at_pos) {
      return fail(ErrorCode::kDeviceLost, "the fake device is lost at position {}", script_.fail_at_pos);
    }
    logits_.clear();
    if (batch.logits == WantLogits::kLast) append_row(batch.first_pos + n - 1);
    if (batch.logits == WantLogits::kAll) {
      CHECK(n <= max_logit_rows());
      for (int i = 0; i < n; ++i) append_row(batch.first_pos + i);
    }
    return logits_;
  }

  void observe(StepObserver) override {}

 private:
  void append_row(int pos) {
    const size_t row = logits_.size();
    logits_.resize(row + static_cast<size_t>(script_.n_vocab), 0.0f);
    const auto i = std::min(static_cast<size_t>(pos), script_.next.size() - 1);
    logits_[row + static_cast<size_t>(script_.next[i])] = 1.0f;
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
