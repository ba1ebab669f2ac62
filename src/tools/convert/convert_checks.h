// What must hold before or after a tensor's rows are written in another format.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/convert/convert_job.h"

namespace tern {

bool is_head(std::string_view tensor);

// Returns the one nonzero magnitude among a ternary matrix's decoded values; 0 if all are zero. `path`: in messages.
Result<float> common_magnitude(const std::string& path, const SourceTensor& tensor);

// Fails if a value is not finite, too large for the format, or destroyed by a format that holds only codes.
Result<void> check_fit(const std::string& path, const ConvertJob& job, std::span<const PackingLoss> rows);

}  // namespace tern
