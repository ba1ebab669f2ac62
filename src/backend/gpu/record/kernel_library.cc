#include "backend/gpu/record/kernel_library.h"

namespace tern::gpu {

Result<const Pipeline*> KernelLibrary::pipeline(const wgsl::Module& module) {
  return dir_.empty() ? device_.pipeline(module) : from_dir(module);
}

}  // namespace tern::gpu
