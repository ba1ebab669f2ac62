#include "base/platform/wait.h"

#include <windows.h>

namespace tern::platform {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) {
  ::WaitOnAddress(&value, &seen, sizeof(seen), INFINITE);
}
void wake_all(std::atomic<uint32_t>& value) { ::WakeByAddressAll(&value); }

}  // namespace tern::platform
