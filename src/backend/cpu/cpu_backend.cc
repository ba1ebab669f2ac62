#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <array>
#include <deque>

#include "backend/cpu/base3.h"
#include "backend/cpu/best_logits.h"
#include "backend/cpu/block_linear.h"
#include "backend/cpu/cpu_target.h"
#include "backend/cpu/interleave.h"
#include "backend/cpu/ops.h"
#include "backend/cpu/phases.h"
#include "backend/cpu/scratch.h"
#include "backend/host_binder.h"
#include "backend/repack.h"
#include "base/check.h"
#include "base/format_text.h"
#include "base/system_info.h"
#include "plan/expand.h"

namespace tern::cpu {
namespace {

void run_op(const ops::Embed& op, Share& share) { embed(op, share); }
void run_op(const ops::Copy& op, Share& share) { copy(op, share); }
void run_op(const ops::RmsNorm& op, Share& share) { rms_norm(op, share); }
void run_op(const ops::Quantize& op, Share& share) { quantize(op, share); }
void run_op(const ops::RmsNormQuantize& op, Share& share) { rms_norm_quantize(op, share); }
void run_op(const ops::TernaryLinear& op, Share& share) { ternary_linear(op, share); }
void run_op(const ops::TernaryGlu& op, Share& share) { ternary_glu(op, share); }
void run_op(const ops::QuantizeBlocks& op, Share& share) { quantize_blocks(op, share); }
void run_op(const ops::FloatLinear& op, Share& share) { float_linear(op, share); }
void run_op(const ops::FloatGlu& op, Share& share) { float_glu(op, share); }
void run_op(const ops::Rope& op, Share& share) { rope(op, share); }
void run_op(const ops::KvAppend& op, Share& share) { kv_append(op, share); }
void run_op(const ops::Attention& op, Share& share) { attention(op, share); }
void run_op(const ops::GluMul& op, Share& share) { glu_mul(op, share); }
void run_op(const ops::Add& op, Share& share) { add(op, share); }
void run_op(const ops::AddBias& op, Share& share) { add_bias(op, share); }
void run_op(const ops::Softcap& op, Share& share) { softcap(op, share); }

// The buffers a step touches. The KV cache counts as one more buffer, after the plan's own.
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

// Where workers must wait for each other: before a step that touches what another step since the last wait has written,
// or writes what one has read. (The query, key and value projections need no wait between them.)
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

// The matrices that are not read as they lie in the file.
struct OwnWeights {
  Base3Weights base3;
  std::deque<Repacked> ternary, for_blocks;
  InterleavedWeights interleaved;
  MadeResident resident;
  int64_t bytes_beyond_plan = 0;  // of all of these
};

class CpuExecutable final : public Executable {
 public:
  // `head` without a matrix: all logits are always computed.
  CpuExecutable(ExpandedPlan expanded, OwnWeights weights, HeadCopy head, const CompileOptions& options,
                ThreadPool& pool)
      : plan_(std::move(expanded.plan)),
        completes_(std::move(expanded.completes)),
        weights_(std::move(weights)),
        options_(options),
        pool_(pool),
        barrier_before_(find_barriers(plan_)),
        claims_(plan_.steps.size()),
        phases_(1 + static_cast<size_t>(std::ranges::count(barrier_before_, true))) {
    for (const Slot& slot : plan_.slots) {
      if (slot.rows == RowsOf::kBatch || slot.type == SlotType::kInt8) widest_ = std::max(widest_, slot.width);
    }
    for (const Step& step : plan_.steps) {
      scratch_floats_ = std::max({scratch_floats_, block_scratch_of(step.body), ternary_scratch_of(step.body)});
    }
    scratch_floats_ = std::max(scratch_floats_, static_cast<size_t>(widest_));
    if (head.w) {
      scratch_floats_ = std::max(scratch_floats_, BestLogits::scratch(head.w->cols));
      best_logits_.emplace(std::move(head), pool.size());
    }
  }

  Result<void> allocate() {
    TRY(binder_, HostBinder::create(plan_, options_.max_batch, options_.max_logit_rows));
    scratch_.assign(static_cast<size_t>(pool_.size()), Scratch(scratch_floats_));
    return {};
  }

  std::string description() const override {
    return format_text("cpu ({}, {} thread{})", cpu_target().name, pool_.size(), pool_.size() == 1 ? "" : "s");
  }
  int max_batch() const override { return options_.max_batch; }
  int max_logit_rows() const override { return options_.max_logit_rows; }

  std::optional<std::string> own_head() const override {
    if (!best_logits_) return {};
    return format_text("exact (int8 + {})", format_info(best_logits_->copy().w->format).name);
  }

  int64_t bytes_beyond_plan() const override {
    if (!best_logits_) return weights_.bytes_beyond_plan;
    const HeadCopy& copy = best_logits_->copy();
    return weights_.bytes_beyond_plan + static_cast<int64_t>(copy.bytes_per_token() - copy.w->data.size());
  }

  Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType type) const override {
    return HostKvCache::create(plan_.config, n_ctx, type);
  }

  Result<std::span<const float>> run(KvCache& cache, const Batch& batch) override {
    CHECK(!batch.tokens.empty() && static_cast<int>(batch.tokens.size()) <= max_batch());
    CHECK(batch.first_pos >= 0 && batch.first_pos + static_cast<int>(batch.tokens.size()) <= cache.n_ctx());
    binder_->begin(static_cast<const HostKvCache&>(cache), batch);
    CHECK(binder_->n_logit_rows() <= max_logit_rows());
    reserve_scratch(cache.n_ctx());
    const bool is_for_some = batch.logits == WantLogits::kLast && !observer_;
    only_best_ = is_for_some && best_logits_ && best_logits_->begin(batch.n_best);
    for (Claim& claim : claims_) claim.next.store(0, std::memory_order_relaxed);
    rescore_claim_.next.store(0, std::memory_order_relaxed);
    phases_.reset();
    pool_.run_with_comers([this](int worker) { work(worker); });
    return binder_->logits();
  }

  void observe(StepObserver observer) override { observer_ = std::move(observer); }

 private:
  // Floats of scratch memory for a linear layer on int8 blocks; 0 for any other step.
  size_t block_scratch_of(const StepBody& body) const {
    const auto scratch = [&](SlotId id) {
      const Slot& in = plan_.slot(id);
      if (in.type != SlotType::kInt8Blocks) return size_t{0};
      return block_scratch(in.width, in.rows == RowsOf::kBatch ? options_.max_batch : options_.max_logit_rows);
    };
    if (const auto* linear = std::get_if<step::FloatLinear>(&body)) return scratch(linear->in);
    if (const auto* add = std::get_if<step::FloatLinearAdd>(&body)) return scratch(add->in);
    if (const auto* glu = std::get_if<step::FloatGlu>(&body)) {
      return scratch(glu->in) * (glu->w_gate->format == glu->w_up->format ? 1 : 2);
    }
    return 0;
  }

  // The same for a ternary layer.
  static size_t ternary_scratch_of(const StepBody& body) {
    if (const auto* linear = std::get_if<step::TernaryLinear>(&body)) return ternary_scratch(linear->w->cols);
    if (const auto* add = std::get_if<step::TernaryLinearAdd>(&body)) return ternary_scratch(add->w->cols);
    if (const auto* glu = std::get_if<step::TernaryGlu>(&body)) return ternary_scratch(glu->w_gate->cols);
    return 0;
  }

  // One worker's way through the plan. Returns when there is nothing left to claim.
  void work(int worker) {
    Phases::Walk walk(phases_);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (barrier_before_[i]) walk.next_phase();
      Share share(claims_[i].next, pool_.size(), scratch_[static_cast<size_t>(worker)]);
      binder_->with_bound(plan_.steps[i].body, [&]<class Op>(const Op& op) {
        if constexpr (std::is_same_v<Op, ops::FloatLinear>) {
          if (only_best_ && op.w == best_logits_->copy().w) return run_best_logits(op, share, worker, walk);
        }
        run_op(op, share);
        walk.add(share);
      });
      if (observer_ && completes_[i]) {
        walk.settle();
        if (worker == 0) binder_->report(*completes_[i], observer_);
        walk.add_unit(worker == 0);
        walk.settle();
      }
    }
  }

  // Adds to the walk what it does.
  void run_best_logits(const ops::FloatLinear& op, Share& share, int worker, Phases::Walk& walk) {
    if (!best_logits_->estimate(op, worker, share)) {
      run_op(op, share);
      return walk.add(share);
    }
    walk.add(share);
    walk.settle();
    if (worker == 0) best_logits_->choose();
    walk.add_unit(worker == 0);
    walk.settle();
    Share rest(rescore_claim_.next, pool_.size(), scratch_[static_cast<size_t>(worker)]);
    best_logits_->rescore(op, worker, rest);
    walk.add(rest);
  }

  // Attention keeps a score per position and token of a tile. Grows once per context size, never in the token loop.
  void reserve_scratch(int n_ctx) {
    const size_t size = std::max(static_cast<size_t>(n_ctx) * kAttentionTokens, scratch_floats_);
    for (auto& scratch : scratch_) {
      if (scratch.size() < size) scratch.resize(size);
    }
  }

  struct alignas(64) Claim {
    std::atomic<int> next = 0;
  };

  const Plan plan_;
  const std::vector<const Step*> completes_;  // see ExpandedPlan
  const OwnWeights weights_;
  const CompileOptions options_;
  ThreadPool& pool_;
  const std::vector<bool> barrier_before_;
  std::vector<Claim> claims_;
  Phases phases_;
  Claim rescore_claim_;
  std::optional<BestLogits> best_logits_;
  bool only_best_ = false;  // of this run's logits
  int widest_ = 0;
  size_t scratch_floats_ = 0;
  std::unique_ptr<HostBinder> binder_;
  std::vector<Scratch> scratch_;
  StepObserver observer_;
};

// A copy must leave the file's pages in memory that are still read, and room for the context; without one everything
// works, only slower.
uint64_t most_bytes_to_copy() {
  const uint64_t available = read_memory_info().available_bytes;
  return available == 0 ? UINT64_MAX : available / 4 * 3;
}

// Of the matrices that kernels have orders of their own for.
int64_t matrix_bytes(Plan& plan) {
  uint64_t bytes = 0;
  CHECK(for_ternary_matrices(plan, [&](const Tensor*& w) -> Result<void> {
    bytes += w->data.size();
    return {};
  }));
  for_block_matrices(plan, [&](const Tensor*& w) { bytes += w->data.size(); });
  return static_cast<int64_t>(bytes);
}

}  // namespace

Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options, ThreadPool& pool) {
  ExpandedPlan expanded = expand(plan);
  OwnWeights weights;
  const int64_t given_bytes = matrix_bytes(expanded.plan);
  TRY(weights.base3, rearrange_base3(expanded.plan, pool));
  TRY(weights.ternary, repack_ternary(expanded.plan));
  weights.for_blocks = repack_block_inputs(expanded.plan);
  weights.interleaved = interleave_block_inputs(expanded.plan, most_bytes_to_copy(), pool);
  TRY(weights.resident, make_resident(expanded.plan, pool));
  weights.bytes_beyond_plan = matrix_bytes(expanded.plan) - given_bytes;
  TRY(auto head, copy_head_of(expanded.plan, options.exact_head, most_bytes_to_copy(), pool));
  auto executable =
      std::make_unique<CpuExecutable>(std::move(expanded), std::move(weights), std::move(head), options, pool);
  TRY_STATUS(executable->allocate());
  return executable;
}

}  // namespace tern::cpu
