// The layer path with megakernels: decides whether there are any, tests them on the device, and chooses among them.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/record/layer_path.h"
#include "backend/gpu/record/megakernel/megakernel.h"
#include "backend/gpu/record/megakernel/trial.h"

namespace tern::gpu {

// Decides before the upload whether the layers can be one dispatch; if not, returns a path of steps. Errors: the
// device's.
Result<std::unique_ptr<LayerPath>> plan_layer_path(const LayerPathContext& context);

// The megakernels for several sequences, one token each: the range of row counts that each covers.
struct MegakernelRows {
  int fewest, most;
};
inline constexpr std::array<MegakernelRows, 3> kMegakernelRows = {{{2, 2}, {3, 4}, {5, 8}}};

class MegakernelPath final : public LayerPath {
 public:
  MegakernelPath(const LayerPathContext& context, MegakernelLayers layers)
      : c_(context), layers_(std::move(layers)), first_step_(layers_.first_step), end_step_(layers_.end_step) {}

  void begin_compiling() override;
  Result<void> prepare(WorkBuffers& work) override;
  Result<void> try_out(const PreparedStore& store) override;
  Result<bool> expect(int n_sequences) override;

  int trial_blocks() const override { return blocks_of_trial(1); }
  int trial_positions() const override;
  bool wants_trial() const override { return one_ && !is_stepwise_; }
  bool is_used() const override { return one_ && one_->is_used() && !is_stepwise_; }
  bool covers(int step, const GpuKvStore& store) const override;
  int first_step() const override { return first_step_; }
  int end_step() const override { return end_step_; }
  Result<void> record(const BufferView& angles, const GpuKvStore& store, Program& program) const override;
  int rope() const override { return one_->rope(); }
  uint32_t workgroups(int n_rows) const override;
  Result<void> ready(const RunShape& shape) override;
  BufferView outcome(int run_rows, size_t n_words) const override { return find(run_rows)->outcome(n_words); }
  BufferView token_slot(int run_rows, size_t n_words) const override { return find(run_rows)->token_slot(n_words); }
  bool has_failed(Bytes outcome) const override { return Megakernel::has_failed(outcome); }
  void disable(int n_rows) override;

 private:
  // The megakernel for n_rows rows, each of another sequence; null: none.
  Megakernel* find(int n_rows) const;
  // Chooses the number of workgroups of `one`. Returns why it is not used; empty if it is used.
  Result<std::string> try_out(Megakernel& one, const PreparedStore& store);
  // Compiles these megakernels together and tests them; afterwards rows_ has those that are useful.
  Result<void> add_rows(std::vector<std::unique_ptr<Megakernel>> made);
  // Compiles what their fewest and most rows need, on both paths.
  Result<void> compile_for_rows(const Program& program, std::span<Megakernel* const> added) const;
  void refuse_rows(const std::string& why, int fewest, int most);

  LayerPathContext c_;
  MegakernelLayers layers_;  // until prepare()
  int first_step_, end_step_;
  WorkBuffers* work_ = nullptr;
  std::unique_ptr<Megakernel> one_;                // null: the layers are always computed in steps
  std::vector<std::unique_ptr<Megakernel>> rows_;  // for tokens of several sequences
  size_t n_tried_ = 0;                             // entries of kMegakernelRows
};

}  // namespace tern::gpu
