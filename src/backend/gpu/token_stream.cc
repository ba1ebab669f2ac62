// Decoding with the token loop on the device: each token's id goes straight into the next embedding, and the host reads
// a ring of ids behind it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>

#include "backend/gpu/executable.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

// Tokens that the device works on while the host waits for an older one.
constexpr size_t kAhead = 2;

}  // namespace

class GpuTokenStream final : public TokenStream {
 public:
  GpuTokenStream(GpuExecutable& executable, GpuKvCache& cache, TokenId token, int pos, int n_tokens,
                 const DeviceSampling& sampling)
      : executable_(executable), cache_(cache), sampling_(sampling), token_(token), pos_(pos), n_left_(n_tokens) {
    ++executable_.streams_;
    drawn_.reserve(kAhead);
  }
  GpuTokenStream(const GpuTokenStream&) = delete;
  GpuTokenStream& operator=(const GpuTokenStream&) = delete;
  ~GpuTokenStream() override {
    --executable_.streams_;
    if (executable_.in_control_ == this) executable_.in_control_ = nullptr;
  }

  Result<TokenId> next() override {
    if (executable_.in_control_ != this) TRY_STATUS(take_control());
    while (n_left_ > 0 && under_way_.size() < kAhead) TRY_STATUS(start_one());
    CHECK(!under_way_.empty());
    const auto oldest = std::move(under_way_.front());
    under_way_.pop_front();
    TRY(const Bytes bytes, oldest->wait());
    count_token();
    TokenId token = 0;
    std::memcpy(&token, bytes.data(), sizeof token);
    if (token < 0 || token >= executable_.plan_.config.n_vocab) {
      return fail(ErrorCode::kDeviceLost,
                  "{}: the GPU chose token {}, which does not exist; its driver may be at fault",
                  executable_.device_->adapter().name, token);
    }
    if (!drawn_.empty()) {
      drawn_.erase(drawn_.begin());
      --n_used_draws_;
    }
    return token_ = token;
  }

 private:
  // At first, and after something else has run: the device goes on from the token that was taken last, and draws the
  // tokens that were under way with the same numbers again.
  Result<void> take_control() {
    const auto n_lost = static_cast<int>(under_way_.size());
    under_way_.clear();
    pos_ -= n_lost;
    n_left_ += n_lost;
    step_ = 0;
    n_used_draws_ = 0;
    last_token_.reset();
    GpuExecutable& e = executable_;
    chooser_ = &e.chooser_->greedy();
    if (sampling_.temperature > 0) {
      TRY(chooser_, e.chooser_->sampling(sampling_));
    }
    TRY_STATUS(e.set_token(token_, pos_));
    e.in_control_ = this;
    return {};
  }

  float draw() {
    if (n_used_draws_ == drawn_.size()) drawn_.push_back(sampling_.uniform());
    return drawn_[n_used_draws_++];
  }

  // The first token of a stream has nothing before it to be measured from.
  void count_token() {
    const auto now = std::chrono::steady_clock::now();
    if (last_token_) {
      executable_.stream_seconds_ += std::chrono::duration<double>(now - *last_token_).count();
      ++executable_.streamed_;
    }
    last_token_ = now;
  }

  Result<void> start_one() {
    const auto start = std::chrono::steady_clock::now();
    GpuExecutable& e = executable_;
    const RunShape shape{.n_tokens = 1, .n_logit_rows = 1, .n_pos = pos_ + 1};
    e.commands_.clear();
    cache_.program.commands(shape, e.commands_);
    chooser_->commands(shape, e.commands_);
    if (sampling_.temperature > 0) TRY_STATUS(e.chooser_->set_draw(step_, draw()));
    TRY(auto back, e.device_->read_later(e.chooser_->id(step_), e.commands_));
    under_way_.push_back(std::move(back));
    ++pos_;
    ++step_;
    --n_left_;
    e.last_ = {cache_.watch(), chooser_, shape, static_cast<int>(e.commands_.size())};
    ++e.decoded_;
    e.record_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  GpuExecutable& executable_;
  GpuKvCache& cache_;
  const DeviceSampling sampling_;
  const Program* chooser_ = nullptr;
  TokenId token_;  // the last that was taken
  int pos_;        // of the next to be started
  int n_left_;
  uint64_t step_ = 0;
  std::deque<std::unique_ptr<ReadBack>> under_way_;
  std::vector<float> drawn_;  // the random numbers of tokens that were not taken, of which
  size_t n_used_draws_ = 0;   // … are those of the tokens under way
  std::optional<std::chrono::steady_clock::time_point> last_token_;
};

Result<std::unique_ptr<TokenStream>> GpuExecutable::decode(KvCache& any_cache, TokenId token, int pos, int n_tokens,
                                                           const DeviceSampling& sampling) {
  if (observer_) return nullptr;
  const Program* chooser = &chooser_->greedy();
  if (sampling.temperature > 0) {
    TRY(chooser, chooser_->sampling(sampling));
  }
  if (chooser == nullptr) return nullptr;
  auto& cache = static_cast<GpuKvCache&>(any_cache);
  CHECK(n_tokens >= 1 && pos + n_tokens <= cache.n_ctx());
  return std::make_unique<GpuTokenStream>(*this, cache, token, pos, n_tokens, sampling);
}

double GpuExecutable::time_last_token() const {
  if (streams_ > 0 || !device_->features().timestamps) return 0;
  // The middle of three: the first may find the GPU asleep.
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
