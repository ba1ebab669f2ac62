// What is checked of a model on its device before it is relied on: products and attention when it is loaded, attention
// on subgroup matrices before the first long prompt.
#include <algorithm>
#include <climits>
#include <tuple>
#include <utility>

#include "backend/gpu/run/executable.h"
#include "backend/gpu/trust/check_attention.h"
#include "backend/gpu/trust/check_products.h"

namespace tern::gpu {

// They compile while weights are uploaded. What is wrong with them shows when they are wanted, where there is another
// way.
void GpuExecutable::begin_slow_kernels(const std::optional<LayersInOne>& in_one) {
  const auto begin = [&](const Result<const Pipeline*>& pipeline) {
    if (pipeline) std::ignore = device_->begin(**pipeline);
  };
  if (in_one) begin(OneDispatch::pipeline(kernels_, *in_one));
  if (const auto* attention = first_attention_on_matrices()) {
    const auto config = matrix_attention_config(*device_, layouts(), options_.max_batch, *attention);
    begin(kernels_.pipeline(kernels_.traced(matrix_attention<wgsl::F16x2>, *config).module));
  }
}

// Null where no attention is meant to be on matrices.
const step::Attention* GpuExecutable::first_attention_on_matrices() const {
  for (const Step& step : plan_.steps) {
    const auto* s = std::get_if<step::Attention>(&step.body);
    if (s && matrix_attention_config(*device_, layouts(), options_.max_batch, *s)) return s;
  }
  return nullptr;
}

void GpuExecutable::set_layouts(const Layouts& layouts) {
  layouts_ = layouts;
  on_matrices_from_ = INT_MAX;
  if (attends_without_matrices_) layouts_.attention_on_matrices_from = INT_MAX;
  defer_attention_on_matrices();
}

Layouts GpuExecutable::layouts() const {
  Layouts layouts = layouts_;
  layouts.attention_on_matrices_from = std::min(layouts_.attention_on_matrices_from, on_matrices_from_);
  return layouts;
}

// Batches that are too small for the check have it unchecked.
void GpuExecutable::defer_attention_on_matrices() {
  if (layouts_.serial || options_.max_batch < kCheckedPrompt || !first_attention_on_matrices()) return;
  on_matrices_from_ = std::exchange(layouts_.attention_on_matrices_from, INT_MAX);
}

Result<void> GpuExecutable::check_long_prompts() {
  if (on_matrices_from_ == INT_MAX) return {};
  in_control_ = nullptr;
  layouts_.attention_on_matrices_from = std::exchange(on_matrices_from_, INT_MAX);
  const auto right =
      new_spare_store().and_then([&](const auto& store) { return check_attention(*device_, plan_, *store, *work_); });
  if (right) {
    ++n_ways_;
    return {};
  }
  layouts_.attention_on_matrices_from = INT_MAX;
  if (right.error().code == ErrorCode::kDeviceLost) return right;
  // Products stay on matrices: they have been checked.
  attends_without_matrices_ = true;
  note_failed_tests({"subgroup-matrix, in attention alone: " + right.error().message});
  return {};
}

Result<void> GpuExecutable::check_before(Batch batch) {
  const auto from = static_cast<size_t>(std::max(on_matrices_from_, kMatmulTokens));
  const bool is_long = std::ranges::any_of(batch, [&](const Slice& slice) { return slice.tokens.size() >= from; });
  return is_long ? check_long_prompts() : Result<void>();
}

Result<void> GpuExecutable::check() {
  PhaseTimes* const times = std::exchange(options_.times, nullptr);  // they end with the load
  in_control_ = nullptr;
  const int of_trial = one_ ? positions_of_trial(plan_.config, one_->shape()) : 0;
  work_->ropes().reserve(std::max(options_.max_batch, of_trial));
  const auto store = checked_store();
  if (times) times->end("checks");
  if (store) {
    TRY_STATUS(try_one_dispatch(**store));
    if (times) times->end("one dispatch");
    return {};
  }
  if (!one_ || store.error().code == ErrorCode::kDeviceLost) return std::unexpected(store.error());
  // It may be the one dispatch that this device has no room or no compiler for.
  why_in_steps_ = store.error().message;
  one_.reset();
  return checked_store().transform([](const auto&) {});
}

// A spare store whose program computes products and attention as it should.
Result<std::unique_ptr<GpuKvStore>> GpuExecutable::checked_store() {
  TRY(auto store, new_spare_store(/*together=*/one_ && !only_in_steps_));
  TRY_STATUS(
      check_products(*device_, plan_, store->program, *work_, options_.max_batch, options_.max_logit_rows, layouts_));
  if (layouts_.serial || options_.max_batch < kCheckedPrompt) return store;
  TRY_STATUS(check_attention(*device_, plan_, *store, *work_));
  return store;
}

}  // namespace tern::gpu
