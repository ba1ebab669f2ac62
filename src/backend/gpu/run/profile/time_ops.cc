// Where a token's time goes: every dispatch within a whole token, and every kind of dispatch alone.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <vector>

#include "backend/gpu/memory/kv_order.h"
#include "backend/gpu/memory/weights/upload.h"
#include "backend/gpu/run/executable.h"
#include "backend/kv_layout.h"
#include "base/check.h"
#include "base/median.h"
#include "plan/step_weights.h"

namespace tern::gpu {
namespace {

constexpr int kAloneDispatches = 64;  // at least; with fewer bytes, a layer's weights would come from the cache
constexpr int kAloneRepeats = 5;

// "blk.3.ffn_down" becomes "ffn_down".
std::string without_layer(const std::string& step) {
  if (!step.starts_with("blk.")) return step;
  const size_t dot = step.find('.', 4);
  return dot == std::string::npos ? step : step.substr(dot + 1);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A token's dispatches, sorted into kinds.
class Kinds {
 public:
  void add(const std::string& name, const Command& command, uint64_t bytes) {
    const std::string& kernel = command.pipeline->module().name;
    const auto [at, is_new] = index_.try_emplace({name, kernel}, ops.size());
    if (is_new) {
      ops.push_back({.name = name, .kernel = kernel});
      commands_of.emplace_back();
    }
    ++ops[at->second].dispatches;
    ops[at->second].bytes += bytes;
    commands_of[at->second].push_back(command);
    kind_of.push_back(at->second);
    commands.push_back(command);
  }

  std::vector<OpTime> ops;
  std::vector<std::vector<Command>> commands_of;  // per kind
  std::vector<Command> commands;
  std::vector<size_t> kind_of;  // per command

 private:
  std::map<std::pair<std::string, std::string>, size_t> index_;
};

// Runs the commands once and twice in one submit; the difference excludes the cost of a submit. Takes the fastest of
// several runs, since other load only adds time. If the load added more to every short run than the work takes, the
// cost of the submit stays included.
Result<double> seconds_alone(Device& device, const std::vector<Command>& commands) {
  std::vector<Command> once;
  while (once.size() < kAloneDispatches) once.insert(once.end(), commands.begin(), commands.end());
  std::vector<Command> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  const auto run = [&](const std::vector<Command>& list) -> Result<double> {
    const auto start = std::chrono::steady_clock::now();
    TRY_STATUS(device.submit(list));
    TRY_STATUS(device.wait());
    return seconds_since(start);
  };
  double fastest_once = std::numeric_limits<double>::infinity(), fastest_twice = fastest_once;
  for (int i = 0; i < kAloneRepeats; ++i) {
    TRY(const double short_run, run(once));
    TRY(const double long_run, run(twice));
    fastest_once = std::min(fastest_once, short_run);
    fastest_twice = std::min(fastest_twice, long_run);
  }
  const double difference = fastest_twice - fastest_once;
  const double per_once = difference > 0 ? difference : fastest_twice / 2;
  return per_once / static_cast<double>(once.size()) * static_cast<double>(commands.size());
}

// Seconds per token of decoding, as a user sees it.
Result<double> seconds_per_step(GpuExecutable& executable, KvStore& store, Batch tokens, int n_tokens) {
  const std::vector<DeviceSampling> greedy(tokens.size());
  TRY(const auto stream, executable.decode(store, tokens, n_tokens + 1, greedy));
  TRY_STATUS(stream->next());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n_tokens; ++i) TRY_STATUS(stream->next());
  return seconds_since(start) / n_tokens;
}

// Seconds of a run with prompts.
Result<double> seconds_per_run(GpuExecutable& executable, KvStore& store, Batch batch, int repeats) {
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    TRY_STATUS(executable.run(store, batch));
    if (i > 0) seconds.push_back(seconds_since(start));  // the first warms up
  }
  return median(seconds);
}

// The heads that attention makes later; null if the step has none.
const step::FloatHeads* heads_made_later(const StepBody& body) {
  if (const auto* s = std::get_if<step::Attention>(&body)) return s->heads ? &*s->heads : nullptr;
  const auto* s = std::get_if<step::FloatQkv>(&body);
  return s && s->leaves_heads ? &s->heads : nullptr;
}

}  // namespace

// Bytes that n_rows rows move, each with a history of `pos`. Weights count once; activations count once per row and
// step that reads or writes them.
uint64_t GpuExecutable::bytes_moved(const Step& step, KvType type, int pos, int n_rows) const {
  uint64_t bytes = 0, of_row = 0;
  for_each_weight(step.body, [&](const Tensor* w, WeightRole role) {
    if (role == WeightRole::kTable) {
      of_row += weight_row_bytes(*w, role);
    } else {
      bytes += weight_bytes(*w, role);
    }
  });
  const step::FloatHeads* made_later = heads_made_later(step.body);
  for (const SlotUse& use : slot_uses(step.body)) {
    // For one token, only the rows of the projections pass through memory.
    if (made_later && (use.slot == made_later->q || use.slot == made_later->k || use.slot == made_later->v)) continue;
    if (!use.scratch) of_row += work_->row_bytes(use.slot) * ((use.reads ? 1 : 0) + (use.writes ? 1 : 0));
  }
  const auto kv_row = [&](int layer) { return device_block_bytes(plan_.config, layer, type) / kKvBlock; };
  if (const auto* s = std::get_if<step::Attention>(&step.body)) {
    of_row += kv_row(s->layer) * static_cast<uint64_t>(pos + 1);
  }
  if (const auto* s = std::get_if<step::KvAppend>(&step.body)) of_row += kv_row(s->layer);
  if (const auto* s = std::get_if<step::TernaryQkv>(&step.body)) of_row += kv_row(s->layer);
  if (const auto* s = std::get_if<step::FloatQkv>(&step.body); s && !made_later) of_row += kv_row(s->heads.layer);
  return bytes + of_row * static_cast<uint64_t>(n_rows);
}

Result<TokenTimes> GpuExecutable::time_ops(KvStore& kv_store, Batch batch, int repeats) {
  auto& store = static_cast<PreparedStore&>(kv_store);
  CHECK(repeats >= 1 && !batch.empty());
  const bool has_prompts = std::ranges::any_of(batch, [](const Slice& slice) { return slice.tokens.size() > 1; });
  std::vector<Slice> tokens(batch.begin(), batch.end());
  for (Slice& slice : tokens) slice.n_best = has_prompts ? 0 : 1;  // as in the runs below
  const int pos = std::ranges::max(tokens, {}, &Slice::first_pos).first_pos;
  int n_rows = 0, n_pos = pos + repeats + 2;
  for (const Slice& slice : tokens) {
    n_rows += static_cast<int>(slice.tokens.size());
    n_pos = std::max(n_pos, slice.first_pos + static_cast<int>(slice.tokens.size()));
  }
  TRY_STATUS(check_before(store, tokens));
  TRY(const bool moves_states, pair_states(store, tokens));
  TRY_STATUS(prepare(store, n_pos));
  TRY(RunShape shape, put(store, tokens, 0, moves_states));
  shape = choose_layer_path(shape, store);
  shape.embeds_next = shape.is_embedded = n_rows == 1 && sampler_->can_embed();  // as in the middle of a stream
  TRY_STATUS(layer_path_->ready(shape));
  std::vector<Command> model, choice;
  store.program().commands(shape, model);
  sampler_->greedy().commands(shape, choice);
  Kinds kinds;
  const std::vector<int> steps = store.program().steps(shape);
  CHECK(steps.size() == model.size());
  for (size_t i = 0; i < model.size(); ++i) {
    const Step& step = plan_.steps[static_cast<size_t>(steps[i])];
    // The bytes of a step with several dispatches count for the first one.
    const bool is_first = i == 0 || steps[i - 1] != steps[i];
    if (shape.megakernel_workgroups > 0 && steps[i] == layer_path_->first_step()) {
      uint64_t bytes = 0;
      for (int s = layer_path_->first_step(); s < layer_path_->end_step(); ++s) {
        bytes += bytes_moved(plan_.steps[static_cast<size_t>(s)], store.type(), pos, n_rows);
      }
      kinds.add("layers", model[i], bytes);
      continue;
    }
    uint64_t bytes = is_first ? bytes_moved(step, store.type(), pos, n_rows) : 0;
    const auto* head = std::get_if<step::FloatLinear>(&step.body);
    if (head && head->out == plan_.logits && shape.n_best > 0) {  // little is read besides the copy
      bytes = model[i].pipeline->module().name == "estimate_logits" ? head_copy_->bytes_per_token() : 0;
    }
    kinds.add(without_layer(step.name), model[i], bytes);
  }
  const auto bytes_of_choice = [&]() -> uint64_t {
    const uint64_t of_table = shape.embeds_next ? bytes_moved(plan_.steps.front(), store.type(), pos, n_rows) : 0;
    if (shape.embeds_next && shape.n_best > 0) return 8 * sampler_->parts_of_best()->n + of_table;
    return tokens.size() * work_->row_bytes(plan_.logits) + of_table;
  };
  for (size_t i = 0; i < choice.size(); ++i) kinds.add("next token", choice[i], i == 0 ? bytes_of_choice() : 0);

  std::vector<std::vector<double>> samples(kinds.ops.size());
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first warms up
    TRY_STATUS(put(store, tokens, 0, moves_states));
    TRY(const auto seconds, device_->time(kinds.commands));
    if (repeat < 0) continue;
    for (auto& sample : samples) sample.push_back(0);
    for (size_t i = 0; i < seconds.size(); ++i) samples[kinds.kind_of[i]].back() += seconds[i];
  }
  TokenTimes times;
  for (size_t kind = 0; kind < kinds.ops.size(); ++kind) {
    OpTime& op = kinds.ops[kind];
    op.seconds = median(samples[kind]);
    TRY_STATUS(put(store, tokens, 0, moves_states));
    TRY(op.alone_seconds, seconds_alone(*device_, kinds.commands_of[kind]));
  }
  times.ops = std::move(kinds.ops);
  TRY(times.seconds,
      has_prompts ? seconds_per_run(*this, store, tokens, repeats) : seconds_per_step(*this, store, tokens, repeats));
  return times;
}

}  // namespace tern::gpu
