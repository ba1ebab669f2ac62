// How people name a model on a hub, and which names from a hub may become paths here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tern::hub {

struct ModelName {
  std::string repo;               // "microsoft/bitnet-b1.58-2B-4T-gguf"
  std::string revision = "main";  // a branch, a tag or a commit
  std::string file = {};          // as given: a path in the repository or a part of a name; empty: none
};

// Reads OWNER/NAME[@REVISION][:FILE] and addresses of pages (https://huggingface.co/OWNER/NAME/blob/main/FILE).
// kInvalidArgument for anything else, with what is expected.
Result<ModelName> parse_model_name(std::string_view text);

// Whether `path` from a listing may be created below a folder: relative, of plain components (none empty, "." or "..",
// none longer than 255 bytes), without backslashes and what visible() would change.
bool is_safe_path(std::string_view path);

// Exactly `digits` lower-case hexadecimal digits.
bool is_hex(std::string_view text, size_t digits);

// A git commit, which needs no reference to be found.
inline bool is_commit(std::string_view text) { return is_hex(text, 40); }

// For a path of a URL: everything but letters, digits and "-._~" as %XX, and '/' too unless `keep_slashes`.
std::string url_escape(std::string_view text, bool keep_slashes);

}  // namespace tern::hub
