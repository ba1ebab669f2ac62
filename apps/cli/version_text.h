// What `tern --version` prints.
#pragma once

#include <string>

namespace tern::cli {

// The first line is the version alone, "tern 0.2.0", so that scripts can read it.
std::string version_text();

// The commit of this build, "6c46113"; "unknown" if the sources are not a git checkout.
const char* built_commit();

}  // namespace tern::cli
