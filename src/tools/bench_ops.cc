// Where the time of a token goes.
#include "backend/kv_cache.h"
#include "base/result.h"
#include "engine/engine_impl.h"
#include "tern/tools.h"

namespace tern {

Result<OpBenchResult> bench_ops(const Engine& engine, const OpBenchOptions& options) {
  if (options.pos < 0 || options.repeats < 1) {
    return fail(ErrorCode::kInvalidArgument, "bench ops: position {} and {} runs; give 0 or more, and at least one run",
                options.pos, options.repeats);
  }
  const int64_t n_ctx = int64_t{options.pos} + options.repeats + 2;
  if (n_ctx > engine.info().n_ctx) {
    return fail(ErrorCode::kInvalidArgument,
                "bench ops: {} tokens before and {} measured, but the context of {} holds {}; give fewer", options.pos,
                options.repeats + 2, engine.info().name, engine.info().n_ctx);
  }
  Executable& executable = *engine.impl().executable;
  TRY(const auto cache, executable.new_cache(static_cast<int>(n_ctx), options.kv_type));
  TRY(const TokenTimes times, executable.time_ops(*cache, options.pos, options.repeats));
  OpBenchResult result;
  result.token_us = times.seconds * 1e6;
  for (const OpTime& op : times.ops) {
    result.ops.push_back({.name = op.name,
                          .kernel = op.kernel,
                          .dispatches = op.dispatches,
                          .us = op.seconds * 1e6,
                          .us_alone = op.alone_seconds * 1e6,
                          .bytes = op.bytes,
                          .gb_per_s = op.seconds > 0 ? static_cast<double>(op.bytes) / op.seconds / 1e9 : 0});
    result.dispatches += op.dispatches;
    result.bytes += op.bytes;
    result.sum_us += op.seconds * 1e6;
  }
  for (OpBench& op : result.ops) op.share = result.sum_us > 0 ? op.us / result.sum_us : 0;
  return result;
}

}  // namespace tern
