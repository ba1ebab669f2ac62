#include "backend/hybrid/layer_split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/hybrid/layer_split_kv_store.h"
#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::hybrid {
namespace {

class LayerSplitExecutable final : public Executable {
 public:
  explicit LayerSplitExecutable(std::array<std::unique_ptr<Executable>, 2> parts)
      : first_(std::move(parts[0])), second_(std::move(parts[1])) {}

  std::string description() const override {
    return format_text("layers on both: {}, and {}", first_->description(), second_->description());
  }
  int max_batch() const override { return std::min(first_->max_batch(), second_->max_batch()); }
  int max_logit_rows() const override { return second_->max_logit_rows(); }
  int max_slices() const override { return std::min(first_->max_slices(), second_->max_slices()); }
  int kv_block_tokens(int n_ctx) const override { return first_->kv_block_tokens(n_ctx); }
  Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const override {
    std::array<std::unique_ptr<KvStore>, 2> stores;
    TRY(stores[0], first_->new_kv_store(block_tokens, type));
    TRY(stores[1], second_->new_kv_store(block_tokens, type));
    return std::make_unique<LayerSplitKvStore>(std::move(stores));
  }

  Result<std::span<const float>> run(KvStore& store, Batch batch) override;
  std::span<const float> hidden() const override { return second_->hidden(); }
  Result<void> expect(int n_sequences) override {
    TRY_STATUS(first_->expect(n_sequences));
    return second_->expect(n_sequences);
  }

  std::optional<std::string> own_head() const override { return second_->own_head(); }
  int64_t bytes_beyond_plan() const override { return first_->bytes_beyond_plan() + second_->bytes_beyond_plan(); }
  std::optional<GpuAdapter> gpu_adapter() const override { return of_gpu()->gpu_adapter(); }
  Result<std::vector<GpuKernel>> gpu_kernels() override { return of_gpu()->gpu_kernels(); }
  void observe(StepObserver observer) override {
    first_->observe(observer);
    second_->observe(std::move(observer));
  }

 private:
  Executable* of_gpu() const { return first_->gpu_adapter() ? first_.get() : second_.get(); }

  std::unique_ptr<Executable> first_, second_;
  std::vector<Slice> slices_;  // of the batch, for the second part
};

Result<std::span<const float>> LayerSplitExecutable::run(KvStore& store, Batch batch) {
  auto& split = static_cast<LayerSplitKvStore&>(store);
  slices_.assign(batch.begin(), batch.end());
  for (Slice& slice : slices_) slice.logits = WantLogits::kNone;
  TRY_STATUS(first_->run(split.on(0), slices_).transform([](auto) {}));
  const std::span<const float> stream = first_->hidden();
  size_t n_tokens = 0;
  for (const Slice& slice : batch) n_tokens += slice.tokens.size();
  if (stream.empty()) return fail(ErrorCode::kDeviceLost, "the device with the first layers could not be read");
  const size_t width = stream.size() / n_tokens;
  size_t begin = 0;
  for (size_t i = 0; i < slices_.size(); ++i) {
    slices_[i].logits = batch[i].logits;
    slices_[i].hidden = stream.subspan(begin, batch[i].tokens.size() * width);
    begin += slices_[i].hidden.size();
  }
  return second_->run(split.on(1), slices_);
}

}  // namespace

std::unique_ptr<Executable> join_layers(std::array<std::unique_ptr<Executable>, 2> parts) {
  CHECK(parts[0]->kv_block_tokens(1) == parts[1]->kv_block_tokens(1));
  return std::make_unique<LayerSplitExecutable>(std::move(parts));
}

}  // namespace tern::hybrid
