// Uploads all weights of a plan in the form in which the recorder (record/steps/recorder.h) asks for them.
#pragma once

#include "backend/gpu/memory/weights/weight_store.h"
#include "plan/step_weights.h"

namespace tern::gpu {

// Bytes on the device, where float matrices are packed and ternary ones are I2_S.
uint64_t weight_row_bytes(const Tensor& tensor, WeightRole role);
uint64_t weight_bytes(const Tensor& tensor, WeightRole role);

// Uploads every weight of the plan, and closes the store. kNotSupported if the device cannot take one: its columns are
// not a multiple of 4, or it is larger than a binding may be. Errors of reading the weights.
Result<void> upload_weights(const Plan& plan, WeightStore& store);

}  // namespace tern::gpu
