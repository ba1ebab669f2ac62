#include "base/files/cache_folder.h"

#include <cstdlib>

namespace tern {

std::string user_cache_folder() {
#ifdef __EMSCRIPTEN__
  return "";  // a browser has no folders, although HOME is set
#endif
  const auto absolute = [](const char* name) -> std::string {
    const char* path = std::getenv(name);
    return path != nullptr && path[0] == '/' ? path : "";
  };
  if (const std::string cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache + "/tern";
  if (const std::string home = absolute("HOME"); !home.empty()) return home + "/.cache/tern";
  return "";
}

}  // namespace tern
