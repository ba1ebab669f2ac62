// The public calls for a build without libcurl: all of them fail.
#include "base/result.h"
#include "tern/hub.h"

namespace tern {
namespace {

std::unexpected<Error> absent() {
  return fail(ErrorCode::kNotSupported,
              "this Tern is built without libcurl and OpenSSL, so it cannot download; build it with them, or name a "
              "model on this machine");
}

}  // namespace

Result<std::string> hub_pull(const std::string&, const HubOptions&) { return absent(); }
Result<std::vector<HubFile>> hub_list(const std::string&, const HubOptions&) { return absent(); }

Result<std::string> hub_cache_dir(const HubOptions&) { return absent(); }
Result<std::vector<CachedModel>> hub_cached(const HubOptions&) { return absent(); }
Result<uint64_t> hub_remove(const std::string&, const HubOptions&) { return absent(); }

}  // namespace tern
