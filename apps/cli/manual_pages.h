// Manual pages in man(7), the macros that every man program knows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/manual_description.h"

namespace tern::cli {

// What stands at the foot of every page.
struct ManualEdition {
  std::string version;  // "0.2.0"
  std::string date;     // "2026-11-22"
};

// File names and texts: tern.1, tern-run.1 and so on.
std::vector<std::pair<std::string, std::string>> manual_pages(const ProgramDescription& program,
                                                              const ManualEdition& edition);

}  // namespace tern::cli
