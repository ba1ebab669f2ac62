// Malicious chat templates for tests: each demands endless time, memory or stack, or something that templates must not
// access.
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
