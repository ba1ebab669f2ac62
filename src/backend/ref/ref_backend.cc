#include "backend/ref/ref_backend.h"

#include "backend/host_binder.h"
#include "backend/ref/ops.h"
#include "backend/repack.h"
#include "base/check.h"
#include "plan/expand.h"

namespace tern::ref {
namespace {

// One overload per kind of op argument, so that overload resolution finds a bound step's op.
#define TERN_RUN_OP(Op, function) \
  void run_op(const ops::Op& op) { function(op); }
TERN_OPS(TERN_RUN_OP)
TERN_RUN_OP(Attention, attention)
#undef TERN_RUN_OP

class RefExecutable final : public Executable {
 public:
  RefExecutable(ExpandedPlan expanded, MaterializedTensors made, const CompileOptions& options,
                std::unique_ptr<HostBinder> binder)
      : expanded_(std::move(expanded)), made_(std::move(made)), options_(options), binder_(std::move(binder)) {}

  std::string description() const override { return "ref (plain loops, 1 thread)"; }
  int max_batch() const override { return options_.max_batch; }
  int max_logit_rows() const override { return options_.max_logit_rows; }

  int max_slices() const override { return options_.max_batch; }

  int kv_block_tokens(int) const override { return kKvBlock; }
  Result<std::unique_ptr<KvStore>> new_kv_store(int, KvType type) const override {
    return std::make_unique<HostKvStore>(expanded_.plan.config, type);
  }

  using Executable::run;
  Result<std::span<const float>> run(KvStore& store, Batch batch) override {
    binder_->begin(static_cast<const HostKvStore&>(store), batch);
    for (size_t i = 0; i < expanded_.plan.steps.size(); ++i) {
      binder_->with_bound(expanded_.plan.steps[i].body, [](const auto& op) { run_op(op); });
      if (observer_ && expanded_.completes[i]) binder_->report(*expanded_.completes[i], observer_);
    }
    return binder_->logits();
  }

  std::span<const float> hidden() const override { return binder_->hidden(); }

  void observe(StepObserver observer) override { observer_ = std::move(observer); }

 private:
  const ExpandedPlan expanded_;
  const MaterializedTensors made_;
  CompileOptions options_;
  std::unique_ptr<HostBinder> binder_;
  StepObserver observer_;
};

}  // namespace

Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options) {
  ExpandedPlan expanded = expand(plan);
  ThreadPool alone(1);
  TRY(auto made, make_resident(expanded.plan, alone));
  TRY(auto binder, HostBinder::create(plan, options.max_batch, options.max_logit_rows));
  return std::make_unique<RefExecutable>(std::move(expanded), std::move(made), options, std::move(binder));
}

}  // namespace tern::ref
