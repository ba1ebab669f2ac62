// Checks of a model on its device: products and attention when the model is loaded, attention on subgroup matrices
// before the first long prompt.
#include <algorithm>
#include <bit>
#include <climits>
#include <tuple>
#include <utility>

#include "backend/gpu/record/steps/native_parts.h"
#include "backend/gpu/run/executable.h"
#include "backend/gpu/run/trust/check_attention.h"
#include "backend/gpu/run/trust/check_products.h"
#include "base/log.h"

namespace tern::gpu {

// These compile while weights are uploaded. Errors are ignored here; they show when the kernels are used, and each has
// a fallback.
void GpuExecutable::begin_slow_kernels() {
  const auto begin = [&](const Result<const Pipeline*>& pipeline) {
    if (pipeline) std::ignore = device_->begin(**pipeline);
  };
  layer_path_->begin_compiling();
  std::optional<MatrixAttentionConfig> last;
  for (const Step& step : plan_.steps) {
    const auto config = attention_on_matrices(step);
    if (!config || config == last) continue;
    begin(kernels_.pipeline(kernels_.traced(matrix_attention<wgsl::F16x2>, *config).module));
    last = config;
  }
}

// The layout with the current settings; none for other steps, or if the device does not use it.
std::optional<MatrixAttentionConfig> GpuExecutable::attention_on_matrices(const Step& step) const {
  const auto* s = std::get_if<step::Attention>(&step.body);
  return s ? matrix_attention_config(*device_, layouts(), options_.max_batch, *s) : std::nullopt;
}

void GpuExecutable::set_layouts(const Layouts& layouts) {
  layouts_ = layouts;
  checks_.on_matrices_from = INT_MAX;
  if (checks_.wrong_attention.contains(attention_layout())) layouts_.attention_on_matrices_from = INT_MAX;
  defer_attention_on_matrices();
}

Layouts GpuExecutable::layouts() const {
  Layouts layouts = layouts_;
  layouts.attention_on_matrices_from = std::min(layouts_.attention_on_matrices_from, checks_.on_matrices_from);
  return layouts;
}

// Attention on matrices waits for its check. If batches are too small for the check, it is used unchecked.
void GpuExecutable::defer_attention_on_matrices() {
  if (layouts_.serial || options_.max_batch < kCheckedPrompt) return;
  if (std::ranges::none_of(plan_.steps, [&](const Step& s) { return attention_on_matrices(s).has_value(); })) return;
  checks_.on_matrices_from = std::exchange(layouts_.attention_on_matrices_from, INT_MAX);
}

Result<void> GpuExecutable::check_long_prompts() {
  if (checks_.on_matrices_from == INT_MAX) return {};
  run_.in_control = nullptr;
  const int from = std::exchange(checks_.on_matrices_from, INT_MAX);
  layouts_.attention_on_matrices_from = from;
  const auto right = new_spare_store().and_then(
      [&](const auto& store) { return check_attention(*device_, plan_, store->program(), *store, *work_); });
  if (right) {
    ++checks_.version;
    return {};
  }
  layouts_.attention_on_matrices_from = INT_MAX;
  if (right.error().code == ErrorCode::kDeviceLost) return right;
  if (right.error().code != ErrorCode::kNotSupported) {  // no memory for the check at the moment
    checks_.on_matrices_from = from;
    return {};
  }
  // Products still use matrices: they have been checked.
  checks_.wrong_attention.insert(attention_layout());
  note_failed_tests({"subgroup-matrix, in attention alone: " + right.error().message});
  return {};
}

void GpuExecutable::note_failed_tests(std::vector<std::string> findings) {
  for (std::string& finding : findings) {
    warn("the GPU {} computes wrongly with a feature that is left out now: {}", device_->adapter().name, finding);
    checks_.failed_tests.push_back(std::move(finding));
  }
}

Result<void> GpuExecutable::check_best_rows(int n_rows, int n_best) {
  const uint32_t columns = best_columns(n_rows);
  const bool may_be_wanted = head_copy_ && n_best >= 1 && n_best <= kMostBestLogits;
  if (!may_be_wanted || n_rows > head_copy_->most_rows() || checks_.best_rows.contains(columns)) return {};
  run_.in_control = nullptr;
  const auto store = new_spare_store();
  const auto right = store ? check_best_rows(**store, columns) : std::unexpected(store.error());
  if (!right && right.error().code == ErrorCode::kDeviceLost) return right;
  checks_.best_rows[columns] = right.has_value();  // without memory for the check now, it is not repeated
  if (!right && right.error().code == ErrorCode::kNotSupported) leave_head_copy(right.error());
  return {};
}

Result<void> GpuExecutable::check_best_rows(const PreparedStore& store, uint32_t columns) {
  const int n_rows = std::min(static_cast<int>(columns), head_copy_->most_rows());
  return head_copy_->fill(*device_).and_then(
      [&] { return native_parts().check_best_logits(*device_, plan_, store.program(), *work_, *sampler_, n_rows); });
}

void GpuExecutable::leave_head_copy(const Error& why) {
  if (why.code == ErrorCode::kNotSupported) note_failed_tests({"the head's int8 copy: " + why.message});
  head_copy_.reset();
  ++checks_.version;
}

Result<void> GpuExecutable::check_before(const PreparedStore& store, Batch batch) {
  int n_logit_rows = 0;
  for (const Slice& slice : batch) n_logit_rows += slice.n_logit_rows();
  TRY_STATUS(check_best_rows(n_logit_rows, n_best(batch)));
  if (store.type() == KvType::kF32) return {};  // f32 has no attention on matrices
  return slice_tokens_estimate(batch) >= std::max(checks_.on_matrices_from, kMatmulTokens) ? check_long_prompts()
                                                                                           : Result<void>();
}

Result<void> GpuExecutable::check() {
  PhaseTimes* const times = std::exchange(options_.times, nullptr);  // phases end with the load
  run_.in_control = nullptr;
  work_->ropes().reserve(std::max(options_.max_batch, layer_path_->trial_positions()));
  auto store = checked_store();
  if (!store && store.error().code != ErrorCode::kDeviceLost && head_copy_ && options_.exact_head != ExactHead::kYes) {
    head_copy_.reset();  // the head copy may be what failed to compile
    store = checked_store();
  }
  if (times) times->end("checks");
  if (store) {
    TRY_STATUS(layer_path_->try_out(**store));
    if (times) times->end("megakernel");
    return {};
  }
  if (!layer_path_->wants_trial() || store.error().code == ErrorCode::kDeviceLost)
    return std::unexpected(store.error());
  // The device may lack memory or a compiler for the megakernel only.
  checks_.version += layer_path_->version() + 1;
  layer_path_ = std::make_unique<LayerPath>(store.error().message);
  return checked_store().transform([](const auto&) {});
}

// A spare store whose program has passed the checks of products and attention.
Result<std::unique_ptr<PreparedStore>> GpuExecutable::checked_store() {
  TRY(auto store, new_spare_store(/*for_trial=*/layer_path_->wants_trial()));
  const RunShape of_stream{.n_best = head_copy_ ? 1 : 0, .embeds_next = sampler_->can_embed()};
  std::vector<Command> chooses;
  store->program().commands(of_stream, chooses);
  sampler_->greedy().commands(of_stream, chooses);
  TRY_STATUS(check_products(*device_, plan_, store->program(), *work_, options_.max_batch, options_.max_logit_rows,
                            layouts_, chooses));
  if (head_copy_) {
    const auto right = check_best_rows(*store, 1);
    checks_.best_rows[1] = right.has_value();
    if (!right && (options_.exact_head == ExactHead::kYes || right.error().code == ErrorCode::kDeviceLost))
      return std::unexpected(right.error());
    if (!right) {
      leave_head_copy(right.error());
      TRY_STATUS(prepare(*store, 0));
    }
  }
  if (layouts_.serial || options_.max_batch < kCheckedPrompt) return store;
  TRY_STATUS(check_attention(*device_, plan_, store->program(), *store, *work_));
  return store;
}

}  // namespace tern::gpu
