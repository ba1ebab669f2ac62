// The reference backend: runs a plan step by step on one thread. Slow, but correct.
#pragma once

#include "backend/backend.h"

namespace tern::ref {

// `plan` must outlive the executable.
Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options);
Result<std::unique_ptr<Executable>> compile(const Plan&& plan, const CompileOptions& options) = delete;

}  // namespace tern::ref
