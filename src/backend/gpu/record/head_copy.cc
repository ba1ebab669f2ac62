#include "backend/gpu/record/head_copy.h"

#include <algorithm>
#include <bit>

#include "backend/gpu/memory/weights/pack.h"
#include "backend/gpu/memory/weights/upload.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::gpu {
namespace {

// Rows of logits to make room for: at most as many as a kernel estimates at a time.
uint32_t rows_of_room(int max_logit_rows) {
  return std::min(std::bit_ceil(static_cast<uint32_t>(max_logit_rows)), kMostBestRows);
}

struct Sizes {
  uint64_t codes, errors, parts, bounds, upper, greatest;
  Sizes(const Tensor& w, uint32_t room)
      : codes(static_cast<uint64_t>(w.rows) * static_cast<uint64_t>(w.cols)),
        errors(static_cast<uint64_t>(w.rows) * sizeof(float) * 4),
        parts(uint64_t{2} * room * static_cast<uint64_t>(w.cols)),
        bounds(uint64_t{room} * sizeof(float) * 4),
        upper(uint64_t{room} * static_cast<uint64_t>(w.rows) * sizeof(float)),
        greatest(uint64_t{room} * kGreatestParts * sizeof(uint32_t)) {}
  uint64_t total() const { return codes + errors + parts + bounds + upper + greatest; }
};

bool has_whole_words(const Tensor& w) { return w.cols % 16 == 0; }

// The matrix to copy; null: none.
Result<const Tensor*> matrix_for(const HeadCopyContext& c) {
  const Limits& limits = c.device.limits();
  const auto need_of = [&](const Tensor& w) {
    const Sizes sizes(w, rows_of_room(c.max_logit_rows));
    HeadCopyNeed need{.bytes = sizes.total(), .pays = c.device.features().packed_dot && !c.layouts.serial};
    const uint64_t matrix_bytes = weight_bytes(w, WeightRole::kMatrix);
    if (!has_whole_words(w)) {
      need.cannot = format_text("its rows have {} values, no multiple of 16", w.cols);
    } else if (std::max({sizes.codes, sizes.upper, matrix_bytes}) >
               std::min(limits.binding_bytes, limits.buffer_bytes)) {
      need.cannot = format_text("it has {} MB, more than this GPU binds at once", matrix_bytes >> 20);
    }
    return need;
  };
  return head_to_copy(c.plan, c.wanted, UINT64_MAX, need_of);
}

HeadCopyConfig config_for(const HeadCopyContext& c, const Tensor& w) {
  const Caps caps = caps_of(c.device);
  return {.rows = static_cast<uint32_t>(w.rows),
          .cols = static_cast<uint32_t>(w.cols),
          .coding = coding_of(w),
          .caps = caps,
          .lanes = lanes_of(caps, c.layouts.head.lanes),
          .workgroup = std::min(c.layouts.head.workgroup, c.device.limits().invocations)};
}

class Int8HeadCopy final : public HeadCopy {
 public:
  Int8HeadCopy(const Tensor& w, int most_rows) : w_(w), most_rows_(most_rows) {}

  Result<void> allocate(Device& device, uint32_t room);
  Result<void> record_fill(const HeadCopyContext& context, const FloatMatrix& matrix);

  Result<void> fill(Device& device) override;
  const Tensor& matrix() const override { return w_; }
  int most_rows() const override { return most_rows_; }
  uint64_t bytes_per_token() const override {
    const Sizes sizes(w_, 1);
    return sizes.codes + sizes.errors;
  }
  Views views() const override {
    return {.codes = {{codes_.get(), 0, 0}},
            .errors = {{errors_.get(), 0, 0}},
            .parts = {{parts_.get(), 0, 0}},
            .bounds = {{bounds_.get(), 0, 0}},
            .upper = {{upper_.get(), 0, 0}},
            .greatest = {{greatest_.get(), 0, 0}}};
  }

 private:
  const Tensor& w_;
  int most_rows_;
  Program fill_;
  bool is_filled_ = false;
  std::unique_ptr<Buffer> codes_, errors_, parts_, bounds_, upper_, greatest_;
};

Result<void> Int8HeadCopy::allocate(Device& device, uint32_t room) {
  const Sizes sizes(w_, room);
  TRY(codes_, device.new_buffer("the head's int8 copy", sizes.codes, BufferUse::kWork));
  TRY(errors_, device.new_buffer("errors of the head's copy", sizes.errors, BufferUse::kWork));
  TRY(parts_, device.new_buffer("input of estimates", sizes.parts, BufferUse::kWork));
  TRY(bounds_, device.new_buffer("bounds of estimates", sizes.bounds, BufferUse::kWork));
  TRY(upper_, device.new_buffer("estimated logits", sizes.upper, BufferUse::kWork));
  TRY(greatest_, device.new_buffer("greatest estimates", sizes.greatest, BufferUse::kWork));
  return {};
}

Result<void> Int8HeadCopy::record_fill(const HeadCopyContext& context, const FloatMatrix& matrix) {
  const FloatMatrix::Part& part = matrix.parts.front();
  const HeadCopyConfig config = config_for(context, w_);
  CHECK(part.coding == config.coding);
  const uint32_t n_workgroups = ceil_div(config.rows, config.rows_per_workgroup());
  const Extent extent{.grid = grid_of(n_workgroups, context.device.limits().workgroups)};
  TRY(auto dispatch,
      context.kernels.record(context.kernels.traced(head_copy, config), extent, View<WeightUnits>{part.units},
                             View<wgsl::U32>{part.scales}, views().codes, views().errors));
  fill_.add(std::move(dispatch));
  return {};
}

Result<void> Int8HeadCopy::fill(Device& device) {
  if (is_filled_) return {};
  std::vector<Command> commands;
  fill_.commands({}, commands);
  TRY_STATUS(device.submit(commands));
  is_filled_ = true;
  return {};
}

}  // namespace

uint64_t head_copy_bytes(const Plan& plan, int max_logit_rows) {
  const Tensor* w = float_head(plan);
  return w && can_have_copy(*w) && has_whole_words(*w) ? Sizes(*w, rows_of_room(max_logit_rows)).total() : 0;
}

Result<void> begin_head_copy(const HeadCopyContext& context) {
  TRY(const Tensor* w, matrix_for(context));
  if (!w) return {};
  KernelLibrary& kernels = context.kernels;
  TRY(const Pipeline* pipeline, kernels.pipeline(kernels.traced(head_copy, config_for(context, *w)).module));
  return context.device.begin(*pipeline);
}

Result<std::unique_ptr<HeadCopy>> make_head_copy(const HeadCopyContext& context, WeightStore& weights) {
  TRY(const Tensor* w, matrix_for(context));
  if (!w) return nullptr;
  TRY(const FloatMatrix* matrix, weights.matrix(*w));
  CHECK(matrix->parts.size() == 1);
  auto copy = std::make_unique<Int8HeadCopy>(*w, std::min(context.max_logit_rows, static_cast<int>(kMostBestRows)));
  auto made = copy->allocate(context.device, rows_of_room(context.max_logit_rows)).and_then([&] {
    return copy->record_fill(context, *matrix);
  });
  if (made) return copy;
  if (context.wanted == ExactHead::kWherePays && made.error().code != ErrorCode::kDeviceLost) return nullptr;
  return std::unexpected(std::move(made).error());
}

}  // namespace tern::gpu
