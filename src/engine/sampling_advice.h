// What a model's makers recommend for sampling, wherever they say it.
#pragma once

#include "model/model.h"
#include "tern/options.h"

namespace tern {

// What comes with the model; where that says nothing, the list of published models, in which a model is found by its
// name and architecture.
SamplingAdvice advice_for(const Model& model);

}  // namespace tern
