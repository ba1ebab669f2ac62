#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <array>
#include <deque>

#include "backend/cpu/linear/base3.h"
#include "backend/cpu/linear/block_linear.h"
#include "backend/cpu/linear/interleave.h"
#include "backend/cpu/ops/attention_parts.h"
#include "backend/cpu/ops/best_logits.h"
#include "backend/cpu/ops/cpu_target.h"
#include "backend/cpu/ops/ops.h"
#include "backend/cpu/phases.h"
#include "backend/cpu/scratch.h"
#include "backend/host_binder.h"
#include "backend/repack.h"
#include "base/check.h"
#include "base/files/system_info.h"
#include "base/text/format_text.h"
#include "plan/expand.h"

namespace tern::cpu {
namespace {

#define TERN_RUN_OP(Op, function) \
  void run_op(const ops::Op& op, WorkQueue& queue) { function(op, queue); }
TERN_OPS(TERN_RUN_OP)
#undef TERN_RUN_OP

// The buffers that a step uses. The KV cache counts as one more buffer, after the plan's own.
struct Touched {
  std::vector<int> read, written;
};

Touched touched_buffers(const Plan& plan, const StepBody& body) {
  Touched touched;
  for (const SlotUse& use : slot_uses(body)) {
    if (use.reads) touched.read.push_back(plan.slot(use.slot).buffer);
    if (use.writes) touched.written.push_back(plan.slot(use.slot).buffer);
  }
  const int kv_cache = static_cast<int>(plan.buffers.size());
  if (std::holds_alternative<step::KvAppend>(body)) touched.written.push_back(kv_cache);
  if (std::holds_alternative<step::Attention>(body)) touched.read.push_back(kv_cache);
  return touched;
}

// The steps before which workers must wait for each other: a step that uses a buffer written since the last wait, or
// writes a buffer read since then. (The query, key and value projections need no wait between them.)
std::vector<bool> find_barriers(const Plan& plan) {
  std::vector<bool> barrier_before;
  std::vector<int> read, written;
  const auto meet = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::ranges::any_of(a, [&](int x) { return std::ranges::find(b, x) != b.end(); });
  };
  for (const Step& step : plan.steps) {
    const Touched touched = touched_buffers(plan, step.body);
    const bool wait = meet(touched.read, written) || meet(touched.written, written) || meet(touched.written, read);
    if (wait) read.clear(), written.clear();
    barrier_before.push_back(wait);
    read.insert(read.end(), touched.read.begin(), touched.read.end());
    written.insert(written.end(), touched.written.begin(), touched.written.end());
  }
  return barrier_before;
}

// The matrices that are not used in the file's order.
struct RepackedWeights {
  MaterializedTensors brought, rest;
  Base3Weights base3;
  std::deque<Repacked> ternary, for_blocks;
  InterleavedWeights interleaved;
  int64_t bytes_beyond_plan = 0;  // of all fields above
};

class CpuExecutable final : public Executable {
 public:
  // If `head` has no matrix, all logits are always computed.
  CpuExecutable(ExpandedPlan expanded, RepackedWeights weights, HeadCopy head, const CompileOptions& options,
                ThreadPool& pool)
      : plan_(std::move(expanded.plan)),
        completes_(std::move(expanded.completes)),
        weights_(std::move(weights)),
        options_(options),
        pool_(pool),
        barrier_before_(find_barriers(plan_)),
        claims_(plan_.steps.size()),
        phases_(1 + static_cast<size_t>(std::ranges::count(barrier_before_, true))) {
    for (int layer = 0; layer < plan_.config.n_layers; ++layer) {
      most_heads_ = std::max(most_heads_, plan_.config.layer(layer).n_heads);
    }
    if (head.w) {
      head_.best_logits.emplace(std::move(head), pool.size(), most_best());
      head_.n_best.reserve(static_cast<size_t>(options_.max_logit_rows));
    }
  }

  Result<void> allocate() {
    TRY(binder_, HostBinder::create(plan_, options_.max_batch, options_.max_logit_rows));
    scratch_.assign(static_cast<size_t>(pool_.size()), Scratch(scratch_floats()));
    return {};
  }

  std::string description() const override {
    return format_text("cpu ({}, {} thread{})", cpu_target().name, pool_.size(), pool_.size() == 1 ? "" : "s");
  }
  int max_batch() const override { return options_.max_batch; }
  int max_logit_rows() const override { return options_.max_logit_rows; }

  std::optional<std::string> own_head() const override {
    if (!head_.best_logits) return {};
    return format_text("exact (int8 + {})", format_info(head_.best_logits->copy().w->format).name);
  }

  int64_t bytes_beyond_plan() const override {
    if (!head_.best_logits) return weights_.bytes_beyond_plan;
    const HeadCopy& copy = head_.best_logits->copy();
    return weights_.bytes_beyond_plan + static_cast<int64_t>(copy.bytes_per_token() - copy.w->data.size());
  }

  int max_slices() const override { return options_.max_batch; }

  int kv_block_tokens(int) const override { return kKvBlock; }
  Result<std::unique_ptr<KvStore>> new_kv_store(int, KvType type) const override {
    return std::make_unique<HostKvStore>(plan_.config, type);
  }

  using Executable::run;
  Result<std::span<const float>> run(KvStore& store, Batch batch) override {
    binder_->begin(static_cast<const HostKvStore&>(store), batch);
    TRY_STATUS(reserve_attention_parts(batch));
    head_.only_best = head_.best_logits && !observer_ && head_.best_logits->begin(n_best_of(batch));
    for (Claim& claim : claims_) claim.next.store(0, std::memory_order_relaxed);
    head_.rescore_claim.next.store(0, std::memory_order_relaxed);
    phases_.reset();
    pool_.run_elastic([this](int worker) { work(worker); });
    return binder_->logits();
  }

  std::span<const float> hidden() const override { return binder_->hidden(); }

  void observe(StepObserver observer) override { observer_ = std::move(observer); }

 private:
  int most_best() const { return std::min(options_.max_logit_rows, kMostBestTokens); }

  // n_best of each row of logits.
  std::span<const int> n_best_of(Batch batch) {
    std::vector<int>& n_best = head_.n_best;
    n_best.clear();
    for (const Slice& slice : batch)
      n_best.insert(n_best.end(), static_cast<size_t>(slice.n_logit_rows()), slice.n_best);
    return n_best;
  }

  // Floats of scratch memory that a worker needs for any step.
  size_t scratch_floats() const {
    size_t floats = attention_scratch(plan_.config.head_dim);
    for (const Slot& slot : plan_.slots) {
      const bool counts = slot.rows == RowsOf::kBatch || slot.type == SlotType::kInt8;
      if (counts) floats = std::max(floats, static_cast<size_t>(slot.width));
    }
    if (plan_.config.has_recurrent_layers()) floats = std::max(floats, delta_scratch(plan_.config.delta.head_dim));
    for (const Step& step : plan_.steps) {
      floats = std::max({floats, block_scratch_of(step.body), ternary_scratch_of(step.body)});
    }
    if (!head_.best_logits) return floats;
    return std::max(floats, BestLogits::scratch(head_.best_logits->copy().w->cols, most_best()));
  }

  // Floats of scratch memory that a linear layer on int8 blocks, or one of experts, needs; 0 for any other step.
  size_t block_scratch_of(const StepBody& body) const {
    const auto scratch = [&](SlotId id) {
      const Slot& in = plan_.slot(id);
      if (in.type != SlotType::kInt8Blocks) return size_t{0};
      return block_scratch(in.width, in.rows == RowsOf::kBatch ? options_.max_batch : options_.max_logit_rows);
    };
    if (const auto* linear = std::get_if<step::FloatLinear>(&body)) return scratch(linear->in);
    if (const auto* add = std::get_if<step::FloatLinearAdd>(&body)) return scratch(add->in);
    const auto of_experts = [&](SlotId in, const Tensor& w, const ExpertConfig& experts) {
      return expert_scratch(w.cols, options_.max_batch, experts, plan_.slot(in).type == SlotType::kInt8Blocks);
    };
    if (const auto* linear = std::get_if<step::ExpertLinear>(&body)) {
      return of_experts(linear->in, *linear->w, linear->experts);
    }
    if (const auto* glu = std::get_if<step::ExpertGlu>(&body)) return of_experts(glu->in, *glu->w_gate, glu->experts);
    if (const auto* glu = std::get_if<step::FloatGlu>(&body)) {
      return scratch(glu->in) * (glu->w_gate->format == glu->w_up->format ? 1 : 2);
    }
    return 0;
  }

  // The same for ternary layers.
  static size_t ternary_scratch_of(const StepBody& body) {
    if (const auto* linear = std::get_if<step::TernaryLinear>(&body)) return ternary_scratch(linear->w->cols);
    if (const auto* add = std::get_if<step::TernaryLinearAdd>(&body)) return ternary_scratch(add->w->cols);
    if (const auto* glu = std::get_if<step::TernaryGlu>(&body)) return ternary_scratch(glu->w_gate->cols);
    return 0;
  }

  // Runs one worker's part of the plan. Returns when there is nothing left to claim.
  void work(int worker) {
    Phases::Walk walk(phases_);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (barrier_before_[i]) walk.next_phase();
      WorkQueue queue(claims_[i].next, pool_.size(), scratch_[static_cast<size_t>(worker)]);
      binder_->with_bound(plan_.steps[i].body, [&]<class Op>(const Op& op) {
        if constexpr (std::is_same_v<Op, ops::FloatLinear>) {
          if (head_.only_best && op.w == head_.best_logits->copy().w) return run_best_logits(op, queue, worker, walk);
        }
        if constexpr (std::is_same_v<Op, ops::Attention>) {
          attention(op, attention_parts_, queue);
        } else {
          run_op(op, queue);
        }
        walk.add(queue);
      });
      if (observer_ && completes_[i]) {
        walk.finish_phase();
        if (worker == 0) binder_->report(*completes_[i], observer_);
        walk.add_unit(worker == 0);
        walk.finish_phase();
      }
    }
  }

  // Runs the LM head through BestLogits and adds its units to the walk.
  void run_best_logits(const ops::FloatLinear& op, WorkQueue& queue, int worker, Phases::Walk& walk) {
    BestLogits& best_logits = *head_.best_logits;
    if (!best_logits.estimate(op, worker, queue)) {
      run_op(op, queue);
      return walk.add(queue);
    }
    walk.add(queue);
    walk.finish_phase();
    if (worker == 0) best_logits.choose();
    walk.add_unit(worker == 0);
    walk.finish_phase();
    WorkQueue rest(head_.rescore_claim.next, pool_.size(), scratch_[static_cast<size_t>(worker)]);
    best_logits.rescore(op, worker, rest);
    walk.add(rest);
  }

  // Makes room for rows of one token each, whose histories are shared among workers. The memory grows with the number
  // of sequences and their maximum lengths, which prompts already have, so never in the decode loop.
  Result<void> reserve_attention_parts(Batch batch) {
    return attention_parts_.reserve(static_cast<int>(batch.size()), most_heads_, plan_.config.head_dim,
                                    std::ranges::max(batch, {}, &Slice::n_ctx).n_ctx);
  }

  struct alignas(64) Claim {
    std::atomic<int> next = 0;
  };

  // The LM head. It may compute only the best logits.
  struct Head {
    std::optional<BestLogits> best_logits;  // nullopt: all logits are always computed
    std::vector<int> n_best;
    bool only_best = false;  // true if this run computes only the best logits
    Claim rescore_claim;
  };

  const Plan plan_;
  const std::vector<const Step*> completes_;  // see ExpandedPlan
  const RepackedWeights weights_;
  const CompileOptions options_;
  ThreadPool& pool_;
  const std::vector<bool> barrier_before_;
  std::vector<Claim> claims_;
  Phases phases_;
  Head head_;
  int most_heads_ = 0;  // of any layer
  AttentionParts attention_parts_;
  std::unique_ptr<HostBinder> binder_;
  std::vector<Scratch> scratch_;
  StepObserver observer_;
};

// The most bytes that a copy may take. It must leave memory for the file's pages that are still read and for the KV
// cache; without a copy everything works, only slower.
uint64_t most_bytes_to_copy() {
  const uint64_t available = read_memory_info().available_bytes;
  return available == 0 ? UINT64_MAX : available / 4 * 3;
}

// The bytes that a token reads of the matrices for which kernels have layouts of their own.
int64_t matrix_bytes(Plan& plan) {
  uint64_t bytes = 0;
  CHECK(for_ternary_matrices(plan, [&](const Tensor*& w) -> Result<void> {
    bytes += w->data.size();
    return {};
  }));
  const int n_used = plan.config.experts.n_used;
  for_block_matrices(plan, [&](const Tensor*& w) { bytes += w->bytes_per_token(n_used); });
  return static_cast<int64_t>(bytes);
}

}  // namespace

Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options, ThreadPool& pool) {
  ExpandedPlan expanded = expand(plan);
  RepackedWeights weights;
  const int64_t given_bytes = matrix_bytes(expanded.plan);
  // What is interleaved anyway need not be in memory in the file's order, too.
  const bool reads_alone = has_weights_in_files(expanded.plan);
  if (reads_alone) {
    const auto interleaved = only_interleaved(expanded.plan);
    TRY(weights.brought, bring_weights(expanded.plan, [&](const Tensor* w) { return interleaved.contains(w); }));
  }
  TRY(weights.base3, rearrange_base3(expanded.plan, pool));
  TRY(weights.ternary, repack_ternary(expanded.plan));
  weights.for_blocks = repack_block_inputs(expanded.plan);
  weights.interleaved = interleave_block_inputs(expanded.plan, most_bytes_to_copy(), pool, reads_alone);
  if (reads_alone) {
    TRY(weights.rest, bring_weights(expanded.plan, [](const Tensor*) { return false; }));
  } else {
    TRY(weights.rest, make_resident(expanded.plan, pool));
  }
  weights.bytes_beyond_plan = matrix_bytes(expanded.plan) - given_bytes;
  TRY(auto head, copy_head_of(expanded.plan, options.exact_head, most_bytes_to_copy(), pool));
  auto executable =
      std::make_unique<CpuExecutable>(std::move(expanded), std::move(weights), std::move(head), options, pool);
  TRY_STATUS(executable->allocate());
  return executable;
}

}  // namespace tern::cpu
