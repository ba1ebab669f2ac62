// Decoding with the token loop on the device: each token's id goes straight into the next embedding, and the host reads
// a ring of ids behind it.
#include <chrono>
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
  GpuTokenStream(GpuExecutable& executable, GpuKvCache& cache, int pos, int n_tokens)
      : executable_(executable), cache_(cache), pos_(pos), n_left_(n_tokens) {}

  Result<TokenId> next() override {
    while (n_left_ > 0 && under_way_.size() < kAhead) TRY_STATUS(start_one());
    CHECK(!under_way_.empty());
    const auto oldest = std::move(under_way_.front());
    under_way_.pop_front();
    TRY(const Bytes bytes, oldest->wait());
    TokenId token = 0;
    std::memcpy(&token, bytes.data(), sizeof token);
    if (token < 0 || token >= executable_.plan_.config.n_vocab) {
      return fail(ErrorCode::kDeviceLost,
                  "{}: the GPU chose token {}, which does not exist; its driver may be at fault",
                  executable_.device_->adapter().name, token);
    }
    return token;
  }

 private:
  Result<void> start_one() {
    const auto start = std::chrono::steady_clock::now();
    GpuExecutable& e = executable_;
    const RunShape shape{.n_tokens = 1, .n_logit_rows = 1, .n_pos = pos_ + 1};
    e.commands_.clear();
    cache_.program.commands(shape, e.commands_);
    e.chooser_.program.commands(shape, e.commands_);
    const BufferView id{e.chooser_.ids.get(), 4 * (step_ % GpuExecutable::kRing), 4};
    TRY(auto back, e.device_->read_later(id, e.commands_));
    under_way_.push_back(std::move(back));
    ++pos_;
    ++step_;
    --n_left_;
    e.last_cache_ = &cache_;
    e.last_shape_ = shape;
    ++e.decoded_;
    e.host_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  GpuExecutable& executable_;
  GpuKvCache& cache_;
  int pos_;
  int n_left_;
  uint64_t step_ = 0;
  std::deque<std::unique_ptr<ReadBack>> under_way_;
};

Result<std::unique_ptr<TokenStream>> GpuExecutable::decode(KvCache& any_cache, TokenId token, int pos, int n_tokens,
                                                           const DeviceSampling& sampling) {
  if (sampling.temperature > 0 || observer_) return nullptr;
  auto& cache = static_cast<GpuKvCache&>(any_cache);
  CHECK(n_tokens >= 1 && pos + n_tokens <= cache.n_ctx());
  TRY_STATUS(write_params({.pos = static_cast<uint32_t>(pos), .n_tokens = 1, .first_logits = 0, .step = 0},
                          std::span(&token, 1)));
  return std::make_unique<GpuTokenStream>(*this, cache, pos, n_tokens);
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
  if (decoded_ > 0) {
    std::vector<Command> commands;
    last_cache_->program.commands(last_shape_, commands);
    chooser_.program.commands(last_shape_, commands);
    stats.dispatches_per_token = static_cast<int>(commands.size());
    stats.host_ms_per_token = host_seconds_ * 1e3 / static_cast<double>(decoded_);
  }
  return stats;
}

}  // namespace tern::gpu
