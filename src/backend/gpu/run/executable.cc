#include "backend/gpu/run/executable.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ranges>
#include <tuple>
#include <utility>

#include "backend/gpu/kernels/delta/delta.h"
#include "backend/gpu/memory/weights/upload.h"
#include "backend/gpu/record/steps/native_parts.h"
#include "backend/gpu/run/memory_need.h"
#include "backend/kv_layout.h"
#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::gpu {
GpuExecutable::GpuExecutable(std::shared_ptr<Device> device, std::shared_ptr<WeightStore> weights, const Plan& plan,
                             const CompileOptions& options)
    : device_(std::move(device)),
      plan_(plan),
      options_(options),
      kernels_(*device_, options.gpu.wgsl_dir.empty() ? nullptr : native_parts().kernel_folder(options.gpu.wgsl_dir)),
      shared_weights_(weights
                          ? std::move(weights)
                          : std::make_shared<WeightStore>(*device_, memory_need(plan, options, 0, KvType::kF16).weights,
                                                          options.on_progress, options.pool)),
      weights_(*shared_weights_),
      layouts_(native_parts().layouts(*device_, plan, options.gpu)) {}

Result<std::unique_ptr<GpuExecutable>> GpuExecutable::create(std::unique_ptr<Device> device, const Plan& plan,
                                                             const CompileOptions& options) {
  std::unique_ptr<GpuExecutable> executable(new GpuExecutable(std::move(device), nullptr, plan, options));
  TRY_STATUS(executable->load());
  return executable;
}

Result<std::unique_ptr<Executable>> GpuExecutable::compile_beside(const Plan& plan, const CompileOptions& options) {
  CompileOptions same = options;
  same.gpu = options_.gpu;
  same.gpu.megakernel = MegakernelUse::kOff;
  std::unique_ptr<GpuExecutable> executable(new GpuExecutable(device_, shared_weights_, plan, same));
  weights_.open_again();
  const auto loaded = executable->load();
  weights_.close();
  TRY_STATUS(loaded);
  executable->layouts_ = layouts_;  // without what has failed its checks
  return executable;
}

// Attention reads four dimensions of a head at a time, and a workgroup needs an invocation for each four.
Result<void> GpuExecutable::check_heads(KvType type) const {
  const int head_dim = plan_.config.head_dim;
  const bool has_codes = type == KvType::kQ8_0;
  auto most = static_cast<int>(
      4 * attention_workgroup(*device_, layouts_.attention_workgroup, has_codes ? static_cast<uint32_t>(head_dim) : 0));
  if (has_codes) most = std::min(most, static_cast<int>(2 * device_->limits().invocations));  // fit_to_codes
  if (head_dim % 4 == 0 && head_dim <= most) return {};
  return fail(ErrorCode::kNotSupported,
              "heads of {} dimensions; the GPU takes multiples of 4 up to {}{}, use the cpu backend", head_dim, most,
              has_codes ? " with keys and values as q8_0" : "");
}

Result<void> GpuExecutable::load() {
  TRY_STATUS(check_heads(KvType::kF16));
  TRY(repacked_, repack_ternary(plan_));
  TRY(layer_path_, native_parts().plan_layer_path(layer_path_context()));
  defer_attention_on_matrices();
  begin_slow_kernels();
  const HeadCopyContext of_head{.device = *device_,
                                .kernels = kernels_,
                                .plan = plan_,
                                .layouts = layouts_,
                                .wanted = options_.exact_head,
                                .max_logit_rows = options_.max_logit_rows};
  std::ignore = native_parts().begin_head_copy(of_head);
  TRY(work_, WorkBuffers::create(*device_, plan_, options_.max_batch, options_.max_logit_rows, max_slices()));
  options_.end_phase("plan");
  TRY_STATUS(upload_weights(plan_, weights_));
  TRY_STATUS(layer_path_->prepare(*work_));
  TRY(const auto embedding, embedding_of_next());
  TRY(sampler_, DeviceSampler::create({.device = *device_,
                                       .kernels = kernels_,
                                       .caps = caps_of(*device_),
                                       .n_vocab = static_cast<uint32_t>(plan_.slot(plan_.logits).width),
                                       .max_rows = static_cast<uint32_t>(std::min(max_slices(), max_logit_rows())),
                                       .logits = work_->view(plan_.logits),
                                       .tokens = work_->tokens(),
                                       .params = work_->params(),
                                       .embedding = embedding,
                                       .serial = layouts_.serial}));
  if (work_->has_states()) {
    TRY(auto turn, kernels_.record(kernels_.traced(turn_states), {}, View<wgsl::U32>{{&work_->sequences()}}));
    turn_states_.add(std::move(turn));
  }
  TRY(head_copy_, native_parts().make_head_copy(of_head, weights_));
  TRY_STATUS(device_->wait());
  options_.end_phase("weights");
  return {};
}

LayerPathContext GpuExecutable::layer_path_context() {
  return {.device = *device_,
          .kernels = kernels_,
          .weights = weights_,
          .plan = plan_,
          .options = options_,
          .layouts = layouts_,
          .make_store = [this](KvType type, bool together) { return make_store(type, together); }};
}

RecorderContext GpuExecutable::context() const {
  return {.device = *device_,
          .kernels = kernels_,
          .weights = weights_,
          .work = *work_,
          .plan = plan_,
          .max_batch = options_.max_batch,
          .layouts = layouts_,
          .layer_path = *layer_path_,
          .head_copy = head_copy_.get(),
          .sampler = sampler_.get()};
}

Result<std::optional<DeviceSamplerContext::Embedding>> GpuExecutable::embedding_of_next() {
  const auto* s = std::get_if<step::Embed>(&plan_.steps.front().body);
  const auto is_embed = [](const Step& step) { return std::holds_alternative<step::Embed>(step.body); };
  const bool ends_with_head = std::holds_alternative<step::FloatLinear>(plan_.steps.back().body);
  if (!s || std::ranges::count_if(plan_.steps, is_embed) > 1 || !ends_with_head) return std::nullopt;
  TRY(const FloatMatrix* table, weights_.matrix(*s->table));
  const FloatMatrix::Part& part = table->parts.front();
  if (table->parts.size() > 1 || part.count < static_cast<uint32_t>(plan_.slot(plan_.logits).width))
    return std::nullopt;
  return DeviceSamplerContext::Embedding{
      .config = {.width = static_cast<uint32_t>(plan_.slot(s->out).width), .coding = part.coding, .scale = s->scale},
      .units = part.units,
      .scales = part.scales,
      .row = work_->float_quads(s->out).view};
}

std::optional<std::string> GpuExecutable::own_head() const {
  if (!head_copy_) return {};
  return format_text("exact (int8 + {})", format_info(head_copy_->matrix().format).name);
}

int64_t GpuExecutable::bytes_beyond_plan() const {
  if (!head_copy_) return 0;
  return static_cast<int64_t>(head_copy_->bytes_per_token()) - static_cast<int64_t>(head_copy_->matrix().data.size());
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

Result<std::unique_ptr<KvStore>> GpuExecutable::new_kv_store(int block_tokens, KvType type) const {
  TRY_STATUS(check_heads(type));
  CHECK(block_tokens == kKvBlock);
  return make_store(type, layer_path_->is_used());
}

std::unique_ptr<PreparedStore> GpuExecutable::make_store(KvType type, bool together) const {
  return std::make_unique<PreparedStore>(*device_, plan_.config, type, together && type == KvType::kF16,
                                         [this](PreparedStore& store) { return prepare(store, 0); });
}

Result<std::unique_ptr<PreparedStore>> GpuExecutable::new_spare_store(bool for_trial) const {
  auto store = make_store(KvType::kF16, /*together=*/for_trial);
  TRY_STATUS(store->reserve(for_trial ? layer_path_->trial_blocks() : 1));
  return store;
}

Result<void> GpuExecutable::prepare(PreparedStore& store, int n_pos) const {
  work_->ropes().reserve(n_pos);
  const PreparedStore::Version version{store.version(), work_->ropes().version(),
                                       checks_.version + layer_path_->version()};
  const PreparedStore::Version& recorded = store.recorded();
  if (recorded == version) return {};
  if (recorded.store > 0 && recorded.ropes == version.ropes && recorded.layer_paths == version.layer_paths &&
      !store.has_parted()) {
    TRY_STATUS(store.rebind(*device_, version));
  } else {
    Program program;
    TRY_STATUS(Recorder(context(), store, program).record_all());
    store.set_program(std::move(program), version);
  }
  return device_->check();
}

Result<bool> GpuExecutable::pair_states(PreparedStore& store, Batch batch) const {
  const auto is_one_token = [](const Slice& slice) { return slice.tokens.size() == 1; };
  if (!work_->has_states() || !std::ranges::all_of(batch, is_one_token)) return false;
  for (const Slice& slice : batch) {
    const auto paired = store.pair_state(slice.state);
    if (!paired && paired.error().code == ErrorCode::kOutOfMemory) return false;
    TRY_STATUS(paired);
  }
  return true;
}

void GpuExecutable::move_states(PreparedStore& store, Batch batch) {
  for (const Slice& slice : batch) store.move_state(slice.state);
}

Result<RunShape> GpuExecutable::put(const PreparedStore& store, Batch batch, int n_more, bool moves_states) const {
  run_.in_control = nullptr;
  run_.words.set(batch, work_->ropes(), n_more);
  if (work_->has_states()) run_.words.set_sequences(batch, store, moves_states);
  run_.words.shape.moves_states = moves_states;
  CHECK(run_.words.shape.n_tokens <= options_.max_batch && run_.words.shape.n_logit_rows <= options_.max_logit_rows);
  if (std::span(run_.words.params).size_bytes() > work_->params().bytes()) {
    return fail(ErrorCode::kInvalidArgument, "a sequence of more than the {} tokens that the model was trained for",
                plan_.config.n_ctx);
  }
  TRY_STATUS(run_.words.write(*device_, *work_));
  if (const step::Hidden* rows = hidden_rows()) TRY_STATUS(put_hidden(*rows, batch));
  if (const step::Embed* table = table_on_host()) TRY_STATUS(put_rows(*table));
  return run_.words.shape;
}

Result<void> GpuExecutable::put_hidden(const step::Hidden& s, Batch batch) const {
  BufferView to = work_->view(s.out);
  for (const Slice& slice : batch) {
    CHECK(slice.hidden.size() == slice.tokens.size() * static_cast<size_t>(plan_.config.d_model));
    TRY_STATUS(device_->write(*to.buffer, to.offset, std::as_bytes(slice.hidden)));
    to.offset += slice.hidden.size_bytes();
  }
  return {};
}

std::span<const float> GpuExecutable::hidden() const {
  if (plan_.hidden == SlotId{} || run_.n_tokens == 0) return {};
  const auto width = static_cast<size_t>(plan_.slot(plan_.hidden).width);
  run_.hidden.resize(width * static_cast<size_t>(run_.n_tokens));
  BufferView rows = work_->view_of_rows(plan_.hidden, run_.n_tokens);
  rows.bytes = run_.hidden.size() * sizeof(float);
  if (!device_->read(rows, std::as_writable_bytes(std::span(run_.hidden)))) return {};
  return run_.hidden;
}

// The first step's slot has its memory for itself until then, so rows can be written before the run.
Result<void> GpuExecutable::put_rows(const step::Embed& s) const {
  const Tensor& table = *s.table;
  const auto width = static_cast<size_t>(table.cols);
  const uint64_t row = row_bytes(table.format, table.cols);
  std::vector<float> values(width * run_.words.tokens.size());
  Scratch scratch;
  for (size_t i = 0; i < run_.words.tokens.size(); ++i) {
    TRY(const Bytes bytes, table.data.read(static_cast<uint64_t>(run_.words.tokens[i]) * row, row, scratch));
    const std::span out = std::span(values).subspan(i * width, width);
    format_info(table.format).decode(bytes, out);
    for (float& value : out) value *= s.scale;
  }
  const BufferView to = work_->view(s.out);
  return device_->write(*to.buffer, to.offset, std::as_bytes(std::span(values)));
}

RunShape GpuExecutable::choose_layer_path(RunShape shape, const PreparedStore& store) const {
  if (observer_ || !finds_best(shape.n_logit_rows) || shape.n_best > kMostBestLogits) shape.n_best = 0;
  const bool may_be_one = shape.is_decode_batch && !observer_ && layer_path_->covers(layer_path_->first_step(), store);
  shape.megakernel_workgroups = may_be_one ? layer_path_->workgroups(shape.n_tokens) : 0;
  return shape;
}

Result<void> GpuExecutable::expect(int n_sequences) {
  const auto has_run = layer_path_->expect(n_sequences);
  if (!has_run || *has_run) run_.in_control = nullptr;
  return has_run.transform([](bool) {});
}

Result<RunShape> GpuExecutable::put_batch(PreparedStore& store, Batch batch) {
  CHECK(!batch.empty() && std::ssize(batch) <= max_slices());
  int n_pos = 0;
  for (const Slice& slice : batch) n_pos = std::max(n_pos, slice.first_pos + static_cast<int>(slice.tokens.size()));
  TRY_STATUS(check_before(store, batch));
  TRY(const bool moves_states, pair_states(store, batch));
  TRY_STATUS(prepare(store, n_pos));
  TRY(const RunShape shape, put(store, batch, 0, moves_states));
  run_.n_tokens = shape.n_tokens;
  return choose_layer_path(shape, store);
}

Result<std::span<const float>> GpuExecutable::run(KvStore& kv_store, Batch batch) {
  auto& store = static_cast<PreparedStore&>(kv_store);
  TRY(const RunShape shape, put_batch(store, batch));
  const int n_rows = shape.n_logit_rows;
  std::unique_ptr<ReadBack> outcome;  // of the megakernel
  const auto has_failed = [&]() -> Result<bool> {
    if (!outcome) return false;
    TRY(const Bytes words, outcome->wait());
    if (!layer_path_->has_failed(words)) return false;
    layer_path_->disable(shape.n_tokens);
    return true;
  };
  if (observer_) {
    TRY_STATUS(run_observed(store, shape));
  } else {
    run_.commands.clear();
    store.program().commands(shape, run_.commands);
    if (shape.megakernel_workgroups > 0) {
      TRY_STATUS(layer_path_->ready(shape));
      TRY(outcome, device_->read_later(layer_path_->outcome(shape.n_tokens, 1), run_.commands));
    } else {
      TRY_STATUS(device_->submit(run_.commands));
    }
    if (shape.n_tokens == 1 && n_rows == 1) remember(store, batch[0], nullptr, shape);
  }
  if (shape.moves_states) move_states(store, batch);
  if (n_rows == 0) {
    TRY(const bool failed, has_failed());
    if (failed) return run(kv_store, batch);
    TRY_STATUS(device_->check());
    return std::span<const float>();
  }
  const LogitRows all{.first = 0, .n = n_rows};
  TRY_STATUS(read_logits({&all, 1}));
  TRY(const bool failed, has_failed());
  if (failed) return run(kv_store, batch);
  return std::span<const float>(run_.logits);
}

void GpuExecutable::remember(const PreparedStore& store, const Slice& token, const Program* sampler,
                             const RunShape& shape) {
  stats_.last.store = store.watch();
  stats_.last.blocks.assign(token.blocks.begin(), token.blocks.begin() + kv_blocks_for(shape.n_pos));
  stats_.last.n_ctx = token.n_ctx;
  stats_.last.sampler = sampler;
  stats_.last.n_pos = shape.n_pos;
  stats_.last.n_best = shape.n_best;
  stats_.last.embeds_next = shape.embeds_next;
  stats_.last.dispatches =
      static_cast<int>(std::ranges::count_if(run_.commands, [](const Command& c) { return c.pipeline != nullptr; }));
}

Result<void> GpuExecutable::run_observed(const PreparedStore& store, const RunShape& shape) {
  for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
    run_.commands.clear();
    store.program().commands(shape, run_.commands, i, i + 1);
    if (!run_.commands.empty()) TRY_STATUS(device_->submit(run_.commands));
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
    const BufferView from = work_->view_of_rows(use.slot, shape.n_tokens);
    if (slot.type == SlotType::kF32) {
      TRY(const auto values, read_values<float>(*device_, from, n_rows * width));
      output.values = values;
      observer_(output);
      continue;
    }
    const size_t stride = quantized_row_bytes(static_cast<uint32_t>(width));
    const size_t meta = size_t{16} * quantized_meta(static_cast<uint32_t>(width));
    TRY(const auto bytes, read_values<std::byte>(*device_, from, n_rows * stride));
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
