// What `tern --version` prints.
#pragma once

#include <string>

namespace tern::cli {

// The version alone is the first line, "tern 0.2.0", so that scripts can read it.
std::string version_text();

// The commit that was built, "6c46113"; "unknown" where the sources are no checkout.
const char* built_commit();

}  // namespace tern::cli
