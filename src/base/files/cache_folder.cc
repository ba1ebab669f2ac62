#include "base/files/cache_folder.h"

#include "base/platform/process.h"

namespace tern {

std::string user_cache_folder() {
  const std::string folder = platform::user_cache_folder();
  return folder.empty() ? "" : folder + "/tern";
}

}  // namespace tern
