// Kernels from files that may be edited.
#pragma once

#include <memory>
#include <string>

#include "backend/gpu/record/kernel_library.h"

namespace tern::gpu {

// Every kernel is written there as NAME-HASH.wgsl when first used (HASH is of Tern's own text); if that file exists,
// the kernel is loaded from it instead. pipeline(): kIo if the folder cannot be written or a file cannot be read;
// kCorruption, with path and line, if an edited file does not compile.
std::unique_ptr<KernelFolder> edited_kernels(const std::string& folder);

}  // namespace tern::gpu
