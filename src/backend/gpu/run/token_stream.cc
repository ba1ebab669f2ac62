// Decoding with the token loop on the device: token ids go straight into the next embeddings, and the host reads them
// later from a ring.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>

#include "backend/gpu/run/executable.h"
#include "base/check.h"
#include "base/median.h"

namespace tern::gpu {
namespace {

// Steps under way: the one that the host waits for, and the next. Between calls of next() one is under way. It writes
// states to their other places (GpuKvStore::pair_state), so those after the tokens taken are still there.
constexpr size_t kAhead = 2;

// The number of best logits that decide a row's token (Slice::n_best). Deviations are those of all logits.
int n_best_of(const DeviceSampling& o) {
  if (o.temperature == 0) return 1;
  return o.top_n_sigma > 0 ? 0 : std::max(o.top_k, 0);
}

}  // namespace

class GpuTokenStream final : public TokenStream {
 public:
  GpuTokenStream(StreamHost& host, PreparedStore& store, Batch starts, int n_steps,
                 std::span<const DeviceSampling> sampling)
      : host_(host),
        store_(store),
        sampling_(sampling.begin(), sampling.end()),
        draws_(std::ranges::any_of(sampling, [](const DeviceSampling& o) { return o.temperature > 0; })),
        tokens_(starts.size()),
        n_left_(n_steps) {
    for (const Slice& start : starts) {
      rows_.push_back(
          {{start.blocks.begin(), start.blocks.end()}, start.n_ctx, start.first_pos, start.n_best, start.state});
      tokens_[rows_.size() - 1] = start.tokens[0];
    }
    ++host_.stats().n_streams;
    drawn_.reserve(kAhead * starts.size());
  }
  GpuTokenStream(const GpuTokenStream&) = delete;
  GpuTokenStream& operator=(const GpuTokenStream&) = delete;
  ~GpuTokenStream() override {
    --host_.stats().n_streams;
    if (host_.has_control(*this)) host_.end_control();
  }

  Result<std::span<const TokenId>> next() override {
    if (!host_.has_control(*this)) TRY_STATUS(take_control());
    while (n_left_ > 0 && under_way_.size() < kAhead) TRY_STATUS(start_one());
    CHECK(!under_way_.empty());
    TRY(Bytes bytes, under_way_.front().ids->wait());
    if (const int rows = under_way_.front().megakernel_rows; rows > 0) {
      if (host_.has_failed(bytes)) {  // computes this step and those after it again, in steps
        host_.disable_megakernel(rows);
        host_.end_control();
        return next();
      }
      bytes = bytes.subspan(sizeof(uint32_t));
    }
    count_step();
    std::memcpy(tokens_.data(), bytes.data(), tokens_.size() * sizeof(TokenId));
    under_way_.pop_front();
    for (const Row& row : rows_) {
      if (row.state >= 0) store_.move_state(row.state);
    }
    for (const TokenId token : tokens_) {
      if (token >= 0 && token < host_.n_vocab()) continue;
      return fail(ErrorCode::kDeviceLost,
                  "{}: the GPU chose token {}, which does not exist; its driver may be at fault", host_.device_name(),
                  token);
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
    StateId state;  // below 0: none
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
    TRY(sampler_, host_.sampler().choosing(sampling_));
    std::vector<Slice> slices;
    for (size_t i = 0; i < rows_.size(); ++i) slices.push_back(slice(i));
    TRY(shape_, host_.give_control(*this, store_, slices, n_left_ - 1));
    return {};
  }

  // A slice with the row's last taken token.
  Slice slice(size_t row) const {
    const Row& r = rows_[row];
    return {.tokens = {&tokens_[row], 1},
            .first_pos = r.pos,
            .n_best = r.n_best,
            .blocks = r.blocks,
            .n_ctx = r.n_ctx,
            .state = r.state};
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
      host_.stats().stream_seconds += std::chrono::duration<double>(now - *last_step_).count();
      ++host_.stats().n_streamed;
    }
    last_step_ = now;
  }

  Result<void> start_one() {
    const auto start = std::chrono::steady_clock::now();
    DeviceSampler& sampler = host_.sampler();
    shape_.n_pos = last_pos() + 1;
    shape_.embeds_next = rows_.size() == 1 && !draws_ && sampler.can_embed();
    shape_.is_embedded = shape_.embeds_next && step_ > 0;
    if (draws_) TRY_STATUS(sampler.set_draws(step_, draw()));
    TRY(auto queued, host_.queue_step(store_, slice(0), *sampler_, sampler.ids(step_, rows_.size()), shape_));
    under_way_.push_back(std::move(queued));
    for (Row& row : rows_) ++row.pos;
    ++step_;
    --n_left_;
    ++host_.stats().n_decoded;
    host_.stats().record_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  StreamHost& host_;
  PreparedStore& store_;
  std::vector<Row> rows_;
  const std::vector<DeviceSampling> sampling_;  // per row
  const bool draws_;                            // true if any row draws at random
  const Program* sampler_ = nullptr;
  std::vector<TokenId> tokens_;  // per row, the token taken last
  RunShape shape_;
  int n_left_;  // steps to start
  uint64_t step_ = 0;
  std::deque<StreamHost::QueuedStep> under_way_;
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
  TRY(const bool moves_states, pair_states(gpu_store, rows));
  if (work_->has_states() && !moves_states) return nullptr;
  TRY_STATUS(check_before(gpu_store, rows));
  run_.in_control = nullptr;  // the sampler may now have another stream's options
  StreamHost& host = *this;
  return std::make_unique<GpuTokenStream>(host, gpu_store, rows, n_tokens, sampling);
}

bool GpuExecutable::has_control(const GpuTokenStream& stream) const { return run_.in_control == &stream; }

Result<RunShape> GpuExecutable::give_control(const GpuTokenStream& stream, const PreparedStore& store, Batch rows,
                                             int n_more) {
  work_->ropes().reserve(std::ranges::max(rows, {}, &Slice::first_pos).first_pos + n_more + 1);
  TRY(const RunShape shape, put(store, rows, n_more, work_->has_states()));
  run_.in_control = &stream;
  return shape;
}

Result<StreamHost::QueuedStep> GpuExecutable::queue_step(PreparedStore& store, const Slice& first,
                                                         const Program& sampler, const BufferView& ids,
                                                         RunShape& shape) {
  TRY_STATUS(prepare(store, shape.n_pos));  // the store's buffers may have changed since the last step
  run_.commands.clear();
  shape = choose_layer_path(shape, store);
  store.program().commands(shape, run_.commands);
  sampler.commands(shape, run_.commands);
  turn_states_.commands(shape, run_.commands);
  const auto n_rows = static_cast<size_t>(shape.n_tokens);
  QueuedStep queued;
  BufferView from = ids;
  if (shape.megakernel_workgroups > 0) {  // the tokens are preceded by the number of failed waits
    queued.megakernel_rows = shape.n_tokens;
    TRY_STATUS(layer_path_->ready(shape));
    run_.commands.push_back({.grid = {}, .from = ids, .to = layer_path_->token_slot(shape.n_tokens, n_rows)});
    from = layer_path_->outcome(shape.n_tokens, n_rows);
  }
  TRY(queued.ids, device_->read_later(from, run_.commands));
  if (shape.n_tokens == 1) remember(store, first, &sampler, shape);
  return queued;
}

double GpuExecutable::time_last_token() const {
  if (stats_.n_streams > 0 || !device_->features().timestamps) return 0;
  // Three times, because the GPU may be asleep at the first.
  std::array<double, 3> seconds{};
  for (double& one : seconds) {
    const auto commands = last_token_again();
    if (!commands || commands->empty()) return 0;
    one = device_->time_whole(*commands).value_or(0);
  }
  return median(seconds);
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
  stats.dispatches_per_token = stats_.last.dispatches;
  stats.gpu_ms_per_token = time_last_token() * 1e3;
  if (stats_.n_decoded > 0)
    stats.record_ms_per_token = stats_.record_seconds * 1e3 / static_cast<double>(stats_.n_decoded);
  if (stats_.n_streamed > 0 && stats.gpu_ms_per_token > 0) {
    const double token_ms = stats_.stream_seconds * 1e3 / static_cast<double>(stats_.n_streamed);
    stats.host_ms_per_token = std::max(token_ms - stats.gpu_ms_per_token, 0.0);
  }
  return stats;
}

}  // namespace tern::gpu
