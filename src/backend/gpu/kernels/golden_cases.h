// Every kernel in the configurations whose text is kept in golden/.
#pragma once

#include <string>
#include <vector>

#include "backend/gpu/wgsl/module.h"

namespace tern::gpu {

struct GoldenCase {
  std::string file;  // "NAME.MODEL.CAPS.wgsl"; without CAPS where the text does not depend on them
  wgsl::Module module;
};

std::vector<GoldenCase> golden_cases();

}  // namespace tern::gpu
