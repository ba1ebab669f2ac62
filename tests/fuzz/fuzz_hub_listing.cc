// Any bytes as a hub's answer: they give files whose names stay in their folder and a choice among them, or an error.
#include <cstdlib>

#include "hub/choose.h"
#include "hub/store/listing.h"
#include "hub/store/model_name.h"

namespace {

void expect_line(const tern::Error& error) {
  if (error.message.empty() || error.message.size() > 100'000) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto name = tern::hub::parse_model_name(text)) {
    if (!tern::hub::is_safe_path(name->repo) || name->repo.contains("..")) std::abort();
  }
  const auto listing = tern::hub::parse_listing(text, "fuzz");
  if (!listing) {
    expect_line(listing.error());
    return 0;
  }
  for (const tern::hub::RemoteFile& file : listing->files) {
    if (!tern::hub::is_safe_path(file.path)) std::abort();
    if (!file.etag.empty() && !tern::hub::is_hex(file.etag, 40) && !tern::hub::is_hex(file.etag, 64)) std::abort();
  }
  for (const char* wanted : {"", "q2_0", "model.gguf"}) {
    const auto choice = tern::hub::choose(*listing, wanted, "fuzz");
    if (!choice) expect_line(choice.error());
    if (choice && choice->files.empty()) std::abort();
  }
  return 0;
}
