// File sizes for display.
#pragma once

#include <cstdint>
#include <string>

namespace tern::hub {

std::string human_size(uint64_t bytes);  // "812 B", "16.3 MB", "1.19 GB" (1 MB = 10^6 bytes)

}  // namespace tern::hub
