// Checks of sampling parameters.
#pragma once

#include "tern/error.h"
#include "tern/options.h"

namespace tern {

// kInvalidArgument: a meaningless value; the message names the option and its range. Requests are checked by
// themselves; this is for checking an option when it is set.
Result<void> check_sampling(const Sampling& sampling);

}  // namespace tern
