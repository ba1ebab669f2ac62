// Gives a plan's slots addresses in host memory, and turns steps into op arguments (ops.h). Shared by the backends that
// run on the host.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "backend/backend.h"
#include "backend/host_kv_store.h"
#include "backend/host_memory.h"
#include "backend/ops.h"
#include "backend/rope_table.h"
#include "base/check.h"
#include "plan/plan.h"

namespace tern {

class HostBinder {
 public:
  // Allocates the plan's buffers. The plan must outlive the binder.
  static Result<std::unique_ptr<HostBinder>> create(const Plan& plan, int max_batch, int max_logit_rows);

  // Sets the store and the batch for the following bind() calls.
  void begin(const HostKvStore& store, Batch batch);

  int n_tokens() const { return static_cast<int>(tokens_.size()); }
  int n_logit_rows() const { return static_cast<int>(logit_rows_.size()); }
  std::span<const float> logits() const;  // [n_logit_rows(), n_vocab]
  std::span<const float> hidden() const;  // see Executable

  // The arguments of a step's op.
#define TERN_BIND_STEP(Type, name, Op) ops::Op bind(const step::Type& s) const;
  TERN_HOST_STEPS(TERN_BIND_STEP)
#undef TERN_BIND_STEP

  // Calls `run` with the arguments of the step's op.
  template <class Run>
  void with_bound(const StepBody& body, Run&& run) const {
    std::visit(
        [&]<class S>(const S& s) {
          if constexpr (requires { bind(s); }) {
            run(bind(s));
          } else {
            CHECK(false);  // host backends run the expanded plan (plan/expand.h)
          }
        },
        body);
  }

  // Calls the observer with every slot that `step` wrote.
  void report(const Step& step, const StepObserver& observer) const;

 private:
  HostBinder(const Plan& plan, int max_batch, int max_logit_rows);
  void add(const Slice& slice);

  float* floats(SlotId id) const;
  ops::MutableQuantizedRows int8(SlotId id) const;
  ops::QuantizedRows int8_input(SlotId id) const;
  ops::MutableBlockRows blocks(SlotId id) const;
  ops::FloatRows float_input(SlotId id) const;
  ops::Chosen chosen(SlotId id) const;
  int rows(SlotId id) const { return plan_.slot(id).rows == RowsOf::kBatch ? n_tokens() : n_logit_rows(); }
  size_t elements(SlotId id) const;

  // An int8 buffer also holds the scales and sums of rows or blocks.
  struct Memory {
    HostMemory values, scales, sums;
  };

  const Plan& plan_;
  std::vector<Memory> buffers_;
  std::vector<RopeTable> ropes_;  // of Config::ropes
  const HostKvStore* store_ = nullptr;
  // The rows of the batch, and where each belongs.
  std::vector<TokenId> tokens_;
  std::vector<std::byte*> blocks_;  // of all slices, concatenated
  std::vector<ops::KvRow> kv_rows_;
  std::vector<ops::RowTile> tiles_;
  std::vector<int> logit_rows_;
  std::vector<float> hidden_;               // of all slices, concatenated
  std::vector<int> hidden_rows_;            // 0, 1, …
  std::vector<ops::StateRows> state_rows_;  // one for each slice, if the model has recurrent layers
  int max_batch_, max_logit_rows_;
};

}  // namespace tern
