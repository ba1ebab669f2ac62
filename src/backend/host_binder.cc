#include "backend/host_binder.h"

#include "base/bytes.h"

namespace tern {
namespace {

const float* f32_data(const Tensor& vector) { return reinterpret_cast<const float*>(vector.data.data()); }

}  // namespace

HostBinder::HostBinder(const Plan& plan, int max_batch) : plan_(plan) {
  for (const RopeParams& rope : plan.config.ropes) ropes_.emplace_back(rope, plan.config.head_dim, max_batch);
}

Result<std::unique_ptr<HostBinder>> HostBinder::create(const Plan& plan, int max_batch, int max_logit_rows) {
  std::unique_ptr<HostBinder> binder(new HostBinder(plan, max_batch));
  for (const Buffer& buffer : plan.buffers) {
    const auto rows = static_cast<uint64_t>(buffer.rows == RowsOf::kBatch ? max_batch : max_logit_rows);
    const uint64_t values = rows * static_cast<uint64_t>(buffer.width);
    Memory memory;
    if (buffer.type == SlotType::kNormStats) {
      // The host's steps norm whole rows: nothing is passed on.
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

void HostBinder::begin(const HostKvCache& cache, const Batch& batch) {
  cache_ = &cache;
  batch_ = batch;
  n_logit_rows_ = batch.logits == WantLogits::kNone ? 0 : batch.logits == WantLogits::kLast ? 1 : n_tokens();
  for (RopeTable& rope : ropes_) rope.fill(batch.first_pos, n_tokens(), cache.n_ctx());
}

std::span<const float> HostBinder::logits() const { return {floats(plan_.logits), elements(plan_.logits)}; }

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

ops::Embed HostBinder::bind(const step::Embed& s) const { return {s.table, batch_.tokens, floats(s.out), s.scale}; }

ops::Copy HostBinder::bind(const step::SelectRows& s) const {
  const size_t count = elements(s.out);
  return {floats(s.in) + (elements(s.in) - count), count, floats(s.out)};  // the last rows
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
  return {floats(s.x), rows(s.x), s.n_heads, s.head_dim, rope.cos(), rope.sin(), s.pairs};
}

ops::KvAppend HostBinder::bind(const step::KvAppend& s) const {
  return {floats(s.k), floats(s.v), rows(s.k), batch_.first_pos, cache_->layer(s.layer)};
}

ops::Attention HostBinder::bind(const step::Attention& s) const {
  CHECK(!s.heads);  // as above: in the expanded plan they are steps
  return {.q = floats(s.q),
          .n = rows(s.q),
          .n_heads = s.n_heads,
          .first_pos = batch_.first_pos,
          .window = s.window,
          .cache = cache_->layer(s.layer),
          .out = floats(s.out),
          .softcap = s.softcap};
}

ops::GluMul HostBinder::bind(const step::GluMul& s) const {
  return {floats(s.gate), floats(s.up), s.act, elements(s.out), floats(s.out)};
}

ops::Add HostBinder::bind(const step::Add& s) const { return {floats(s.in), elements(s.x), floats(s.x)}; }

ops::AddBias HostBinder::bind(const step::AddBias& s) const {
  return {f32_data(*s.bias), rows(s.x), plan_.slot(s.x).width, floats(s.x)};
}

ops::Softcap HostBinder::bind(const step::Softcap& s) const { return {s.cap, elements(s.x), floats(s.x)}; }

void HostBinder::report(const Step& step, const StepObserver& observer) const {
  for (const SlotUse& use : slot_uses(step.body)) {
    if (!use.is_output()) continue;
    const Slot& slot = plan_.slot(use.slot);
    StepOutput output{.step = &step, .slot = &slot, .rows = rows(use.slot), .values = {}, .scales = {}, .sums = {}};
    std::vector<float> integers;  // or the floats that blocks stand for
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
