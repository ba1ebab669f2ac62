// Whether ternary weights look like ones.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/weights.h"

namespace tern {

// Why an I2_S tensor cannot be what a trained model has, by its scale and its first 65,536 weights; empty where it can
// be, and for other formats. A tensor in another layout or with damaged bytes shows it almost at once, and looking at
// the start of each costs nothing when a model is opened.
// Errors: those of reading it.
Result<std::string_view> why_not_ternary(const Tensor& tensor);

}  // namespace tern
