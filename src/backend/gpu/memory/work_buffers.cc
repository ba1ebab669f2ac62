#include "backend/gpu/memory/work_buffers.h"

#include <algorithm>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/delta/delta.h"
#include "backend/gpu/kernels/expert_tiles.h"
#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/kernels/ternary/ternary_columns.h"
#include "backend/kv_layout.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

constexpr uint64_t kConstantsBytes = 64u << 10;

// Bytes of a row of a slot, or of the buffer that it shares.
uint64_t device_row_bytes(SlotType type, int width) {
  const auto w = static_cast<uint32_t>(width);
  switch (type) {
    case SlotType::kF32:
      return uint64_t{4} * w;
    case SlotType::kInt8:
      return quantized_row_bytes(w);
    case SlotType::kInt8Blocks:
      return uint64_t{w};  // not used by this backend
    case SlotType::kNormStats:
      return uint64_t{8} * most_stats_parts(w);
  }
  CHECK(false);
}

}  // namespace

namespace {
// Kernels that process several rows at once read and write whole groups of rows.
uint64_t whole_columns(uint64_t rows) { return round_up(rows, kMostColumns); }
uint64_t whole_tiles(uint64_t rows) { return round_up(rows, std::max(kMostColumns, kMostBatchTokens)); }

// Size of `params` (kernels/common.h) for the largest batch, in words.
uint64_t max_params_words(const Config& config, int max_batch, int max_logit_rows, int max_slices) {
  return kFirstRow + kRowWords * static_cast<uint64_t>(max_batch) + 1 + static_cast<uint64_t>(max_logit_rows) +
         static_cast<uint64_t>(max_slices) * static_cast<uint64_t>(kv_blocks_for(config.n_ctx) + 1);
}

int widest_row(const Config& c) { return std::max({c.d_model, c.d_ff, c.q_width(), c.delta.value_width()}); }

uint64_t n_choices(const Config& c, int max_batch) {
  return static_cast<uint64_t>(max_batch) * static_cast<uint64_t>(c.experts.n_used);
}

// Bytes of the tiles of experts, whatever their size, as far as the factors behind them.
uint64_t bytes_before_factors(const Config& c, int max_batch) {
  constexpr uint64_t kOffsetAlignment = 256;  // of any device
  uint64_t most = 0;
  for (uint32_t tokens = kRowsOfGroup; tokens <= kMostTileTokens; tokens *= 2) {
    most = std::max(most, expert_tiles_bytes(n_choices(c, max_batch), static_cast<uint32_t>(c.experts.n), tokens));
  }
  return round_up(most, kOffsetAlignment);
}
}  // namespace

uint64_t halves_bytes(const Plan& plan, int max_batch) {
  const Config& c = plan.config;
  // Matrix kernels read whole tiles.
  const auto bytes = [](uint64_t rows, int width) {
    return 2 * ceil_div(rows, kMostTileTokens) * kMostTileTokens * static_cast<uint64_t>(width);
  };
  return std::max(bytes(static_cast<uint64_t>(max_batch), widest_row(c)),
                  bytes(n_choices(c, max_batch), c.experts.d_ff));
}

uint64_t int8_runs_bytes(const Plan& plan, int max_batch, int max_logit_rows) {
  constexpr uint64_t kBytesOfRun = 2 * sizeof(float);
  const uint64_t runs = ceil_div(static_cast<uint64_t>(widest_row(plan.config)), uint64_t{kRun});
  return kBytesOfRun * runs * static_cast<uint64_t>(std::max(max_batch, max_logit_rows));
}

uint64_t expert_tiles_bytes(const Plan& plan, int max_batch) {
  const Config& c = plan.config;
  return c.experts.n == 0 ? 0 : bytes_before_factors(c, max_batch) + sizeof(float) * n_choices(c, max_batch);
}

uint64_t qkv_rows_bytes(const Plan& plan, int max_batch) {
  const Config& c = plan.config;
  return sizeof(float) * static_cast<uint64_t>(max_batch) * static_cast<uint64_t>(c.q_width() + 2 * c.kv_width());
}

uint64_t activation_bytes(const Plan& plan, int max_batch, int max_logit_rows) {
  uint64_t bytes = plan.config.int8_activations ? 0 : halves_bytes(plan, max_batch);
  if (plan.int8_on_read) bytes += int8_runs_bytes(plan, max_batch, max_logit_rows);
  bytes += expert_tiles_bytes(plan, max_batch);
  for (const auto& buffer : plan.buffers) bytes += device_bytes(buffer, max_batch, max_logit_rows);
  return bytes;
}

uint64_t device_bytes(const tern::Buffer& buffer, int max_batch, int max_logit_rows) {
  const bool of_batch = buffer.rows == RowsOf::kBatch;
  const auto rows = static_cast<uint64_t>(of_batch ? max_batch : max_logit_rows);
  return (of_batch ? whole_tiles(rows) : whole_columns(rows)) * device_row_bytes(buffer.type, buffer.width);
}

Result<std::unique_ptr<WorkBuffers>> WorkBuffers::create(Device& device, const Plan& plan, int max_batch,
                                                         int max_logit_rows, int max_slices) {
  std::unique_ptr<WorkBuffers> work(new WorkBuffers(device, plan, max_batch, max_logit_rows));
  for (const auto& buffer : plan.buffers) {
    const uint64_t bytes = device_bytes(buffer, max_batch, max_logit_rows);
    if (bytes > device.limits().binding_bytes) {
      return fail(
          ErrorCode::kNotSupported,
          "{} MB for the activations of {} tokens, but this GPU binds at most {} MB at once; use a smaller batch",
          bytes >> 20, buffer.rows == RowsOf::kBatch ? max_batch : max_logit_rows, device.limits().binding_bytes >> 20);
    }
    TRY(auto memory, device.new_buffer("activations", bytes, BufferUse::kWork));
    work->slots_.push_back(std::move(memory));
  }
  TRY(work->params_,
      device.new_buffer("params", 4 * max_params_words(plan.config, max_batch, max_logit_rows, max_slices),
                        BufferUse::kWork));
  if (plan.config.has_recurrent_layers()) {
    TRY(work->sequences_,
        device.new_buffer("sequences", 4 * (uint64_t{kSequenceOfRow} + static_cast<uint64_t>(max_batch)),
                          BufferUse::kWork));
  }
  TRY(work->tokens_, device.new_buffer("tokens", 4 * static_cast<uint64_t>(max_batch), BufferUse::kWork));
  TRY(work->token_scales_, device.new_buffer("token scales", 4 * static_cast<uint64_t>(max_batch), BufferUse::kWork));
  const Config& c = plan.config;
  const int widest = widest_row(c);
  TRY(work->unused_gain_, device.new_buffer("unused", 4 * static_cast<uint64_t>(widest), BufferUse::kWeights));
  TRY(work->unused_stats_,
      device.new_buffer("unused",
                        whole_tiles(static_cast<uint64_t>(max_batch)) * device_row_bytes(SlotType::kNormStats, widest),
                        BufferUse::kWork));
  return work;
}

BufferView WorkBuffers::view(SlotId id) const {
  return {slots_[static_cast<size_t>(plan_.slot(id).buffer)].get(), 0, 0};
}

BufferView WorkBuffers::view_of_rows(SlotId id, int n_tokens) const {
  if (n_tokens > 1) return view(id);
  for (const Step& step : plan_.steps) {
    if (const auto* select = std::get_if<step::SelectRows>(&step.body); select && select->out == id)
      return view(select->in);
  }
  return view(id);
}

uint64_t WorkBuffers::row_bytes(SlotId id) const { return device_row_bytes(plan_.slot(id).type, plan_.slot(id).width); }

View<wgsl::F32> WorkBuffers::floats(SlotId id) const {
  CHECK(plan_.slot(id).type == SlotType::kF32);
  return {view(id)};
}
View<wgsl::Vec2<wgsl::F32>> WorkBuffers::float_pairs(SlotId id) const { return {floats(id).view}; }
View<wgsl::Vec4<wgsl::F32>> WorkBuffers::float_quads(SlotId id) const { return {floats(id).view}; }

View<wgsl::I8x4> WorkBuffers::int8_words(SlotId id) const {
  CHECK(plan_.slot(id).type == SlotType::kInt8);
  return {view(id)};
}
View<wgsl::Vec2<wgsl::F32>> WorkBuffers::stats(SlotId id) const {
  CHECK(plan_.slot(id).type == SlotType::kNormStats);
  return {view(id)};
}
View<wgsl::Vec4<wgsl::I8x4>> WorkBuffers::int8_quads(SlotId id) const { return {int8_words(id).view}; }

Result<const Buffer*> WorkBuffers::halves() {
  if (!when_needed_.halves) {
    TRY(when_needed_.halves, device_.new_buffer("halves", halves_bytes(plan_, max_batch_), BufferUse::kWork));
  }
  return when_needed_.halves.get();
}

Result<const Buffer*> WorkBuffers::int8_runs() {
  if (!when_needed_.int8_runs) {
    const uint64_t bytes = int8_runs_bytes(plan_, max_batch_, max_logit_rows_);
    TRY(when_needed_.int8_runs, device_.new_buffer("runs of int8 rows", bytes, BufferUse::kWork));
  }
  return when_needed_.int8_runs.get();
}

Result<WorkBuffers::LeftRows> WorkBuffers::next_left_rows() {
  left_rows_ = 1 - left_rows_;
  auto& x8 = when_needed_.left_rows[2 * left_rows_];
  auto& runs = when_needed_.left_rows[2 * left_rows_ + 1];
  if (!x8) {
    const uint64_t bytes = static_cast<uint64_t>(kMostLeftRows) * static_cast<uint64_t>(widest_row(plan_.config));
    TRY(x8, device_.new_buffer("int8 rows between steps", bytes, BufferUse::kWork));
    TRY(runs, device_.new_buffer("runs between steps", int8_runs_bytes(plan_, kMostLeftRows, 0), BufferUse::kWork));
  }
  return LeftRows{x8.get(), runs.get()};
}

Result<const Buffer*> WorkBuffers::expert_tiles() {
  if (!when_needed_.expert_tiles) {
    const uint64_t bytes = expert_tiles_bytes(plan_, max_batch_);
    TRY(when_needed_.expert_tiles, device_.new_buffer("tiles of experts", bytes, BufferUse::kWork));
  }
  return when_needed_.expert_tiles.get();
}

uint32_t WorkBuffers::expert_factors_at() const {
  return static_cast<uint32_t>(bytes_before_factors(plan_.config, max_batch_) / sizeof(float));
}

Result<const Buffer*> WorkBuffers::qkv_rows() {
  if (!when_needed_.qkv_rows) {
    TRY(when_needed_.qkv_rows,
        device_.new_buffer("queries, keys and values", qkv_rows_bytes(plan_, max_batch_), BufferUse::kWork));
  }
  return when_needed_.qkv_rows.get();
}

uint32_t WorkBuffers::halved_logit_rows() const {
  return ceil_div(static_cast<uint32_t>(max_logit_rows_), kMostTileTokens) * kMostTileTokens;
}

Result<const Buffer*> WorkBuffers::logit_halves(uint32_t width) {
  const uint64_t bytes = uint64_t{2} * 2 * halved_logit_rows() * width;
  if (!when_needed_.logit_halves) {
    TRY(when_needed_.logit_halves, device_.new_buffer("halves of logit rows", bytes, BufferUse::kWork));
  }
  CHECK(when_needed_.logit_halves->bytes() >= bytes);
  return when_needed_.logit_halves.get();
}

Result<const Buffer*> WorkBuffers::attention_parts(int n_tokens, uint32_t n_splits) {
  CHECK(n_splits <= kMostSplits);
  std::unique_ptr<Buffer>& parts = when_needed_.attention_parts[{n_tokens, n_splits}];
  if (!parts) {
    const Config& c = plan_.config;
    const uint64_t values = static_cast<uint64_t>(n_tokens) * static_cast<uint64_t>(c.n_heads) * n_splits *
                            static_cast<uint64_t>(c.head_dim + 2);
    TRY(parts, device_.new_buffer("attention parts", 4 * values, BufferUse::kWork));
  }
  return parts.get();
}

Result<BufferView> WorkBuffers::constant(const Constant& values) {
  if (const auto found = constants_.views.find(values); found != constants_.views.end()) return found->second;
  const uint64_t step = std::max<uint64_t>(device_.limits().offset_alignment, 16);
  if (constants_.buffers.empty() || constants_.used + step > kConstantsBytes) {
    TRY(auto buffer, device_.new_buffer("constants", kConstantsBytes, BufferUse::kUniform));
    constants_.buffers.push_back(std::move(buffer));
    constants_.used = 0;
  }
  const Buffer& buffer = *constants_.buffers.back();
  TRY_STATUS(device_.write(buffer, constants_.used, std::as_bytes(std::span(values))));
  const BufferView view{&buffer, constants_.used, 16};
  constants_.used += step;
  constants_.views.emplace(values, view);
  return view;
}

}  // namespace tern::gpu
