// From what is wanted of the sampler to all of its numbers.
#pragma once

#include "tern/options.h"

namespace tern {

// `asked`, and what it does not give as in `advised`. The seed is that of `asked`.
SampleOptions merged(const SampleOptions& asked, const SampleOptions& advised);

// All numbers: what `options` does not give is Tern's own.
Sampling sampling_of(const SampleOptions& options);

}  // namespace tern
