#include "backend/gpu/memory/weights/upload.h"

#include <algorithm>
#include <array>

#include "backend/gpu/memory/weights/pack.h"

namespace tern::gpu {
namespace {

Result<void> check_columns(const Plan& plan) {
  const Tensor* odd = nullptr;
  for (const Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor* w, WeightRole role) {
      if (role != WeightRole::kVector && w->cols % 4 != 0) odd = w;
    });
  }
  if (!odd) return {};
  return fail(ErrorCode::kNotSupported, "tensor {}: {} columns are not a multiple of 4; use the cpu backend", odd->name,
              odd->cols);
}

Result<void> upload_alone(const Tensor* w, WeightRole role, WeightStore& store) {
  const auto done = [](const auto&) {};
  if (role == WeightRole::kVector) return store.vector(*w).transform(done);
  return role == WeightRole::kTernary ? store.ternary({&w, 1}).transform(done) : store.matrix(*w).transform(done);
}

// Query, key and value matrices of one format are bound together. Ternary ones are also bound singly, as views into the
// common buffer where alignment allows. The matrices of a gated float layer must have units of one size. The biases of
// experts and of query, key and value are bound as one vector.
Result<void> upload(const StepBody& body, WeightStore& store) {
  bool has_matrices = false;
  std::vector<const Tensor*> bound_together;  // vectors
  if (const auto* ternary = std::get_if<step::TernaryQkv>(&body)) {
    const Tensor* const matrices[] = {ternary->wq, ternary->wk, ternary->wv};
    TRY_STATUS(store.ternary(matrices));
  } else if (const auto* floats = std::get_if<step::FloatQkv>(&body)) {
    const Tensor* const matrices[] = {floats->wq, floats->wk, floats->wv};
    TRY_STATUS(store.matrix(matrices));
    if (floats->q_bias) TRY_STATUS(store.vectors(std::array{floats->q_bias, floats->k_bias, floats->v_bias}));
    has_matrices = true;
    bound_together = {floats->q_bias, floats->k_bias, floats->v_bias};
  } else if (const auto* stack = std::get_if<step::FloatStack>(&body)) {
    std::vector<const Tensor*> matrices;
    for (const auto& part : stack->parts) matrices.push_back(part.w);
    TRY_STATUS(store.matrix(matrices));
    has_matrices = true;
  } else if (const auto* glu = std::get_if<step::FloatGlu>(&body)) {
    TRY_STATUS(store.glu(*glu->w_gate, *glu->w_up));
    has_matrices = true;
  } else if (const auto* experts = std::get_if<step::ExpertGlu>(&body)) {
    TRY_STATUS(store.glu(*experts->w_gate, *experts->w_up));
    if (experts->gate_bias) TRY_STATUS(store.vectors(std::array{experts->gate_bias, experts->up_bias}));
    has_matrices = true;
    bound_together = {experts->gate_bias, experts->up_bias};
  }
  return try_each_weight(body, [&](const Tensor* w, WeightRole role) -> Result<void> {
    const bool is_done = (has_matrices && role == WeightRole::kMatrix) || std::ranges::contains(bound_together, w);
    return is_done ? Result<void>() : upload_alone(w, role, store);
  });
}

}  // namespace

uint64_t weight_row_bytes(const Tensor& tensor, WeightRole role) {
  if (role == WeightRole::kTernary) return row_bytes(Format::kI2_S, tensor.cols);
  if (role == WeightRole::kVector) return sizeof(float) * static_cast<uint64_t>(tensor.cols);
  const WeightCoding coding = coding_of(tensor);
  const uint64_t scales = coding.scales_of_row(static_cast<uint32_t>(tensor.cols));
  return unit_row_bytes(coding, tensor.cols) + scales * (coding.has_scale_words() ? 4 : 2);
}

uint64_t weight_bytes(const Tensor& tensor, WeightRole role) {
  return weight_row_bytes(tensor, role) * static_cast<uint64_t>(tensor.rows);
}

Result<void> upload_weights(const Plan& plan, WeightStore& store) {
  TRY_STATUS(check_columns(plan));
  for (const Step& step : plan.steps) {
    auto uploaded = upload(step.body, store);
    if (!uploaded) {
      Error error = std::move(uploaded).error();
      error.message = step.name + ": " + error.message;
      return std::unexpected(std::move(error));
    }
  }
  store.close();
  return {};
}

}  // namespace tern::gpu
