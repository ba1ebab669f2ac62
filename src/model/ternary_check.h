// Checks that ternary weights look valid.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/source/weights.h"

namespace tern {

// Says why an I2_S tensor cannot be part of a trained model, from its scale and its first 65,536 weights. Empty: it can
// be, or it has another format. A wrong layout or damaged bytes show up almost at once, and checking the start of each
// tensor costs almost nothing when a model is opened. Errors: those of reading the tensor.
Result<std::string_view> why_not_ternary(const Tensor& tensor);

}  // namespace tern
