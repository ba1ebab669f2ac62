#include "hub/store/human_size.h"

#include "base/text/format_text.h"

namespace tern::hub {

std::string human_size(uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (amount >= 1e9) return format_text("{:.2f} GB", amount / 1e9);
  if (amount >= 1e5) return format_text("{:.1f} MB", amount / 1e6);
  return format_text("{} B", bytes);
}

}  // namespace tern::hub
