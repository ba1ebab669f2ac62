#include "backend/gpu/executable.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/gpu/check_products.h"
#include "backend/gpu/pack.h"
#include "backend/gpu/webgpu_backend.h"
#include "base/check.h"
#include "base/format_text.h"

namespace tern::gpu {
namespace {

// Reads a vector of T from a view.
template <class T>
Result<std::vector<T>> read_all(Device& device, BufferView view, size_t count) {
  std::vector<T> values(count);
  view.bytes = count * sizeof(T);
  TRY_STATUS(device.read(view, std::as_writable_bytes(std::span(values))));
  return values;
}

std::vector<WeightUse> with(std::vector<WeightUse> uses, const step::FloatNormOnRead& norm) {
  if (norm.gain) uses.push_back({norm.gain, false});
  return uses;
}

void add_gains(const step::FloatHeads& heads, std::vector<WeightUse>& uses) {
  if (heads.q_gain) uses.insert(uses.end(), {{heads.q_gain, false}, {heads.k_gain, false}});
}

struct WeightsOf {
  std::vector<WeightUse> operator()(const step::Embed& s) const { return {{s.table, false}}; }
  std::vector<WeightUse> operator()(const step::RmsNorm& s) const { return {{s.gain, false}}; }
  std::vector<WeightUse> operator()(const step::RmsNormQuantize& s) const { return {{s.gain, false}}; }
  std::vector<WeightUse> operator()(const step::FloatLinear& s) const { return with({{s.w, false}}, s.norm); }
  std::vector<WeightUse> operator()(const step::FloatLinearAdd& s) const { return {{s.w, false}}; }
  std::vector<WeightUse> operator()(const step::FloatGlu& s) const {
    return with({{s.w_gate, false}, {s.w_up, false}}, s.norm);
  }
  std::vector<WeightUse> operator()(const step::FloatQkv& s) const {
    std::vector<WeightUse> uses = {{s.wq, false}, {s.wk, false}, {s.wv, false}};
    if (!s.leaves_heads) add_gains(s.heads, uses);
    return with(uses, s.norm);
  }
  std::vector<WeightUse> operator()(const step::Attention& s) const {
    std::vector<WeightUse> uses;
    if (s.heads) add_gains(*s.heads, uses);
    return uses;
  }
  std::vector<WeightUse> operator()(const step::HeadNorm& s) const { return {{s.gain, false}}; }
  std::vector<WeightUse> operator()(const step::TernaryLinear& s) const { return {{s.w, true}}; }
  std::vector<WeightUse> operator()(const step::TernaryLinearAdd& s) const { return {{s.w, true}}; }
  std::vector<WeightUse> operator()(const step::TernaryGlu& s) const { return {{s.w_gate, true}, {s.w_up, true}}; }
  std::vector<WeightUse> operator()(const step::TernaryQkv& s) const {
    return {{s.wq, true}, {s.wk, true}, {s.wv, true}};
  }
  template <class S>
  std::vector<WeightUse> operator()(const S&) const {
    return {};
  }
};

}  // namespace

uint64_t WeightUse::row_bytes() const {
  const auto cols = static_cast<uint64_t>(tensor->cols);
  if (is_ternary) return tern::row_bytes(Format::kI2_S, tensor->cols);
  const WeightCoding coding = coding_of(*tensor);
  const uint64_t scales = coding.scales_of_row(static_cast<uint32_t>(cols));
  return unit_row_bytes(coding, tensor->cols) + scales * (coding.has_scale_words() ? 4 : 2);
}

std::vector<WeightUse> weight_uses(const StepBody& body) { return std::visit(WeightsOf{}, body); }

GpuExecutable::GpuExecutable(std::unique_ptr<Device> device, const Plan& plan, const CompileOptions& options)
    : device_(std::move(device)),
      plan_(plan),
      options_(options),
      kernels_(*device_, options.gpu.wgsl_dir),
      weights_(*device_, memory_need(plan, options, 0, KvType::kF16).weights, options.on_progress, options.pool),
      layouts_(layouts_for(*device_, options.gpu.without)) {}

Result<std::unique_ptr<GpuExecutable>> GpuExecutable::create(std::unique_ptr<Device> device, const Plan& plan,
                                                             const CompileOptions& options) {
  std::unique_ptr<GpuExecutable> executable(new GpuExecutable(std::move(device), plan, options));
  TRY_STATUS(executable->load());
  return executable;
}

// Attention reads four dimensions of a head at a time, and a workgroup has an invocation for each four.
Result<void> GpuExecutable::check_heads() const {
  const auto most = static_cast<int>(4 * attention_workgroup(*device_, layouts_));
  const int head_dim = plan_.config.head_dim;
  if (head_dim % 4 == 0 && head_dim <= most) return {};
  return fail(ErrorCode::kNotSupported,
              "heads of {} dimensions; the GPU takes multiples of 4 up to {}, use the cpu backend", head_dim, most);
}

Result<void> GpuExecutable::load() {
  TRY_STATUS(check_heads());
  TRY(repacked_, repack_ternary(plan_));
  for (const Step& step : plan_.steps) {
    for (const WeightUse& use : weight_uses(step.body)) {
      if (use.tensor->cols % 4 != 0) {
        return fail(ErrorCode::kNotSupported, "tensor {}: {} columns are not a multiple of 4; use the cpu backend",
                    use.tensor->name, use.tensor->cols);
      }
    }
  }
  TRY(work_, WorkBuffers::create(*device_, plan_, options_.max_batch, options_.max_logit_rows));
  // Uploads every weight and compiles every kernel that needs no cache.
  TRY_STATUS(Recorder(context(), nullptr, ahead_).record_all());
  weights_.close();
  TRY(chooser_, Chooser::create({.device = *device_,
                                 .kernels = kernels_,
                                 .caps = caps_of(*device_),
                                 .n_vocab = static_cast<uint32_t>(plan_.slot(plan_.logits).width),
                                 .logits = work_->view(plan_.logits),
                                 .tokens = work_->tokens(),
                                 .params = work_->params(),
                                 .serial = layouts_.serial}));
  return device_->wait();
}

Result<void> GpuExecutable::check() {
  in_control_ = nullptr;
  return check_products(*device_, plan_, ahead_, *work_, options_.max_batch);
}

RecorderContext GpuExecutable::context() const {
  return {.device = *device_,
          .kernels = kernels_,
          .weights = weights_,
          .work = *work_,
          .plan = plan_,
          .max_batch = options_.max_batch,
          .layouts = layouts_};
}

std::string GpuExecutable::description() const {
  const Features& f = device_->features();
  std::string features;
  const auto add = [&](bool has, std::string_view name) {
    if (has) features += (features.empty() ? "" : ", ") + std::string(name);
  };
  add(f.f16, "f16");
  add(f.subgroups, format_text("subgroups {}", f.subgroup_min));
  add(f.packed_dot, "dot4");
  return format_text("webgpu ({}, {}{}{})", device_->adapter().name, device_->adapter().api,
                     features.empty() ? "" : ", ", features);
}

Result<std::unique_ptr<KvCache>> GpuExecutable::new_cache(int n_ctx, KvType type) const {
  TRY(auto cache, GpuKvCache::create(*device_, plan_.config, n_ctx, type));
  TRY_STATUS(Recorder(context(), cache.get(), cache->program).record_all());
  TRY_STATUS(device_->check());
  return cache;
}

Result<void> GpuExecutable::write_params(const RunParams& params, std::span<const TokenId> tokens) const {
  in_control_ = nullptr;
  TRY_STATUS(device_->write(work_->params(), 0, std::as_bytes(std::span(&params, 1))));
  return device_->write(work_->tokens(), 0, std::as_bytes(tokens));
}

Result<void> GpuExecutable::set_token(TokenId token, int pos) const {
  const RunParams params{.pos = static_cast<uint32_t>(pos), .n_tokens = 1, .first_logits = 0, .step = 0};
  return write_params(params, std::span(&token, 1));
}

Result<std::span<const float>> GpuExecutable::run(KvCache& any_cache, const Batch& batch) {
  auto& cache = static_cast<GpuKvCache&>(any_cache);
  const int n = static_cast<int>(batch.tokens.size());
  CHECK(n >= 1 && n <= options_.max_batch && batch.first_pos + n <= cache.n_ctx());
  const int n_rows = batch.logits == WantLogits::kNone ? 0 : batch.logits == WantLogits::kLast ? 1 : n;
  CHECK(n_rows <= options_.max_logit_rows);
  const RunShape shape{.n_tokens = n, .n_logit_rows = n_rows, .n_pos = batch.first_pos + n};
  // What this batch leaves in the cache must not be overwritten when the last token is timed.
  if (last_.cache.lock().get() == &cache) last_.shape.n_pos = std::max(last_.shape.n_pos, shape.n_pos);
  TRY_STATUS(write_params({.pos = static_cast<uint32_t>(batch.first_pos),
                           .n_tokens = static_cast<uint32_t>(n),
                           .first_logits = static_cast<uint32_t>(n - n_rows),
                           .step = 0},
                          batch.tokens));
  if (observer_) {
    TRY_STATUS(run_observed(cache, shape));
  } else {
    commands_.clear();
    cache.program.commands(shape, commands_);
    TRY_STATUS(device_->submit(commands_));
    if (n == 1 && n_rows == 1) last_ = {cache.watch(), nullptr, shape, static_cast<int>(commands_.size())};
  }
  if (n_rows == 0) {
    TRY_STATUS(device_->check());
    return std::span<const float>();
  }
  logits_.resize(static_cast<size_t>(n_rows) * static_cast<size_t>(plan_.slot(plan_.logits).width));
  BufferView view = work_->view(plan_.logits);
  view.bytes = logits_.size() * sizeof(float);
  TRY_STATUS(device_->read(view, std::as_writable_bytes(std::span(logits_))));
  return std::span<const float>(logits_);
}

Result<void> GpuExecutable::run_observed(const GpuKvCache& cache, const RunShape& shape) {
  for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
    commands_.clear();
    cache.program.commands(shape, commands_, i, i + 1);
    if (!commands_.empty()) TRY_STATUS(device_->submit(commands_));
    TRY_STATUS(report(plan_.steps[static_cast<size_t>(i)], shape));
  }
  return {};
}

Result<void> GpuExecutable::report(const Step& step, const RunShape& shape) {
  for (const SlotUse& use : slot_uses(step.body)) {
    if (!use.is_output()) continue;
    const Slot& slot = plan_.slot(use.slot);
    const int rows = slot.rows == RowsOf::kBatch ? shape.n_tokens : shape.n_logit_rows;
    StepOutput output{.step = &step, .slot = &slot, .rows = rows, .values = {}, .scales = {}, .sums = {}};
    const auto width = static_cast<size_t>(slot.width), n_rows = static_cast<size_t>(rows);
    BufferView from = work_->view(use.slot);
    // One token's select_rows is left out: its row is where it was.
    if (const auto* select = std::get_if<step::SelectRows>(&step.body); select && shape.n_tokens == 1) {
      from = work_->view(select->in);
    }
    if (slot.type == SlotType::kF32) {
      TRY(const auto values, read_all<float>(*device_, from, n_rows * width));
      output.values = values;
      observer_(output);
      continue;
    }
    const size_t stride = quantized_row_bytes(static_cast<uint32_t>(width));
    const size_t meta = size_t{16} * quantized_meta(static_cast<uint32_t>(width));
    TRY(const auto bytes, read_all<std::byte>(*device_, from, n_rows * stride));
    std::vector<float> values, scales(n_rows);
    std::vector<int32_t> sums(n_rows);
    for (size_t r = 0; r < n_rows; ++r) {
      const std::byte* row = bytes.data() + r * stride;
      for (size_t i = 0; i < width; ++i) values.push_back(static_cast<float>(std::bit_cast<int8_t>(row[i])));
      std::memcpy(&scales[r], row + meta, sizeof(float));
      std::memcpy(&sums[r], row + meta + 4, sizeof(int32_t));
    }
    output.values = values;
    output.scales = scales;
    output.sums = sums;
    observer_(output);
  }
  return {};
}

}  // namespace tern::gpu
