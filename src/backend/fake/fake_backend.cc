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

// Counts its blocks, which have no contents.
class FakeKvStore final : public KvStore {
 public:
  FakeKvStore(const Script& script, int block_tokens, KvType type, Log& log)
      : script_(script), block_tokens_(block_tokens), type_(type), log_(log) {}
  FakeKvStore(const FakeKvStore&) = delete;
  FakeKvStore& operator=(const FakeKvStore&) = delete;
  ~FakeKvStore() override { log_.n_blocks -= n_blocks_; }
  KvType type() const override { return type_; }
  int block_tokens() const override { return block_tokens_; }
  uint64_t block_bytes() const override { return 0; }
  Result<void> allocate(KvBlockId) override {
    if ((log_.n_blocks + 1) * block_tokens_ > script_.most_ctx) {
      return fail(ErrorCode::kOutOfMemory, "no memory for another block of {} tokens", block_tokens_);
    }
    ++log_.n_blocks;
    ++n_blocks_;
    return {};
  }
  void free(KvBlockId) override {
    --log_.n_blocks;
    --n_blocks_;
  }
  Result<void> copy(KvBlockId, KvBlockId) override { return {}; }
  Result<void> read(KvBlockId, MutableBytes) const override { return {}; }
  Result<void> write(KvBlockId, Bytes) override { return {}; }

 private:
  const Script& script_;
  int block_tokens_;
  KvType type_;
  Log& log_;
  int n_blocks_ = 0;  // of this store
};

// Streams the script's tokens, running ahead as the script says. Aborts if the caller asks for too many.
class FakeStream final : public TokenStream {
 public:
  FakeStream(const Script& script, Log& log, size_t n)
      : script_(script), log_(log), first_(log.streams.size() - n), tokens_(n) {
    ++log_.n_live_streams;
  }
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;
  ~FakeStream() override { --log_.n_live_streams; }

  Result<std::span<const TokenId>> next() override {
    const auto streams = std::span(log_.streams).subspan(first_, tokens_.size());
    for (const Log::Stream& stream : streams) {
      CHECK(stream.n_taken < stream.n_tokens);
      if (script_.fail_at_pos >= 0 && stream.pos + stream.n_taken >= script_.fail_at_pos) return lost(script_);
    }
    const Log::Stream& any = streams[0];
    const int n_run = std::min(any.n_taken + 1 + script_.runs_ahead, any.n_tokens);
    for (; n_run_ < n_run; ++n_run_) {
      for (Log::Stream& stream : streams) {
        if (stream.sampling.temperature == 0) continue;
        if (stream.sampling.xtc_probability > 0) stream.random.push_back(stream.sampling.uniform());
        stream.random.push_back(stream.sampling.uniform());
      }
    }
    for (size_t i = 0; i < tokens_.size(); ++i) {
      tokens_[i] = choose(streams[i]);
      ++streams[i].n_taken;
    }
    return std::span<const TokenId>(tokens_);
  }

 private:
  // The best token after the changes, which are for logits like those of run().
  TokenId choose(Log::Stream& stream) const {
    const TokenId next = next_token(script_, stream.pos + stream.n_taken);
    if (!stream.sampling.changes) return next;
    const std::vector<LogitChange>& changes = stream.changes.emplace_back();
    stream.sampling.changes(stream.changes.back());
    std::vector<float> logits(static_cast<size_t>(script_.n_vocab), 0.0f);
    logits[static_cast<size_t>(next)] = 1;
    for (const LogitChange& c : changes) {
      float& logit = logits[static_cast<size_t>(c.token)];
      logit = changed(logit, c);
    }
    return static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
  }

  const Script& script_;
  Log& log_;
  const size_t first_;
  std::vector<TokenId> tokens_;
  int n_run_ = 0;
};

class FakeExecutable final : public Executable {
 public:
  FakeExecutable(Script script, Log& log) : script_(std::move(script)), log_(log) { CHECK(!script_.next.empty()); }

  std::string description() const override { return "fake"; }
  int max_batch() const override { return script_.max_batch; }
  int max_logit_rows() const override { return script_.max_logit_rows; }

  int max_slices() const override { return script_.max_slices; }
  bool decodes() const override { return script_.decodes; }

  int kv_block_tokens(int n_ctx) const override { return script_.block_tokens > 0 ? script_.block_tokens : n_ctx; }
  Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const override {
    return std::make_unique<FakeKvStore>(script_, block_tokens, type, log_);
  }

  using Executable::decode;
  using Executable::run;
  Result<std::span<const float>> run(KvStore& store, Batch batch) override {
    int n = 0, n_rows = 0;
    for (const Slice& slice : batch) {
      check(store, slice, static_cast<int>(slice.tokens.size()));
      n += static_cast<int>(slice.tokens.size());
      n_rows += slice.n_logit_rows();
      log_.calls.push_back({{slice.tokens.begin(), slice.tokens.end()},
                            slice.first_pos,
                            slice.logits,
                            slice.n_best,
                            log_.n_batches,
                            {slice.blocks.begin(), slice.blocks.end()}});
    }
    CHECK(n >= 1 && n <= max_batch() && n_rows <= max_logit_rows() && std::ssize(batch) <= max_slices());
    ++log_.n_batches;
    std::ranges::fill(logits_, 0.0f);  // those of the run before are no longer valid
    logits_.clear();
    for (const Slice& slice : batch) {
      const int end = slice.first_pos + static_cast<int>(slice.tokens.size());
      if (script_.fail_at_pos >= 0 && end > script_.fail_at_pos) return lost(script_);
      for (int pos = end - slice.n_logit_rows(); pos < end; ++pos) append_row(pos);
    }
    return logits_;
  }

  Result<std::unique_ptr<TokenStream>> decode(KvStore& store, Batch starts, int n_tokens,
                                              std::span<const DeviceSampling> sampling) override {
    if (!script_.decodes || std::ssize(starts) > script_.most_streamed) return nullptr;
    CHECK(!starts.empty() && starts.size() == sampling.size() && n_tokens >= 1);
    CHECK(std::ssize(starts) <= std::min(max_slices(), max_logit_rows()));
    for (size_t i = 0; i < starts.size(); ++i) {
      CHECK(starts[i].tokens.size() == 1);
      check(store, starts[i], n_tokens);
      log_.streams.push_back({.token = starts[i].tokens[0],
                              .pos = starts[i].first_pos,
                              .n_tokens = n_tokens,
                              .sampling = sampling[i],
                              .together = static_cast<int>(starts.size())});
    }
    return std::make_unique<FakeStream>(script_, log_, starts.size());
  }

  Result<std::optional<ChosenTokens>> run_and_choose(KvStore& store, Batch batch,
                                                     std::span<const DeviceSampling> sampling) override {
    if (!script_.chooses) return std::nullopt;
    TRY(const std::span<const float> rows, run(store, batch));
    const auto width = static_cast<size_t>(script_.n_vocab);
    chosen_.clear();
    shown_.clear();
    for (const Slice& slice : batch) {
      if (slice.n_logit_rows() == 0) continue;
      const DeviceSampling& how = sampling[chosen_.size()];
      CHECK(slice.n_logit_rows() == 1 && !how.changes);
      if (how.temperature > 0) how.uniform();
      const auto row = rows.subspan(chosen_.size() * width, width);
      if (slice.tokens.size() > 1) shown_.insert(shown_.end(), row.begin(), row.end());
      chosen_.push_back(next_token(script_, slice.first_pos + static_cast<int>(slice.tokens.size()) - 1));
    }
    CHECK(chosen_.size() == sampling.size());
    log_.n_chosen += static_cast<int>(chosen_.size());
    return ChosenTokens{.tokens = chosen_, .logits = shown_};
  }

  void observe(StepObserver) override {}

 private:
  // Checks that the slice's blocks cover what it writes.
  static void check(const KvStore& store, const Slice& slice, int n) {
    CHECK(n >= 1 && slice.first_pos >= 0 && slice.first_pos + n <= slice.n_ctx);
    CHECK(slice.first_pos + n <= std::ssize(slice.blocks) * store.block_tokens());
  }

  void append_row(int pos) {
    const size_t row = logits_.size();
    logits_.resize(row + static_cast<size_t>(script_.n_vocab), 0.0f);
    logits_[row + static_cast<size_t>(next_token(script_, pos))] = 1.0f;
    if (script_.nan_at_pos >= 0 && pos >= script_.nan_at_pos) logits_.back() = NAN;
  }

  Script script_;
  Log& log_;
  std::vector<float> logits_, shown_;
  std::vector<TokenId> chosen_;
};

}  // namespace

std::unique_ptr<Executable> make_executable(Script script, Log& log) {
  return std::make_unique<FakeExecutable>(std::move(script), log);
}

}  // namespace tern::fake
