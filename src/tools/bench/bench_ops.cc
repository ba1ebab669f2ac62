// Times the operations of one token.
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/engine_impl.h"
#include "tern/tools.h"

namespace tern {
namespace {

// Runs one token of each sequence; every sequence has its own KV blocks.
Result<TokenTimes> time_ops(Executable& executable, const OpBenchOptions& options, int n_ctx) {
  TRY_STATUS(executable.expect(options.n_parallel));
  const int of_block = executable.kv_block_tokens(n_ctx), each = (n_ctx + of_block - 1) / of_block;
  TRY(const auto store, executable.new_kv_store(of_block, options.kv_type));
  std::vector<KvBlockId> blocks(static_cast<size_t>(each * options.n_parallel));
  std::iota(blocks.begin(), blocks.end(), 0);
  TRY_STATUS(store->reserve(static_cast<int>(blocks.size())));
  for (const KvBlockId block : blocks) TRY_STATUS(store->allocate(block));
  const TokenId token = 0;
  std::vector<Slice> slices;
  for (size_t first = 0; first < blocks.size(); first += static_cast<size_t>(each)) {
    slices.push_back({.tokens = {&token, 1},
                      .first_pos = options.pos,
                      .blocks = std::span(blocks).subspan(first, static_cast<size_t>(each)),
                      .n_ctx = n_ctx});
  }
  return executable.time_ops(*store, slices, options.repeats);
}

}  // namespace

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
  Executable& executable = *EngineAccess::impl(engine).executable;
  const int most = std::min({executable.max_slices(), executable.max_logit_rows(), executable.max_batch()});
  if (options.n_parallel < 1 || options.n_parallel > most) {
    return fail(ErrorCode::kInvalidArgument, "bench ops: {} sequences at a time; give 1 to {}", options.n_parallel,
                most);
  }
  TRY(const TokenTimes times, time_ops(executable, options, static_cast<int>(n_ctx)));
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
