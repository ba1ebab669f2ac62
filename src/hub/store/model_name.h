// Parses names of models on a hub, and checks which names from a hub may become local paths.
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

// Parses OWNER/NAME[@REVISION][:FILE] and addresses of pages (https://huggingface.co/OWNER/NAME/blob/main/FILE).
// kInvalidArgument for anything else; the message says what is expected.
Result<ModelName> parse_model_name(std::string_view text);

// True if `path` from a listing may be created below a folder: it is relative, its components are plain (none empty,
// "." or "..", none longer than 255 bytes), and it has no backslashes and nothing that visible() would change.
bool is_safe_path(std::string_view path);

// True for exactly `digits` lower-case hexadecimal digits.
bool is_hex(std::string_view text, size_t digits);

// True for a git commit, which can be found without a reference.
inline bool is_commit(std::string_view text) { return is_hex(text, 40); }

// Escapes the path of a URL: everything but letters, digits and "-._~" as %XX, and '/' too unless `keep_slashes`.
std::string url_escape(std::string_view text, bool keep_slashes);

}  // namespace tern::hub
