// Whether this device computes a token's layers as one dispatch (record/one_dispatch.h), with how many workgroups, and
// what that takes.
#pragma once

#include <string>

#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/one_dispatch.h"

namespace tern::gpu {

struct OneDispatchTrial {
  uint32_t workgroups = 0;  // with which it is fastest; 0: it cannot be used
  std::string why_not = {};
  double seconds = 0, seconds_in_steps = 0;  // of a token's layers; 0 where the device does not tell
};

// Runs tokens in both ways. `program` is of a store with one block, which it overwrites. Errors are those of the
// device; wrong results and workgroups that wait in vain are no errors.
Result<OneDispatchTrial> try_one_dispatch(Device& device, const Plan& plan, const Program& program,
                                          const WorkBuffers& work, const OneDispatch& one);

}  // namespace tern::gpu
