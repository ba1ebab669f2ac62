// Checks that a backend computes the same as the reference, and that cached decoding computes the same as reading the
// whole text again.
#include <algorithm>

#include "backend/kv_cache.h"
#include "base/text/format_text.h"
#include "engine/engine_impl.h"
#include "engine/load/backends.h"
#include "tern/tools.h"
#include "tools/difference.h"
#include "tools/validate/step_comparison.h"
#include "tools/validate/token_comparison.h"
#include "tools/validate/verdict.h"

namespace tern {
namespace {

constexpr size_t kBuiltInTokens = 24;
constexpr size_t kTokenPrompt = 5;  // tokens of the input before those that the device chooses
constexpr size_t kLeastReferenceTokens = 8;
constexpr double kReferenceBudget = 2e10;  // parameters times tokens; about a minute of plain loops
constexpr int kChunk = 8;                  // tokens compared per batch; limits the recorded activations

constexpr std::string_view kBuiltInText =
    "Once upon a time there was a little girl who lived in a small house near a big forest. One day she went out to "
    "look "
    "for her gray cat, and she found a red bird that could talk.";

struct Input {
  std::vector<TokenId> tokens;
  size_t n_reference;  // the number of them that the reference runs
};

Input built_in_input(const Engine& engine) {
  Input input;
  if (engine.has_tokenizer()) input.tokens = engine.tokenizer().encode(kBuiltInText);
  const int n_vocab = engine.info().n_vocab;
  for (size_t i = input.tokens.size(); i < kBuiltInTokens; ++i) {
    input.tokens.push_back(static_cast<TokenId>((i * 7919 + 13) % static_cast<size_t>(n_vocab)));
  }
  input.tokens.resize(std::min<size_t>(kBuiltInTokens, static_cast<size_t>(engine.info().n_ctx)));
  const auto affordable =
      static_cast<size_t>(kReferenceBudget / static_cast<double>(std::max<uint64_t>(engine.info().n_params, 1)));
  input.n_reference = std::min(std::max(affordable, kLeastReferenceTokens), input.tokens.size());
  return input;
}

Result<Input> choose_input(const Engine& engine, const ValidateOptions& options) {
  if (options.n_decode < 0)
    return fail(ErrorCode::kInvalidArgument, "validate: {} cached steps; give 0 or more", options.n_decode);
  if (options.n_tokens < 0)
    return fail(ErrorCode::kInvalidArgument, "validate: {} tokens to choose; give 0 or more", options.n_tokens);
  if (options.tokens.empty()) return built_in_input(engine);
  const ModelInfo& info = engine.info();
  for (const TokenId token : options.tokens) {
    if (token >= 0 && token < info.n_vocab) continue;
    return fail(ErrorCode::kInvalidArgument, "validate: token id {} is outside the vocabulary, which has ids 0 to {}",
                token, info.n_vocab - 1);
  }
  if (options.tokens.size() > static_cast<size_t>(info.n_ctx)) {
    return fail(ErrorCode::kInvalidArgument, "validate: {} tokens, but the context holds {}; give fewer",
                options.tokens.size(), info.n_ctx);
  }
  return Input{.tokens = options.tokens, .n_reference = options.tokens.size()};
}

class Progression {
 public:
  Progression(const OnProgress& on_progress, std::string what, uint64_t total, std::string unit)
      : on_progress_(on_progress),
        progress_{.what = std::move(what), .done = 0, .total = total, .unit = std::move(unit)} {}
  void advance() {
    ++progress_.done;
    if (on_progress_) on_progress_(progress_);
  }

 private:
  const OnProgress& on_progress_;
  Progress progress_;
};

// Steps without a slot are not observed.
bool writes_a_slot(const Step& step) {
  return std::ranges::any_of(slot_uses(step.body), [](const SlotUse& use) { return use.is_output(); });
}

// An executable and its cache.
struct Runner {
  Executable& executable;
  std::unique_ptr<KvCache> cache;
  bool has_more_blocks = false;  // than the plans that it is compared with

  static Result<Runner> start(Executable& executable, size_t n_ctx, KvType type) {
    TRY(auto cache, executable.new_cache(static_cast<int>(n_ctx), type));
    return Runner{executable, std::move(cache)};
  }

  // Runs `tokens` at `first` in as few batches as possible; returns the logits after the last token.
  Result<std::span<const float>> run(std::span<const TokenId> tokens, size_t first) {
    const auto most = static_cast<size_t>(executable.max_batch());
    for (; tokens.size() > most; tokens = tokens.subspan(most), first += most) {
      TRY_STATUS(executable.run(
          *cache, {.tokens = tokens.first(most), .first_pos = static_cast<int>(first), .logits = WantLogits::kNone}));
    }
    return executable.run(*cache,
                          {.tokens = tokens, .first_pos = static_cast<int>(first), .logits = WantLogits::kLast});
  }
};

std::vector<LayerDifference> layer_differences(const StepDifferences& backend, const StepDifferences& rounding) {
  std::vector<LayerDifference> layers;
  for (size_t i = 0; i < backend.entries().size(); ++i) {
    const auto& [step, difference] = backend.entries()[i];
    layers.push_back({.step = step,
                      .max_abs = difference.max_abs(),
                      .nmse = difference.nmse(),
                      .rounding_nmse = rounding.entries()[i].difference.nmse()});
  }
  return layers;
}

// Where a GPU's kernels quantize what they read, the harmless change does so, too, in steps that the others do not
// have.
StepObserver without_blocks(StepObserver observer) {
  return [observer = std::move(observer)](const StepOutput& output) {
    if (!std::holds_alternative<step::QuantizeBlocks>(output.step->body)) observer(output);
  };
}

// Runs, batch by batch: the reference, the reference with a harmless change (verdict.h), and the backend twice. The
// engine's own executable runs the fused plan and is compared by its logits. Steps are compared on plans without
// fusion, where every intermediate result has a slot. These plans make int8 blocks where the engine's plan has a step
// that does: the blocks are a part of what such a layer computes.
class ReferenceComparison {
 public:
  ReferenceComparison(Runner ref, Runner rounded, Runner steps, Runner own, Progression progression)
      : ref_(std::move(ref)),
        rounded_(std::move(rounded)),
        steps_(std::move(steps)),
        own_(std::move(own)),
        progression_(std::move(progression)) {}
  ReferenceComparison(const ReferenceComparison&) = delete;  // members point to each other

  Result<void> run(const Slice& batch, size_t n_vocab) {
    record_.begin_batch();
    TRY(const auto ref_logits, observed(ref_, batch, counting(record_.observer())));
    const std::vector<float> expected(ref_logits.begin(), ref_logits.end());  // the next run overwrites them
    rounding_steps_.begin_batch();
    StepObserver rounded = counting(rounding_steps_.observer());
    if (rounded_.has_more_blocks) rounded = without_blocks(std::move(rounded));
    TRY(const auto rounded_logits, observed(rounded_, batch, std::move(rounded)));
    rounding_.add(expected, rounded_logits);
    backend_steps_.begin_batch();
    TRY_STATUS(observed(steps_, batch, backend_steps_.observer()));
    TRY(const auto found, own_.executable.run(*own_.cache, batch));
    logits_.add(expected, found);
    for (size_t at = 0; at < expected.size(); at += n_vocab) {
      margin_ = std::max(margin_, top1_margin(std::span(expected).subspan(at, n_vocab), found.subspan(at, n_vocab)));
    }
    return {};
  }

  void report(ValidateResult& result) const {
    result.layers = layer_differences(backend_steps_, rounding_steps_);
    result.rounding_nmse = rounding_.nmse();
    result.logits_nmse = logits_.nmse();
    result.logits_cosine = logits_.cosine();
    result.same_top1 = margin_ <= near_tie(std::min(logits_.nmse(), allowed_nmse(rounding_.nmse())));
  }

 private:
  static Result<std::span<const float>> observed(Runner& runner, const Slice& batch, StepObserver observer) {
    runner.executable.observe(std::move(observer));
    auto logits = runner.executable.run(*runner.cache, batch);
    runner.executable.observe({});
    return logits;
  }

  StepObserver counting(StepObserver observer) {
    return [this, observer = std::move(observer)](const StepOutput& output) {
      observer(output);
      progression_.advance();
    };
  }

  Runner ref_, rounded_, steps_, own_;
  Progression progression_;
  StepRecord record_;
  StepDifferences backend_steps_{record_}, rounding_steps_{record_};
  Difference logits_, rounding_;
  double margin_ = 0;
};

Result<void> compare_with_reference(const Engine& engine, const LoadOptions& load, std::span<const TokenId> tokens,
                                    const ValidateOptions& options, ValidateResult& result) {
  Engine::Impl& impl = EngineAccess::impl(engine);
  const Fusions own_fusions = load.fuse ? fusions_for(impl.backend) : Fusions::none();
  const auto plan_with = [&](bool int8_blocks) {
    return make_plan(impl.model.config, impl.model.weights, {.fuse = {.int8_blocks = int8_blocks}});
  };
  const Plan plan = plan_with(own_fusions.int8_blocks);
  const Plan rounded_plan = plan_with(own_fusions.int8_blocks || own_fusions.int8_on_read);
  const int chunk = std::min({kChunk, impl.executable->max_batch(), impl.executable->max_logit_rows()});
  const CompileOptions compile{.max_batch = chunk, .max_logit_rows = chunk, .gpu = load.gpu};
  TRY(const auto ref_executable, compile_on(BackendKind::kRef, plan, compile, *impl.pool));
  TRY(const auto rounded_executable, compile_on(BackendKind::kRef, rounded_plan, compile, *impl.pool));
  TRY(const auto step_executable, compile_on(impl.backend, plan, compile, *impl.pool));
  const KvType kv_type = options.kv_type, other_type = kv_type == KvType::kF16 ? KvType::kF32 : KvType::kF16;
  TRY(auto ref, Runner::start(*ref_executable, tokens.size(), kv_type));
  TRY(auto rounded, Runner::start(*rounded_executable, tokens.size(), other_type));
  rounded.has_more_blocks = own_fusions.int8_on_read;
  TRY(auto steps, Runner::start(*step_executable, tokens.size(), kv_type));
  TRY(auto own, Runner::start(*impl.executable, tokens.size(), kv_type));

  const auto width = static_cast<size_t>(chunk);
  const size_t n_outputs = static_cast<size_t>(std::ranges::count_if(plan.steps, writes_a_slot));
  const size_t n_batches = (tokens.size() + width - 1) / width;
  ReferenceComparison comparison(std::move(ref), std::move(rounded), std::move(steps), std::move(own),
                                 {options.on_progress, "running the reference", 2 * n_batches * n_outputs, "steps"});
  for (size_t first = 0; first < tokens.size(); first += width) {
    const Slice batch{.tokens = tokens.subspan(first, std::min(width, tokens.size() - first)),
                      .first_pos = static_cast<int>(first),
                      .logits = WantLogits::kAll};
    TRY_STATUS(comparison.run(batch, static_cast<size_t>(engine.info().n_vocab)));
  }
  comparison.report(result);
  return {};
}

// Compares each of the last n_decode tokens, run as one cached step, with a full pass from an empty cache.
Result<void> compare_cached(const Engine& engine, std::span<const TokenId> tokens, size_t n_decode,
                            const ValidateOptions& options, ValidateResult& result) {
  result.cached_cosine = 1;
  result.cached_same_top1 = true;
  if (n_decode == 0) return {};
  Executable& executable = *EngineAccess::impl(engine).executable;
  TRY(auto cached, Runner::start(executable, tokens.size(), options.kv_type));
  TRY(auto full, Runner::start(executable, tokens.size(), options.kv_type));
  const size_t n_before = tokens.size() - n_decode;
  Progression progression(options.on_progress, "comparing cached steps", n_decode, "steps");
  TRY_STATUS(cached.run(tokens.first(n_before), 0));
  for (size_t i = n_before; i < tokens.size(); ++i) {
    TRY(const auto full_row, full.run(tokens.first(i + 1), 0));
    const std::vector<float> expected(full_row.begin(), full_row.end());  // the next run overwrites them
    TRY(const auto found, cached.run(tokens.subspan(i, 1), i));
    Difference difference;
    difference.add(expected, found);
    if (!(difference.cosine() >= result.cached_cosine)) result.cached_cosine = difference.cosine();
    const double tie = near_tie(std::min(difference.nmse(), allowed_nmse(result.rounding_nmse)));
    result.cached_same_top1 &= top1_margin(expected, found) <= tie;
    progression.advance();
  }
  return {};
}

}  // namespace

Result<ValidateResult> validate(const LoadOptions& load, const ValidateOptions& options) {
  if (load.backend == BackendKind::kBoth) {
    return fail(ErrorCode::kNotSupported,
                "two devices are validated one after the other: use the cpu backend, then "
                "use the webgpu backend");
  }
  TRY(const Engine engine, Engine::load(load));
  TRY(const Input input, choose_input(engine, options));
  const std::span<const TokenId> tokens = input.tokens;
  const size_t n_decode = std::min(static_cast<size_t>(options.n_decode), tokens.size() - 1);
  ValidateResult result;
  TRY_STATUS(compare_with_reference(engine, load, tokens.first(input.n_reference), options, result));
  TRY_STATUS(compare_cached(engine, tokens, n_decode, options, result));
  if (EngineAccess::impl(engine).backend == BackendKind::kWebGpu) {
    const auto prompt = tokens.first(std::min(kTokenPrompt, tokens.size()));
    const int room = engine.info().n_ctx - static_cast<int>(prompt.size());
    const int n_tokens = std::min(options.n_tokens, room);
    if (n_tokens > 0) TRY_STATUS(compare_tokens(engine, prompt, n_tokens, options, result));
  }
  judge(result, {.backend = engine.info().backend,
                 .n_reference = input.n_reference,
                 .n_decode = n_decode,
                 .has_experts = EngineAccess::impl(engine).model.config.experts.n > 0});
  return result;
}

}  // namespace tern
