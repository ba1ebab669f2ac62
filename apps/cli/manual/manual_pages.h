// Manual pages in man(7), the macros that every man program supports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/manual/manual_description.h"

namespace tern::cli {

// The footer of every page.
struct ManualEdition {
  std::string version;  // "0.2.0"
  std::string date;     // "2026-11-22"
};

// Returns file names and texts: tern.1, tern-run.1 and so on.
std::vector<std::pair<std::string, std::string>> manual_pages(const ProgramDescription& program,
                                                              const ManualEdition& edition);

}  // namespace tern::cli
