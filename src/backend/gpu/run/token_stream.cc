// Decoding with the token loop on the device: token ids go straight into the next embeddings, and the host reads them
// later from a ring. Where logits change before a choice, the host must know the tokens before it: then it queues the
// layers of a step, takes the last token meanwhile, and queues the changes and the choice.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>

#include "backend/gpu/run/choice.h"
#include "backend/gpu/run/executable.h"
#include "base/check.h"
#include "base/median.h"

namespace tern::gpu {
namespace {

// Steps under way: the one that the host waits for, and the next. Between calls of next() one is under way. It writes
// states to their other places (GpuKvStore::pair_state), so those after the tokens taken are still there.
constexpr size_t kAhead = 2;

}  // namespace

class GpuTokenStream final : public TokenStream {
 public:
  GpuTokenStream(StreamHost& host, PreparedStore& store, Batch starts, int n_steps,
                 std::span<const DeviceSampling> sampling)
      : host_(host),
        store_(store),
        sampling_(sampling.begin(), sampling.end()),
        draws_(std::ranges::any_of(sampling, is_random)),
        changes_(std::ranges::any_of(sampling, [](const DeviceSampling& o) { return static_cast<bool>(o.changes); })),
        has_xtc_(std::ranges::any_of(sampling, is_xtc)),
        tokens_(starts.size()),
        n_left_(n_steps) {
    for (const Slice& start : starts) {
      rows_.push_back(
          {{start.blocks.begin(), start.blocks.end()}, start.n_ctx, start.first_pos, start.n_best, start.state});
      tokens_[rows_.size() - 1] = start.tokens[0];
    }
    ++host_.stats().n_streams;
    drawn_.reserve(kAhead * starts.size());
    if (changes_) changed_.resize(starts.size());
    if (has_xtc_) thresholds_.reserve(kAhead * starts.size());
  }
  GpuTokenStream(const GpuTokenStream&) = delete;
  GpuTokenStream& operator=(const GpuTokenStream&) = delete;
  ~GpuTokenStream() override {
    --host_.stats().n_streams;
    if (host_.has_control(*this)) host_.end_control();
  }

  Result<std::span<const TokenId>> next() override {
    if (!host_.has_control(*this)) TRY_STATUS(take_control());
    const size_t most = changes_ ? 1 : kAhead;
    while (n_left_ > 0 && under_way_.size() < most) TRY_STATUS(start_one());
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
    TRY_STATUS(check_tokens(tokens_, host_.n_vocab(), host_.device_name()));
    if (!drawn_.empty()) {
      const auto n_taken = static_cast<ptrdiff_t>(rows_.size());
      drawn_.erase(drawn_.begin(), drawn_.begin() + n_taken);
      if (has_xtc_) thresholds_.erase(thresholds_.begin(), thresholds_.begin() + n_taken);
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
    for (Row& row : rows_) row.pos -= n_lost + (are_layers_ahead_ ? 1 : 0);
    n_left_ += n_lost;
    are_layers_ahead_ = false;
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

  // The most that a row needs; 0 if one needs all.
  int n_best() const {
    int most = 0;
    for (const DeviceSampling& o : sampling_) {
      const int n = n_best_of(o);
      if (n == 0) return 0;
      most = std::max(most, n);
    }
    return most;
  }

  int last_pos() const { return std::ranges::max(rows_, {}, &Row::pos).pos; }

  // Uploads the next step's random numbers: the same as before if the step is repeated.
  Result<void> draw() {
    if (n_used_draws_ == drawn_.size()) {
      for (const DeviceSampling& o : sampling_) draw_for(o, has_xtc_, drawn_, thresholds_);
    }
    const auto of_step = [&](const std::vector<float>& all) {
      return std::span<const float>(all).subspan(n_used_draws_, rows_.size());
    };
    TRY_STATUS(host_.sampler().set_draws(step_, of_step(drawn_)));
    if (has_xtc_) TRY_STATUS(host_.sampler().set_thresholds(step_, of_step(thresholds_)));
    n_used_draws_ += rows_.size();
    return {};
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
    const BufferView ids = sampler.ids(step_, rows_.size());
    if (changes_ && !are_layers_ahead_) TRY_STATUS(run_layers());
    if (changes_) TRY_STATUS(change_logits());
    if (draws_) TRY_STATUS(draw());
    if (changes_) {
      TRY(auto queued, host_.queue_choice(store_, slice(0), *sampler_, ids, shape_));
      under_way_.push_back(std::move(queued));
      are_layers_ahead_ = false;
      if (n_left_ > 1) TRY_STATUS(run_layers());
    } else {
      shape_.n_pos = last_pos() + 1;
      shape_.embeds_next = rows_.size() == 1 && !draws_ && sampler.can_embed();
      shape_.is_embedded = shape_.embeds_next && step_ > 0;
      TRY(auto queued, host_.queue_step(store_, slice(0), *sampler_, ids, shape_));
      under_way_.push_back(std::move(queued));
      for (Row& row : rows_) ++row.pos;
    }
    ++step_;
    --n_left_;
    ++host_.stats().n_decoded;
    host_.stats().record_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  // Queues those of the next step, so that the device has work while the host lists changes.
  Result<void> run_layers() {
    shape_.n_pos = last_pos() + 1;
    shape_.n_best = n_best();
    TRY_STATUS(host_.queue_layers(store_, shape_));
    for (Row& row : rows_) ++row.pos;
    are_layers_ahead_ = true;
    return {};
  }

  Result<void> change_logits() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (sampling_[i].changes) sampling_[i].changes(changed_[i]);
    }
    return host_.sampler().change(changed_);
  }

  StreamHost& host_;
  PreparedStore& store_;
  std::vector<Row> rows_;
  const std::vector<DeviceSampling> sampling_;  // per row
  const bool draws_;                            // true if any row draws at random
  const bool changes_;                          // true if any row's logits may change before the choice
  const bool has_xtc_;                          // true if any row has XTC
  bool are_layers_ahead_ = false;               // with changes: the next step's layers are under way
  std::vector<std::vector<LogitChange>> changed_;
  const Program* sampler_ = nullptr;
  std::vector<TokenId> tokens_;  // per row, the token taken last
  RunShape shape_;
  int n_left_;  // steps to start
  uint64_t step_ = 0;
  std::deque<StreamHost::QueuedStep> under_way_;
  std::vector<float> thresholds_;  // those of XTC, like drawn_
  std::vector<float> drawn_;       // random numbers [steps, rows] of steps not yet taken, of which
  size_t n_used_draws_ = 0;        // … this many are in use by steps under way
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

Result<void> GpuExecutable::add_layers(PreparedStore& store, RunShape& shape) {
  TRY_STATUS(prepare(store, shape.n_pos));  // the store's buffers may have changed since the last step
  run_.commands.clear();
  shape = choose_layer_path(shape, store);
  TRY_STATUS(layer_path_->ready(shape));
  store.program().commands(shape, run_.commands);
  return {};
}

Result<void> GpuExecutable::queue_layers(PreparedStore& store, RunShape& shape) {
  TRY_STATUS(add_layers(store, shape));
  stats_.n_layer_dispatches = static_cast<int>(run_.commands.size());
  TRY_STATUS(device_->submit(run_.commands));
  run_.commands.clear();
  return {};
}

Result<StreamHost::QueuedStep> GpuExecutable::queue_step(PreparedStore& store, const Slice& first,
                                                         const Program& sampler, const BufferView& ids,
                                                         RunShape& shape) {
  TRY_STATUS(add_layers(store, shape));
  stats_.n_layer_dispatches = 0;
  return queue_choice(store, first, sampler, ids, shape);
}

Result<StreamHost::QueuedStep> GpuExecutable::queue_choice(PreparedStore& store, const Slice& first,
                                                           const Program& sampler, const BufferView& ids,
                                                           const RunShape& shape) {
  sampler.commands(shape, run_.commands);
  turn_states_.commands(shape, run_.commands);
  const auto n_rows = static_cast<size_t>(shape.n_tokens);
  QueuedStep queued;
  BufferView from = ids;
  if (shape.megakernel_workgroups > 0) {  // the tokens are preceded by the number of failed waits
    queued.megakernel_rows = shape.n_tokens;
    run_.commands.push_back({.grid = {}, .from = ids, .to = layer_path_->token_slot(shape.n_tokens, n_rows)});
    from = layer_path_->outcome(shape.n_tokens, n_rows);
  }
  TRY(queued.ids, device_->read_later(from, run_.commands));
  if (shape.n_tokens == 1) {
    remember(store, first, &sampler, shape);
    stats_.last.dispatches += stats_.n_layer_dispatches;
  }
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
