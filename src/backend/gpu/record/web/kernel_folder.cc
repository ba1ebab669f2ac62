// A web page has no folder of kernels to edit.
#include "backend/gpu/record/kernel_library.h"

namespace tern::gpu {

Result<const Pipeline*> KernelLibrary::from_dir(const wgsl::Module& /*module*/) {
  return fail(ErrorCode::kNotSupported, "{}: in a browser kernels cannot be taken from a folder", dir_);
}

}  // namespace tern::gpu
