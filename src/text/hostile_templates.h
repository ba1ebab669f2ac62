// Chat templates that mean harm, for tests: each asks for time, memory or stack without end, or for what a template has
// no business with.
#pragma once

#include <string>
#include <vector>

namespace tern {

struct HostileTemplate {
  std::string name;
  std::string source;
};

std::vector<HostileTemplate> hostile_templates();

}  // namespace tern
