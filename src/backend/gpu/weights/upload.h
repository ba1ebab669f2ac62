// All weights of a plan, as the recorder (record/recorder.h) asks for them.
#pragma once

#include "backend/gpu/weights/weight_store.h"
#include "plan/step_weights.h"

namespace tern::gpu {

// On the device, where float matrices are packed and ternary ones are I2_S.
uint64_t weight_row_bytes(const Tensor& tensor, WeightRole role);
uint64_t weight_bytes(const Tensor& tensor, WeightRole role);

// Uploads every weight of the plan, and closes the store. kNotSupported where the device cannot take one: its columns
// are not a multiple of 4, or it is greater than what may be bound at once. Errors of reading the weights.
Result<void> upload_weights(const Plan& plan, WeightStore& store);

}  // namespace tern::gpu
