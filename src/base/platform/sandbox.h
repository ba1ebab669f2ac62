// Takes rights from the process that it will not need, so that a fault in it gives them to no one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/platform/disk_file.h"

namespace tern::platform {

struct SandboxRules {
  // Files and folders with all below; those that do not exist are passed over.
  std::vector<std::string> reads = {};
  std::vector<std::string> writes = {};   // also reads, creates and removes
  std::vector<std::string> devices = {};  // also read and written, with their own calls
  bool may_listen = false;
  uint16_t port = 0;  // of listening; 0: any
  bool may_connect = false;
};

// The parts that are in force, or why one is not, for a person: "files, sockets (Landlock, ABI 7), system calls
// (seccomp)".
struct Sandbox {
  std::string in_force, missing;
};

// Holds for this process from now on, and for its children. Call it before other threads start. Fails with
// std::errc::not_supported on systems that have nothing of this kind.
SystemResult<Sandbox> enter_sandbox(const SandboxRules& rules);

}  // namespace tern::platform
