// The sampling parameters that a model's makers recommend, from any source.
#pragma once

#include "model/model.h"
#include "tern/options.h"

namespace tern {

// The recommendation in the model's files, or else that of the list of published models, in which a model is found by
// its name and architecture.
SamplingAdvice advice_for(const Model& model);

}  // namespace tern
