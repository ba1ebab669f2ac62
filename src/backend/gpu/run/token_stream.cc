// Decoding with the token loop on the device: token ids go straight into the next embeddings, and the host reads them
// later from a ring.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>

#include "backend/gpu/run/executable.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

// Steps queued on the device while the host waits for an older one.
constexpr size_t kAhead = 2;

// The number of best logits that decide a row's token (Slice::n_best).
int n_best_of(const DeviceSampling& o) { return o.temperature == 0 ? 1 : std::max(o.top_k, 0); }

}  // namespace

class GpuTokenStream final : public TokenStream {
 public:
  GpuTokenStream(GpuExecutable& executable, PreparedStore& store, Batch starts, int n_steps,
                 std::span<const DeviceSampling> sampling)
      : executable_(executable),
        store_(store),
        sampling_(sampling.begin(), sampling.end()),
        draws_(std::ranges::any_of(sampling, [](const DeviceSampling& o) { return o.temperature > 0; })),
        tokens_(starts.size()),
        n_left_(n_steps) {
    for (const Slice& start : starts) {
      rows_.push_back({{start.blocks.begin(), start.blocks.end()}, start.n_ctx, start.first_pos, start.n_best});
      tokens_[rows_.size() - 1] = start.tokens[0];
    }
    ++executable_.streams_;
    drawn_.reserve(kAhead * starts.size());
  }
  GpuTokenStream(const GpuTokenStream&) = delete;
  GpuTokenStream& operator=(const GpuTokenStream&) = delete;
  ~GpuTokenStream() override {
    --executable_.streams_;
    if (executable_.in_control_ == this) executable_.in_control_ = nullptr;
  }

  Result<std::span<const TokenId>> next() override {
    if (executable_.in_control_ != this) TRY_STATUS(take_control());
    while (n_left_ > 0 && under_way_.size() < kAhead) TRY_STATUS(start_one());
    CHECK(!under_way_.empty());
    TRY(Bytes bytes, under_way_.front().ids->wait());
    if (under_way_.front().in_one) {
      if (OneDispatch::has_failed(bytes)) {  // computes this step and those after it again, in steps
        executable_.leave_one_dispatch(*under_way_.front().in_one);
        executable_.in_control_ = nullptr;
        return next();
      }
      bytes = bytes.subspan(sizeof(uint32_t));
    }
    count_step();
    std::memcpy(tokens_.data(), bytes.data(), tokens_.size() * sizeof(TokenId));
    under_way_.pop_front();
    for (const TokenId token : tokens_) {
      if (token >= 0 && token < executable_.plan_.config.n_vocab) continue;
      return fail(ErrorCode::kDeviceLost,
                  "{}: the GPU chose token {}, which does not exist; its driver may be at fault",
                  executable_.device_->adapter().name, token);
    }
    if (!drawn_.empty()) {
      drawn_.erase(drawn_.begin(), drawn_.begin() + static_cast<ptrdiff_t>(rows_.size()));
      n_used_draws_ -= rows_.size();
    }
    return std::span<const TokenId>(tokens_);
  }

 private:
  struct Row {
    std::vector<KvBlockId> blocks;
    int n_ctx;
    int pos;  // of the next step to start
    int n_best;
  };

  // Called at first, and after something else has run. The device continues from the tokens taken last; tokens under
  // way are drawn again with the same numbers.
  Result<void> take_control() {
    const auto n_lost = static_cast<int>(under_way_.size());
    under_way_.clear();
    for (Row& row : rows_) row.pos -= n_lost;
    n_left_ += n_lost;
    step_ = 0;
    n_used_draws_ = 0;
    last_step_.reset();
    GpuExecutable& e = executable_;
    TRY(sampler_, e.sampler_->choosing(sampling_));
    std::vector<Slice> slices;
    for (size_t i = 0; i < rows_.size(); ++i) slices.push_back(slice(i));
    e.work_->ropes().reserve(last_pos() + n_left_);
    TRY(shape_, e.put(slices, n_left_ - 1));
    e.in_control_ = this;
    return {};
  }

  // A slice with the row's last taken token.
  Slice slice(size_t row) const {
    const Row& r = rows_[row];
    return {.tokens = {&tokens_[row], 1}, .first_pos = r.pos, .n_best = r.n_best, .blocks = r.blocks, .n_ctx = r.n_ctx};
  }

  int last_pos() const { return std::ranges::max(rows_, {}, &Row::pos).pos; }

  // The next step's random numbers: the same as before if the step is repeated.
  std::span<const float> draw() {
    if (n_used_draws_ == drawn_.size()) {
      for (const DeviceSampling& o : sampling_) drawn_.push_back(o.temperature > 0 ? o.uniform() : 0.0f);
    }
    const auto numbers = std::span<const float>(drawn_).subspan(n_used_draws_, rows_.size());
    n_used_draws_ += rows_.size();
    return numbers;
  }

  // gpu_stats describes single tokens, so only streams of one sequence count. A stream's first token has no predecessor
  // to measure from.
  void count_step() {
    if (rows_.size() > 1) return;
    const auto now = std::chrono::steady_clock::now();
    if (last_step_) {
      executable_.stream_seconds_ += std::chrono::duration<double>(now - *last_step_).count();
      ++executable_.streamed_;
    }
    last_step_ = now;
  }

  Result<void> start_one() {
    const auto start = std::chrono::steady_clock::now();
    GpuExecutable& e = executable_;
    shape_.n_pos = last_pos() + 1;
    TRY_STATUS(e.prepare(store_, shape_.n_pos));  // the store's buffers may have changed since the last step
    e.commands_.clear();
    shape_ = e.in_best_way(shape_, store_);
    shape_.embeds_next = rows_.size() == 1 && !draws_ && e.sampler_->can_embed();
    shape_.is_embedded = shape_.embeds_next && step_ > 0;
    store_.program().commands(shape_, e.commands_);
    sampler_->commands(shape_, e.commands_);
    if (draws_) TRY_STATUS(e.sampler_->set_draws(step_, draw()));
    BufferView ids = e.sampler_->ids(step_, rows_.size());
    OneDispatch* const one = shape_.in_one > 0 ? e.one_for(shape_.n_tokens) : nullptr;
    if (one) {  // the tokens are preceded by the number of failed waits
      TRY_STATUS(one->ready(shape_.in_one, shape_.n_tokens, shape_.n_pos));
      e.commands_.push_back({.grid = {}, .from = ids, .to = one->token_slot(rows_.size())});
      ids = one->outcome(rows_.size());
    }
    TRY(auto back, e.device_->read_later(ids, e.commands_));
    under_way_.push_back({std::move(back), one});
    for (Row& row : rows_) ++row.pos;
    ++step_;
    --n_left_;
    if (rows_.size() == 1) e.remember(store_, slice(0), sampler_, shape_);
    ++e.decoded_;
    e.record_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  GpuExecutable& executable_;
  PreparedStore& store_;
  std::vector<Row> rows_;
  const std::vector<DeviceSampling> sampling_;  // per row
  const bool draws_;                            // true if any row draws at random
  const Program* sampler_ = nullptr;
  std::vector<TokenId> tokens_;  // per row, the token taken last
  RunShape shape_;
  int n_left_;  // steps to start
  uint64_t step_ = 0;
  struct Step {
    std::unique_ptr<ReadBack> ids;
    OneDispatch* in_one;  // null: computed in steps, so that no count of failed waits precedes the ids
  };
  std::deque<Step> under_way_;
  std::vector<float> drawn_;  // random numbers [steps, rows] of steps not yet taken, of which
  size_t n_used_draws_ = 0;   // … this many are in use by steps under way
  std::optional<std::chrono::steady_clock::time_point> last_step_;
};

Result<std::unique_ptr<TokenStream>> GpuExecutable::decode(KvStore& store, Batch starts, int n_tokens,
                                                           std::span<const DeviceSampling> sampling) {
  const auto is_one_token = [](const Slice& slice) { return slice.tokens.size() == 1; };
  CHECK(!starts.empty() && std::ssize(starts) <= std::min(max_slices(), max_logit_rows()) && n_tokens >= 1);
  CHECK(std::ranges::all_of(starts, is_one_token) && sampling.size() == starts.size());
  if (observer_) return nullptr;
  TRY(const Program* sampler, sampler_->choosing(sampling));
  if (sampler == nullptr) return nullptr;
  std::vector<Slice> rows(starts.begin(), starts.end());
  for (size_t i = 0; i < rows.size(); ++i) rows[i].n_best = n_best_of(sampling[i]);
  auto& gpu_store = static_cast<PreparedStore&>(store);
  TRY_STATUS(check_before(gpu_store, rows));
  in_control_ = nullptr;  // the sampler may now have another stream's options
  return std::make_unique<GpuTokenStream>(*this, gpu_store, rows, n_tokens, sampling);
}

double GpuExecutable::time_last_token() const {
  if (streams_ > 0 || !device_->features().timestamps) return 0;
  // The median of three: the GPU may be asleep at the first.
  std::array<double, 3> seconds{};
  for (double& one : seconds) {
    const auto commands = last_token_again();
    if (!commands || commands->empty()) return 0;
    one = device_->time_whole(*commands).value_or(0);
  }
  std::ranges::sort(seconds);
  return seconds[1];
}

std::optional<GpuStats> GpuExecutable::gpu_stats() const {
  const PipelineStats pipelines = device_->pipeline_stats();
  GpuStats stats;
  stats.shaders = pipelines.compiled;
  const int asked = pipelines.compiled + pipelines.hits;
  stats.pipeline_hit_rate = asked == 0 ? 0 : static_cast<double>(pipelines.hits) / asked;
  stats.disk_hits = pipelines.disk_hits;
  stats.compile_seconds = pipelines.seconds;
  stats.compile_threads = pipelines.threads;
  stats.upload_seconds = weights_.seconds();
  stats.upload_bytes = weights_.bytes();
  stats.device_bytes = device_->allocated_bytes();
  stats.dispatches_per_token = last_.dispatches;
  stats.gpu_ms_per_token = time_last_token() * 1e3;
  if (decoded_ > 0) stats.record_ms_per_token = record_seconds_ * 1e3 / static_cast<double>(decoded_);
  if (streamed_ > 0 && stats.gpu_ms_per_token > 0) {
    const double token_ms = stream_seconds_ * 1e3 / static_cast<double>(streamed_);
    stats.host_ms_per_token = std::max(token_ms - stats.gpu_ms_per_token, 0.0);
  }
  return stats;
}

}  // namespace tern::gpu
