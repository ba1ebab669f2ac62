// Completes requested sampling options to a full set of parameters.
#pragma once

#include "tern/options.h"

namespace tern {

// `asked`, with missing values from `advised`. The seed is that of `asked`.
SampleOptions merged(const SampleOptions& asked, const SampleOptions& advised);

// A full set of parameters: missing values are Tern's defaults.
Sampling sampling_of(const SampleOptions& options);

}  // namespace tern
