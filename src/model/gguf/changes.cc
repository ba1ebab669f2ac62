#include "model/gguf/changes.h"

#include <set>

#include "base/text/quoted.h"
#include "file/gguf/gguf_override.h"

namespace tern {

Result<void> apply_changes(const MetadataChanges& changes, GgufFile& file) {
  std::set<std::string> named;
  const auto name_once = [&](const std::string& key) -> Result<void> {
    if (named.insert(key).second) return {};
    return fail(ErrorCode::kInvalidArgument, "{}: {} is overridden or ignored twice; name it once", file.path(),
                tern::quoted(key));
  };
  for (const std::string& key : changes.ignored_keys) {
    TRY_STATUS(name_once(key));
    if (file.find(key)) continue;
    return fail(ErrorCode::kInvalidArgument, "{}: there is no metadata key {} to ignore; 'tern inspect' lists the keys",
                file.path(), tern::quoted(key));
  }
  for (const std::string& text : changes.overrides) {
    TRY(GgufOverride value, parse_gguf_override(text));
    TRY_STATUS(name_once(value.key));
    if (value.key == "general.alignment" || value.key.starts_with("split.")) {
      return fail(ErrorCode::kInvalidArgument, "{}: the override of {} comes too late: it says where the tensors lie",
                  file.path(), tern::quoted(value.key));
    }
    file.override_value(std::move(value));
  }
  return {};
}

Result<void> refuse_changes(const MetadataChanges& changes, const std::string& path) {
  if (changes.is_empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "{}: metadata can be overridden or ignored only in a GGUF file; edit the directory's JSON files instead",
              path);
}

}  // namespace tern
