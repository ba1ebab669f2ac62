// Kernels on their way to the device: traced, or as edited in a folder of WGSL files.
#pragma once

#include <map>
#include <string>

#include "backend/gpu/device.h"

namespace tern::gpu {

class KernelLibrary {
 public:
  // With `wgsl_dir`, every kernel is written there as NAME-HASH.wgsl when it is first used (HASH is of the text that
  // Tern wrote), and is loaded from that file when the file exists.
  KernelLibrary(Device& device, std::string wgsl_dir) : device_(device), dir_(std::move(wgsl_dir)) {}

  // kIo where the folder cannot be written or a file not be read; kCorruption for an edited file that does not compile,
  // with its path and line. Only a device that validates (DeviceOptions) finds bindings or an entry point that do not
  // fit; on another they may end the program.
  Result<const Pipeline*> pipeline(const wgsl::Module& module);

 private:
  Result<const Pipeline*> from_dir(const wgsl::Module& module);

  Device& device_;
  std::string dir_;
  std::map<std::string, const Pipeline*> loaded_;  // by file name
};

}  // namespace tern::gpu
