// The executable of the WebGPU backend. executable.cc loads and runs batches; token_stream.cc decodes on the device,
// and choice.cc chooses tokens there after a batch; checks.cc tests the model on it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <deque>
#include <map>
#include <set>

#include "backend/backend.h"
#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/memory/batch/batch_words.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layer_path.h"
#include "backend/gpu/record/prepared_store.h"
#include "backend/gpu/record/steps/recorder.h"
#include "backend/gpu/run/stream_host.h"
#include "backend/gpu/run/token_stats.h"
#include "backend/kv_layout.h"
#include "backend/repack.h"

namespace tern::gpu {

class GpuExecutable final : public Executable, private StreamHost {
 public:
  static Result<std::unique_ptr<GpuExecutable>> create(std::unique_ptr<Device> device, const Plan& plan,
                                                       const CompileOptions& options);

  Result<std::unique_ptr<Executable>> compile_beside(const Plan& plan, const CompileOptions& options) override;

  std::string description() const override;
  int max_batch() const override { return options_.max_batch; }
  int max_logit_rows() const override { return options_.max_logit_rows; }
  int max_slices() const override { return std::min(64, options_.max_batch); }
  // A stream runs ahead of the tokens that are taken, so the host cannot look up their rows.
  bool decodes() const override { return !table_on_host(); }
  int kv_block_tokens(int) const override { return kKvBlock; }
  Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const override;
  Result<void> expect(int n_sequences) override;
  using Executable::decode;
  using Executable::run;
  Result<std::span<const float>> run(KvStore& store, Batch batch) override;
  std::span<const float> hidden() const override;
  Result<std::unique_ptr<TokenStream>> decode(KvStore& store, Batch starts, int n_tokens,
                                              std::span<const DeviceSampling> sampling) override;
  // Not for batches of single tokens, which streams are for.
  Result<std::optional<ChosenTokens>> run_and_choose(KvStore& store, Batch batch,
                                                     std::span<const DeviceSampling> sampling) override;
  std::optional<GpuStats> gpu_stats() const override;
  std::optional<GpuAdapter> gpu_adapter() const override;
  Result<std::vector<GpuKernel>> gpu_kernels() override;
  std::optional<std::string> own_head() const override;
  int64_t bytes_beyond_plan() const override;
  Result<TokenTimes> time_ops(KvStore& store, Batch tokens, int repeats) override;
  void observe(StepObserver observer) override { observer_ = std::move(observer); }

  // Tests whether products with this model's weights are right (check_products.h): kNotSupported if not. This compiles
  // the kernels for f16 keys and values, which are the most likely to be used, but not attention on matrices, which
  // takes longest.
  Result<void> check();
  // Tests attention on subgroup matrices; if it is wrong, attention does not use them. Called before the first run with
  // that many tokens of a sequence.
  Result<void> check_long_prompts();
  // Adds findings about features that failed their tests and so are not used; gpu_adapter() reports them.
  void note_failed_tests(std::vector<std::string> findings);

  // How layers are computed: in steps, or all of a token's in one dispatch.
  LayerPath& layer_path() { return *layer_path_; }
  const LayerPath& layer_path() const { return *layer_path_; }

  // For tools that compare layouts.
  Device& device() { return *device_; }
  const Device& device() const { return *device_; }
  const Plan& plan() const { return plan_; }
  const GpuOptions& options() const { return options_.gpu; }
  Layouts layouts() const;
  void set_layouts(const Layouts& layouts);  // for programs recorded from now on

 private:
  // Results of the checks, and what waits for one.
  struct CheckResults {
    std::map<uint32_t, bool> best_rows;  // of the head copy, by number of rows rounded up to a power of two
    int on_matrices_from = INT_MAX;  // attention_on_matrices_from, until it is checked; INT_MAX: no check is pending
    std::set<std::pair<uint32_t, uint32_t>> wrong_attention;  // layouts whose results on matrices were wrong
    std::vector<std::string> failed_tests;
    uint64_t version = 0;  // counts changes that make recorded programs outdated
  };

  // `weights`: those of another executable on the device; null: none are there.
  GpuExecutable(std::shared_ptr<Device> device, std::shared_ptr<WeightStore> weights, const Plan& plan,
                const CompileOptions& options);

  Result<void> load();
  Result<std::unique_ptr<PreparedStore>> checked_store();
  // Runs the checks that this batch is the first to need.
  Result<void> check_before(const PreparedStore& store, Batch batch);
  // The same for the n_best best logits of each of n_rows rows; rows that were not checked do not use the head copy.
  Result<void> check_best_rows(int n_rows, int n_best);
  Result<void> check_best_rows(const PreparedStore& store, uint32_t columns);
  void leave_head_copy(const Error& why);
  static uint32_t best_columns(int n_rows) { return std::bit_ceil(static_cast<uint32_t>(std::max(n_rows, 1))); }
  bool finds_best(int n_rows) const {
    const auto found = checks_.best_rows.find(best_columns(n_rows));
    return head_copy_ && found != checks_.best_rows.end() && found->second;
  }
  Result<std::optional<DeviceSamplerContext::Embedding>> embedding_of_next();
  void defer_attention_on_matrices();
  std::optional<MatrixAttentionConfig> attention_on_matrices(const Step& step) const;
  std::pair<uint32_t, uint32_t> attention_layout() const {
    return {layouts_.matrix_attention_subgroups, layouts_.matrix_attention_chunk};
  }
  void begin_slow_kernels();
  // Chooses how a run computes the layers and the head.
  RunShape choose_layer_path(RunShape shape, const PreparedStore& store) const;
  Result<void> check_heads(KvType type) const;
  LayerPathContext layer_path_context();
  RecorderContext context() const;

  Result<RunShape> give_control(const GpuTokenStream& stream, const PreparedStore& store, Batch rows,
                                int n_more) override;
  bool has_control(const GpuTokenStream& stream) const override;
  void end_control() override { run_.in_control = nullptr; }
  Result<QueuedStep> queue_step(PreparedStore& store, const Slice& first, const Program& sampler, const BufferView& ids,
                                RunShape& shape) override;
  Result<void> queue_layers(PreparedStore& store, RunShape& shape) override;
  Result<QueuedStep> queue_choice(PreparedStore& store, const Slice& first, const Program& sampler,
                                  const BufferView& ids, const RunShape& shape) override;
  Result<void> add_layers(PreparedStore& store, RunShape& shape);  // to run_.commands
  bool has_failed(Bytes outcome) const override { return layer_path_->has_failed(outcome); }
  void disable_megakernel(int n_rows) override { layer_path_->disable(n_rows); }
  DeviceSampler& sampler() override { return *sampler_; }
  TokenStats& stats() override { return stats_; }
  int n_vocab() const override { return plan_.config.n_vocab; }
  const std::string& device_name() const override { return device_->adapter().name; }

  uint64_t bytes_moved(const Step& step, KvType type, int pos, int n_rows) const;
  std::unique_ptr<PreparedStore> make_store(KvType type, bool together) const;
  // A store with room for one block, or for the layer path's trial, and its program recorded.
  Result<std::unique_ptr<PreparedStore>> new_spare_store(bool for_trial = false) const;
  // Makes the store's program ready for positions below n_pos: records or binds it again if the buffers have changed.
  Result<void> prepare(PreparedStore& store, int n_pos) const;
  // Gives the states of a batch of single tokens other places to go to. False if there are no states, longer slices, or
  // no memory: then new states replace those before.
  Result<bool> pair_states(PreparedStore& store, Batch batch) const;
  static void move_states(PreparedStore& store, Batch batch);  // after the run
  // Writes the batch to the work buffers, with tables for n_more positions after each slice. Returns its shape.
  // `moves_states`: the new states go to their other places (pair_states()).
  Result<RunShape> put(const PreparedStore& store, Batch batch, int n_more = 0, bool moves_states = false) const;
  // What the host writes before a run: hidden rows, which are the plan's first step, and rows of a table that stays on
  // the host, its first other step. Null: none.
  const step::Hidden* hidden_rows() const { return std::get_if<step::Hidden>(&plan_.steps.front().body); }
  const step::Embed* table_on_host() const {
    const auto* first = std::get_if<step::Embed>(&plan_.steps[hidden_rows() ? 1 : 0].body);
    return first && first->on_host ? first : nullptr;
  }
  struct LogitRows {  // consecutive ones
    int first, n;
  };
  // Copies these rows to run_.logits.
  Result<void> read_logits(std::span<const LogitRows> rows);
  // Makes all ready for a run of the batch.
  Result<RunShape> put_batch(PreparedStore& store, Batch batch);
  Result<void> put_hidden(const step::Hidden& s, Batch batch) const;
  Result<void> put_rows(const step::Embed& table) const;
  // Sets up a token like the last one, at the position after it but in the store's spare block, and returns its
  // commands. Empty if there was none or its blocks are gone.
  Result<std::vector<Command>> last_token_again() const;
  // Keeps what last_token_again() must know about the token in run_.commands.
  void remember(const PreparedStore& store, const Slice& token, const Program* sampler, const RunShape& shape);
  // Seconds of the last token's dispatches in one submit; 0 if they cannot be run again or timed.
  double time_last_token() const;
  Result<void> run_observed(const PreparedStore& store, const RunShape& shape);
  Result<void> report(const Step& step, const RunShape& shape);

  // Destroyed in reverse: the device last.
  std::shared_ptr<Device> device_;
  std::deque<Repacked> repacked_;  // weights of plan_
  Plan plan_;
  CompileOptions options_;
  mutable KernelLibrary kernels_;
  std::shared_ptr<WeightStore> shared_weights_;
  WeightStore& weights_;
  std::unique_ptr<WorkBuffers> work_;
  std::unique_ptr<DeviceSampler> sampler_;
  Program turn_states_;                  // of streams, after each step; empty without recurrent layers
  std::unique_ptr<HeadCopy> head_copy_;  // null: all logits are always computed
  Layouts layouts_;                      // of programs recorded now
  CheckResults checks_;
  std::unique_ptr<LayerPath> layer_path_;
  StepObserver observer_;
  // The last run. Its vectors are kept, so that the token loop allocates nothing.
  struct Run {
    std::vector<float> logits, hidden;
    std::vector<TokenId> chosen;
    int n_tokens = 0;
    std::vector<Command> commands;
    BatchWords words;
    const GpuTokenStream* in_control = nullptr;  // the stream whose next token the device is about to run
  };
  mutable Run run_;
  TokenStats stats_;
};

}  // namespace tern::gpu
