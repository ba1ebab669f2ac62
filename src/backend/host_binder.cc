#include "backend/host_binder.h"

#include <algorithm>

#include "backend/kv_layout.h"
#include "base/bytes.h"

namespace tern {
namespace {

const float* f32_data(const Tensor& vector) { return reinterpret_cast<const float*>(vector.data.data()); }
const float* f32_data(const Tensor* vector) { return vector ? f32_data(*vector) : nullptr; }

}  // namespace

HostBinder::HostBinder(const Plan& plan, int max_batch, int max_logit_rows)
    : plan_(plan), max_batch_(max_batch), max_logit_rows_(max_logit_rows) {
  const auto most = static_cast<size_t>(max_batch);  // runs allocate nothing
  tokens_.reserve(most);
  kv_rows_.reserve(most);
  tiles_.reserve(most);
  state_rows_.reserve(most);
  logit_rows_.reserve(static_cast<size_t>(max_logit_rows));
  if (std::ranges::any_of(plan.steps, [](const Step& s) { return std::holds_alternative<step::Hidden>(s.body); })) {
    hidden_.reserve(most * static_cast<size_t>(plan.config.d_model));
    hidden_rows_.reserve(most);
  }
  for (const RopeParams& rope : plan.config.ropes) ropes_.emplace_back(rope, plan.config.head_dim, max_batch);
}

Result<std::unique_ptr<HostBinder>> HostBinder::create(const Plan& plan, int max_batch, int max_logit_rows) {
  std::unique_ptr<HostBinder> binder(new HostBinder(plan, max_batch, max_logit_rows));
  for (const Buffer& buffer : plan.buffers) {
    const auto rows = static_cast<uint64_t>(buffer.rows == RowsOf::kBatch ? max_batch : max_logit_rows);
    const uint64_t values = rows * static_cast<uint64_t>(buffer.width);
    Memory memory;
    if (buffer.type == SlotType::kNormStats) {
      // Nothing to allocate: the host's steps normalize whole rows.
    } else if (buffer.type == SlotType::kF32) {
      TRY(memory.values, HostMemory::allocate(values * sizeof(float), "the activations"));
    } else {
      const uint64_t scales = buffer.type == SlotType::kInt8Blocks ? ceil_div(values, uint64_t{kInt8Block}) : rows;
      TRY(memory.values, HostMemory::allocate(values, "the activations"));
      TRY(memory.scales, HostMemory::allocate(scales * sizeof(float), "the activations"));
      TRY(memory.sums, HostMemory::allocate(scales * sizeof(int32_t), "the activations"));
    }
    binder->buffers_.push_back(std::move(memory));
  }
  return binder;
}

void HostBinder::begin(const HostKvStore& store, Batch batch) {
  store_ = &store;
  tokens_.clear();
  blocks_.clear();
  kv_rows_.clear();
  tiles_.clear();
  logit_rows_.clear();
  hidden_.clear();
  hidden_rows_.clear();
  state_rows_.clear();
  size_t n_tokens = 0, n_logit_rows = 0, n_blocks = 0;
  for (const Slice& slice : batch) {
    n_tokens += slice.tokens.size();
    n_logit_rows += static_cast<size_t>(slice.n_logit_rows());
    n_blocks += static_cast<size_t>(kv_blocks_for(slice.n_ctx));
  }
  CHECK(n_tokens >= 1 && n_tokens <= static_cast<size_t>(max_batch_));
  CHECK(n_logit_rows <= static_cast<size_t>(max_logit_rows_));
  blocks_.reserve(n_blocks);  // kv_rows_ points into it
  for (const Slice& slice : batch) add(slice);
}

void HostBinder::add(const Slice& slice) {
  const int first = n_tokens(), n = static_cast<int>(slice.tokens.size()), end = slice.first_pos + n;
  CHECK(n >= 1 && slice.first_pos >= 0 && end <= slice.n_ctx && kv_blocks_for(end) <= std::ssize(slice.blocks));
  std::byte* const* const blocks = blocks_.data() + blocks_.size();
  for (const KvBlockId block : slice.blocks.first(static_cast<size_t>(kv_blocks_for(end)))) {
    blocks_.push_back(store_->data(block));
  }
  tokens_.insert(tokens_.end(), slice.tokens.begin(), slice.tokens.end());
  for (int i = 0; i < n; ++i) kv_rows_.push_back({blocks, slice.first_pos + i});
  for (int i = 0; i < n; i += ops::kTileRows) tiles_.push_back({first + i, std::min(ops::kTileRows, n - i)});
  for (int i = n - slice.n_logit_rows(); i < n; ++i) logit_rows_.push_back(first + i);
  if (!slice.hidden.empty()) {
    CHECK(slice.hidden.size() == slice.tokens.size() * static_cast<size_t>(plan_.config.d_model));
    hidden_.insert(hidden_.end(), slice.hidden.begin(), slice.hidden.end());
    for (int i = 0; i < n; ++i) hidden_rows_.push_back(first + i);
  }
  if (store_->state_bytes() > 0) {
    const int pos = slice.first_pos - slice.n_confirmed;  // that the state describes
    CHECK(slice.state >= 0 && pos >= 0 && slice.n_confirmed <= kMostPending && (!slice.is_check || n <= kMostPending));
    state_rows_.push_back({.first = first,
                           .n = n,
                           .state = store_->state(slice.state),
                           .is_new = pos == 0,
                           .n_confirmed = slice.n_confirmed,
                           .confirmed_set = slice.confirmed_set,
                           .is_check = slice.is_check});
  }
  for (RopeTable& rope : ropes_) rope.fill(first, n, slice.first_pos, slice.n_ctx);
}

std::span<const float> HostBinder::logits() const { return {floats(plan_.logits), elements(plan_.logits)}; }

std::span<const float> HostBinder::hidden() const {
  if (plan_.hidden == SlotId{}) return {};
  return {floats(plan_.hidden), elements(plan_.hidden)};
}

float* HostBinder::floats(SlotId id) const {
  DCHECK(plan_.slot(id).type == SlotType::kF32);
  return reinterpret_cast<float*>(buffers_[static_cast<size_t>(plan_.slot(id).buffer)].values.data());
}

ops::MutableQuantizedRows HostBinder::int8(SlotId id) const {
  DCHECK(plan_.slot(id).type == SlotType::kInt8);
  const Memory& memory = buffers_[static_cast<size_t>(plan_.slot(id).buffer)];
  return {reinterpret_cast<int8_t*>(memory.values.data()), reinterpret_cast<float*>(memory.scales.data()),
          reinterpret_cast<int32_t*>(memory.sums.data())};
}

ops::QuantizedRows HostBinder::int8_input(SlotId id) const {
  const auto rows = int8(id);
  return {rows.q, rows.scale, rows.sum};
}

ops::MutableBlockRows HostBinder::blocks(SlotId id) const {
  DCHECK(plan_.slot(id).type == SlotType::kInt8Blocks);
  const Memory& memory = buffers_[static_cast<size_t>(plan_.slot(id).buffer)];
  return {reinterpret_cast<int8_t*>(memory.values.data()), reinterpret_cast<float*>(memory.scales.data()),
          reinterpret_cast<int32_t*>(memory.sums.data())};
}

ops::FloatRows HostBinder::float_input(SlotId id) const {
  if (plan_.slot(id).type == SlotType::kF32) return {.x = floats(id)};
  const auto rows = blocks(id);
  return {.blocks = {rows.q, rows.scale, rows.sum}};
}

size_t HostBinder::elements(SlotId id) const {
  return static_cast<size_t>(rows(id)) * static_cast<size_t>(plan_.slot(id).width);
}

ops::Embed HostBinder::bind(const step::Embed& s) const { return {s.table, tokens_, floats(s.out), s.scale}; }

ops::SelectRows HostBinder::bind(const step::SelectRows& s) const {
  return {floats(s.in), logit_rows_, plan_.slot(s.in).width, floats(s.out)};
}

ops::SelectRows HostBinder::bind(const step::Hidden& s) const {
  CHECK(std::ssize(hidden_rows_) == n_tokens());
  return {hidden_.data(), hidden_rows_, plan_.slot(s.out).width, floats(s.out)};
}

ops::RmsNorm HostBinder::bind(const step::RmsNorm& s) const {
  return {floats(s.in), f32_data(*s.gain), s.eps, rows(s.in), plan_.slot(s.in).width, floats(s.out)};
}

ops::Quantize HostBinder::bind(const step::Quantize& s) const {
  return {floats(s.in), rows(s.in), plan_.slot(s.in).width, int8(s.out)};
}

ops::RmsNormQuantize HostBinder::bind(const step::RmsNormQuantize& s) const {
  return {floats(s.in), f32_data(*s.gain), s.eps, rows(s.in), plan_.slot(s.in).width, int8(s.out)};
}

ops::TernaryLinear HostBinder::bind(const step::TernaryLinear& s) const {
  return {int8_input(s.in), rows(s.in), s.w, ops::Store::kSet, floats(s.out)};
}

ops::TernaryLinear HostBinder::bind(const step::TernaryLinearAdd& s) const {
  return {int8_input(s.in), rows(s.in), s.w, ops::Store::kAdd, floats(s.x)};
}

ops::TernaryGlu HostBinder::bind(const step::TernaryGlu& s) const {
  return {int8_input(s.in), rows(s.in), s.w_gate, s.w_up, s.act, floats(s.out)};
}

ops::FloatLinear HostBinder::bind(const step::FloatLinear& s) const {
  return {float_input(s.in), rows(s.in), s.w, ops::Store::kSet, floats(s.out)};
}

ops::FloatLinear HostBinder::bind(const step::FloatLinearAdd& s) const {
  return {float_input(s.in), rows(s.in), s.w, ops::Store::kAdd, floats(s.x)};
}

ops::FloatGlu HostBinder::bind(const step::FloatGlu& s) const {
  return {float_input(s.in), rows(s.in), s.w_gate, s.w_up, s.act, floats(s.out)};
}

ops::QuantizeBlocks HostBinder::bind(const step::QuantizeBlocks& s) const {
  return {floats(s.in), rows(s.in), plan_.slot(s.in).width, blocks(s.out)};
}

ops::RmsNorm HostBinder::bind(const step::HeadNorm& s) const {
  return {floats(s.x), f32_data(*s.gain), s.eps, rows(s.x) * s.n_heads, s.head_dim, floats(s.x)};
}

ops::Rope HostBinder::bind(const step::Rope& s) const {
  const RopeTable& rope = ropes_[static_cast<size_t>(s.rope)];
  return {floats(s.x), rows(s.x), s.n_heads, s.head_dim, rope.cos(), rope.sin(), s.pairs, s.n_dims};
}

ops::KvAppend HostBinder::bind(const step::KvAppend& s) const {
  return {floats(s.k), floats(s.v), kv_rows_, store_->layer(s.layer)};
}

ops::Attention HostBinder::bind(const step::Attention& s) const {
  CHECK(!s.heads);  // in the expanded plan, heads are separate steps
  return {.q = floats(s.q),
          .rows = kv_rows_,
          .tiles = tiles_,
          .n_heads = s.n_heads,
          .window = s.window,
          .cache = store_->layer(s.layer),
          .out = floats(s.out),
          .softcap = s.softcap,
          .sinks = f32_data(s.sinks)};
}

ops::SplitHeads HostBinder::bind(const step::SplitHeads& s) const {
  return {floats(s.in), rows(s.in), s.n_heads, s.head_dim, floats(s.q), floats(s.gate)};
}
ops::Rotate HostBinder::bind(const step::Rotate& s) const {
  return {.in = floats(s.in),
          .signs = f32_data(*s.signs),
          .n = rows(s.in),
          .width = plan_.slot(s.in).width,
          .block = s.block,
          .is_inverse = s.is_inverse,
          .n_groups = s.n_groups,
          .head_dim = s.head_dim,
          .out = floats(s.out)};
}
ops::SigmoidMul HostBinder::bind(const step::SigmoidMul& s) const {
  return {floats(s.gate), elements(s.x), floats(s.x)};
}
ops::CausalConv HostBinder::bind(const step::CausalConv& s) const {
  return {.in = floats(s.in),
          .taps = f32_data(*s.taps),
          .channels = s.taps->rows,
          .n_taps = s.taps->cols,
          .rows = state_rows_,
          .state = store_->state_layer(s.layer),
          .out = floats(s.out)};
}
ops::DeltaRule HostBinder::bind(const step::DeltaRule& s) const {
  return {.in = floats(s.in),
          .alpha = floats(s.alpha),
          .beta = floats(s.beta),
          .decay = f32_data(*s.decay),
          .dt_bias = f32_data(*s.dt_bias),
          .shape = plan_.config.delta,
          .rows = state_rows_,
          .state = store_->state_layer(s.layer),
          .out = floats(s.out)};
}
ops::GatedNorm HostBinder::bind(const step::GatedNorm& s) const {
  return {.in = floats(s.in),
          .gate = floats(s.gate),
          .gain = f32_data(*s.gain),
          .eps = s.eps,
          .n = rows(s.in) * s.n_heads,
          .head_dim = s.head_dim,
          .out = floats(s.out)};
}
ops::Chosen HostBinder::chosen(SlotId id) const { return {floats(id), rows(id), plan_.slot(id).width / 2}; }

ops::Route HostBinder::bind(const step::Route& s) const {
  return {floats(s.in), rows(s.in), s.experts, floats(s.out), f32_data(s.expert_scale)};
}

ops::ExpertGlu HostBinder::bind(const step::ExpertGlu& s) const {
  return {.in = float_input(s.in),
          .chosen = chosen(s.chosen),
          .w_gate = s.w_gate,
          .w_up = s.w_up,
          .gate_bias = f32_data(s.gate_bias),
          .up_bias = f32_data(s.up_bias),
          .limit = s.experts.limit,
          .act = s.act,
          .out = floats(s.out)};
}

ops::ExpertLinear HostBinder::bind(const step::ExpertLinear& s) const {
  return {float_input(s.in), chosen(s.chosen), s.w, f32_data(s.bias), floats(s.out)};
}

ops::MixExperts HostBinder::bind(const step::MixExperts& s) const {
  return {.in = floats(s.in),
          .chosen = chosen(s.chosen),
          .shared = s.has_shared() ? floats(s.shared) : nullptr,
          .gate = s.has_shared() ? floats(s.gate) : nullptr,
          .width = plan_.slot(s.out).width,
          .out = floats(s.out)};
}

ops::GluMul HostBinder::bind(const step::GluMul& s) const {
  const int width = plan_.slot(s.out).width, up_width = plan_.slot(s.up).width;
  ops::GluMul op{floats(s.gate), floats(s.up) + s.first_up, s.act, elements(s.out), floats(s.out)};
  if (up_width != width) op.width = width, op.up_stride = up_width;
  return op;
}

ops::Add HostBinder::bind(const step::Add& s) const { return {floats(s.in), elements(s.x), floats(s.x), s.scale}; }

ops::AddBias HostBinder::bind(const step::AddBias& s) const {
  return {f32_data(*s.bias), rows(s.x), plan_.slot(s.x).width, floats(s.x)};
}

ops::Softcap HostBinder::bind(const step::Softcap& s) const { return {s.cap, elements(s.x), floats(s.x)}; }

void HostBinder::report(const Step& step, const StepObserver& observer) const {
  for (const SlotUse& use : slot_uses(step.body)) {
    if (!use.is_output()) continue;
    const Slot& slot = plan_.slot(use.slot);
    StepOutput output{.step = &step, .slot = &slot, .rows = rows(use.slot), .values = {}, .scales = {}, .sums = {}};
    std::vector<float> integers;  // or the dequantized blocks
    if (slot.type == SlotType::kF32) {
      output.values = {floats(use.slot), elements(use.slot)};
    } else if (slot.type == SlotType::kInt8Blocks) {
      const auto in = blocks(use.slot);
      for (size_t i = 0; i < elements(use.slot); ++i) {
        integers.push_back(static_cast<float>(in.q[i]) * in.scale[i / kInt8Block]);
      }
      output.values = integers;
    } else {
      const auto in = int8_input(use.slot);
      integers.assign(in.q, in.q + elements(use.slot));
      output.values = integers;
      output.scales = {in.scale, static_cast<size_t>(output.rows)};
      output.sums = {in.sum, static_cast<size_t>(output.rows)};
    }
    observer(output);
  }
}

}  // namespace tern
