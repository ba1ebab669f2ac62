// Finds the fastest kernel layouts for a model on this GPU, and keeps them: native builds only.
#pragma once

#include <string>

#include "backend/backend.h"

namespace tern {
struct TuneOptions;
struct TuneResult;
}  // namespace tern

namespace tern::gpu {

// For an executable of this backend; see include/tern/tools.h. The tuned layouts apply to KV stores created afterwards.
Result<TuneResult> tune(Executable& executable, const TuneOptions& options);
void forget_tuning(Executable& executable);

// Where the tuning is kept, and under which key (record/tuned_layouts.h); no file: it is not kept.
struct KeptTuning {
  std::string file, key;
};
KeptTuning kept_tuning(const Executable& executable);

}  // namespace tern::gpu
