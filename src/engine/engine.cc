#include "tern/engine.h"

#include <algorithm>
#include <climits>

#include "backend/kv_layout.h"
#include "base/files/system_info.h"
#include "base/text/format_text.h"
#include "engine/engine_impl.h"
#include "engine/kv/fit_context.h"
#include "engine/kv/session_cache.h"
#include "engine/load/backends.h"
#include "engine/scheduler.h"
#include "sample/sampling.h"
#include "tern/chat_reply.h"
#include "text/chat/chat_format.h"
#include "text/chat/unfinished_message.h"
#include "text/chat/written_calls.h"

namespace tern {

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

const ModelInfo& Engine::info() const { return impl_->info; }

Sampling Engine::sampling(const SampleOptions& asked) const {
  return sampling_of(merged(asked, impl_->info.sampling.values));
}

std::string_view finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStopToken:
      return "stop_token";
    case FinishReason::kStopString:
      return "stop_string";
    case FinishReason::kMaxTokens:
      return "max_tokens";
    case FinishReason::kContextFull:
      return "context_full";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::optional<GpuStats> Engine::gpu_stats() const { return impl_->executable->gpu_stats(); }
std::vector<DeviceShare> Engine::device_shares() const { return impl_->executable->device_shares(); }
Result<std::vector<GpuKernel>> Engine::gpu_kernels() const { return impl_->executable->gpu_kernels(); }
bool Engine::has_tokenizer() const { return impl_->tokenizer != nullptr; }
const Tokenizer& Engine::tokenizer() const { return *impl_->tokenizer; }
bool Engine::has_chat_template() const { return impl_->chat_template.has_value(); }

Result<ChatPrompt> Engine::render_chat(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  if (!impl_->chat_template) {
    return fail(ErrorCode::kNotSupported,
                "{}: the model has no chat template, so it cannot hold a conversation; give it text to continue",
                impl_->model.path);
  }
  // Finding the chat format renders conversations, so only requests with tools do that.
  const bool has_tools = !options.tools.empty() || std::ranges::any_of(messages, [](const ChatMessage& message) {
    return !message.tool_calls.empty() || message.role == "tool";
  });
  if (has_tools) {
    TRY_STATUS(tool_names(options.tools));  // errors in the request are reported first
    TRY_STATUS(check_expressible(chat_format(), messages, options));
  }
  const auto render_all = [&](std::span<const ChatMessage> all) { return impl_->chat_template->render(all, options); };
  const auto render = [&](std::span<const ChatMessage> all) {
    return has_tools ? render_with_calls(chat_format(), all, render_all) : render_all(all);
  };
  const auto render_beginning = [&] {
    const ChatFormat format = chat_format();
    std::vector<std::string_view> marks = {format.think_begin, format.think_end};
    std::erase_if(marks, [&](std::string_view mark) {  // a reply cannot have begun with its end
      const auto token = impl_->tokenizer->find(mark);
      return token && std::ranges::contains(impl_->tokenizer->stop_tokens(), *token);
    });
    return render_unfinished(messages, render, marks);
  };
  auto prompt = options.continue_final_message ? render_beginning() : render(messages);
  if (prompt) impl_->turns->learn(*impl_->chat_template);
  return prompt;
}

std::optional<Engine::ChatTemplateText> Engine::chat_template() const {
  if (!impl_->chat_template) return std::nullopt;
  const ChatTemplate& own = *impl_->chat_template;
  return ChatTemplateText{std::string(own.source()), std::string(own.bos()), std::string(own.eos())};
}

ChatFormat Engine::chat_format() const {
  std::call_once(impl_->format_once, [&] {
    if (!impl_->chat_template) return;
    impl_->format = find_chat_format(*impl_->chat_template);
    add_tokens(impl_->format, *impl_->tokenizer);
  });
  return impl_->format;
}

// The KV cache and the states of recurrent layers may use three quarters of the memory that is free now, and the prefix
// cache an eighth of it. Where the KV cache has a size of its own, the states may use as much.
Result<std::shared_ptr<KvBlocks>> Engine::Impl::kv_blocks(int n_ctx, KvType type, int64_t most_tokens) {
  const int block_tokens = executable->kv_block_tokens(n_ctx);
  auto& blocks = kv_blocks_[{block_tokens, type}];
  if (!blocks || most_tokens > 0) {
    TRY(auto store, executable->new_kv_store(block_tokens, type));
    const bool is_host = backend != BackendKind::kWebGpu;  // the GPU backend checks by itself what fits
    const uint64_t available = is_host ? read_memory_info().available_bytes : 0;
    constexpr uint64_t kMostSnapshots = uint64_t{1} << 30;
    const uint64_t snapshots = available == 0 ? kMostSnapshots : std::min(available / 8, kMostSnapshots);
    if (most_tokens > 0) {
      const int64_t most = std::max<int64_t>(most_tokens / block_tokens, 1);
      const int n = static_cast<int>(std::min<int64_t>(most, INT_MAX));
      const uint64_t bytes = static_cast<uint64_t>(n) * store->block_bytes();
      return std::make_shared<KvBlocks>(
          std::move(store), KvBlocks::Options{.max_blocks = n,
                                              .max_cached = n,
                                              .max_snapshot_bytes = snapshots,
                                              .max_bytes = available == 0 ? UINT64_MAX : bytes + available / 4 * 3});
    }
    // With two devices each block exists twice, possibly both times in this memory.
    const bool is_twice = backend == BackendKind::kBoth && n_split_layers == 0;
    const uint64_t each = std::max<uint64_t>(store->block_bytes() * (is_twice ? 2 : 1), 1);
    const auto most = [&](uint64_t bytes) { return static_cast<int>(std::min<uint64_t>(bytes / each, INT_MAX)); };
    const KvBlocks::Options options{.max_blocks = available == 0 ? INT_MAX : most(available / 4 * 3),
                                    .max_cached = available == 0 || is_twice ? 0 : most(available / 8),
                                    .max_snapshot_bytes = snapshots,
                                    .max_bytes = available == 0 ? UINT64_MAX : available / 4 * 3};
    blocks = std::make_shared<KvBlocks>(std::move(store), options);
  }
  return blocks;
}

// Some models apply RoPE differently in long sequences.
PrefixId Engine::Impl::root_for(int n_ctx) const {
  const bool is_long =
      std::ranges::any_of(model.config.ropes, [&](const RopeParams& rope) { return rope.is_long(n_ctx); });
  return is_long ? 1 : 0;
}

Result<std::string> Engine::Impl::cache_key(int n_ctx) const { return model_key(model, root_for(n_ctx) != 0); }

Result<std::unique_ptr<Sequence>> Engine::Impl::new_sequence(int n_ctx, const SessionOptions& options) {
  TRY(auto blocks, kv_blocks(n_ctx, options.kv_type));
  const PrefixId root = options.share_prefixes ? root_for(n_ctx) : Sequence::kNotShared;
  auto sequence = std::make_unique<Sequence>(*executable, std::move(blocks), n_ctx, root);
  TRY_STATUS(sequence->begin());
  return sequence;
}

namespace {

Result<void> check_context(const Model& model, int n_ctx) {
  if (n_ctx < 0) return fail(ErrorCode::kInvalidArgument, "a context of {} tokens; give a positive number", n_ctx);
  if (n_ctx <= model.config.n_ctx) return {};
  return fail(ErrorCode::kInvalidArgument, "a context of {} tokens, but {} was trained for {}; give at most that",
              n_ctx, model.name, model.config.n_ctx);
}

}  // namespace

Result<Scheduler> Engine::new_scheduler() const { return new_scheduler({}); }

Result<Scheduler> Engine::new_scheduler(const SchedulerOptions& options) const {
  TRY_STATUS(check_context(impl_->model, options.n_ctx));
  if (options.max_replies < 1 || options.max_batch_tokens < 0 || options.max_kv_tokens < 0) {
    return fail(ErrorCode::kInvalidArgument,
                "a scheduler for {} replies, {} tokens a step and {} tokens in memory: "
                "give at least one reply, and 0 or more tokens",
                options.max_replies, options.max_batch_tokens, options.max_kv_tokens);
  }
  if (impl_->embeddings) return fail(ErrorCode::kInvalidArgument, "the model was loaded for vectors only");
  SchedulerOptions complete = options;
  if (complete.n_ctx == 0) complete.n_ctx = impl_->model.config.n_ctx;
  TRY_STATUS(impl_->executable->expect(options.max_replies));
  TRY(auto blocks, impl_->kv_blocks(complete.n_ctx, options.kv_type, options.max_kv_tokens));
  if (options.max_kept_bytes >= 0) {
    const auto each = static_cast<int64_t>(std::max<uint64_t>(blocks->store().block_bytes(), 1));
    blocks->keep_at_most(static_cast<int>(std::min<int64_t>(options.max_kept_bytes / each, INT_MAX)));
  }
  std::function<std::unique_ptr<BlockDrafter>()> new_drafter;
  if (options.draft_block) {
    TRY(auto of_drafters, impl_->draft_kv_blocks(complete.n_ctx, options.kv_type, options.max_kv_tokens));
    new_drafter = [impl = impl_.get(), kv = std::move(of_drafters), n_ctx = complete.n_ctx] {
      return impl->new_block_drafter(kv, n_ctx);
    };
  }
  const Scheduler::Impl::Model model{
      .executable = *impl_->executable,
      .tokenizer = impl_->tokenizer.get(),
      .n_vocab = impl_->model.config.n_vocab,
      .advised = impl_->info.sampling.values,
      .times = impl_->pass_times,
      .grammars = impl_->grammars,
      .cache_key = [impl = impl_.get(), n_ctx = complete.n_ctx] { return impl->cache_key(n_ctx); },
      .new_drafter = std::move(new_drafter)};
  return Scheduler(
      std::make_unique<Scheduler::Impl>(model, std::move(blocks), impl_->root_for(complete.n_ctx), complete));
}

Result<std::unique_ptr<Drafter>> Engine::Impl::new_drafter(const Engine::Impl& engine, int n_ctx) {
  const auto differs = [&](const std::string& how) {
    return fail(ErrorCode::kInvalidArgument,
                "{} cannot draft tokens for {}: {}; a draft model needs the same tokenizer", model.path,
                engine.model.path, how);
  };
  if (!tokenizer || !engine.tokenizer) return differs("one of them has no tokenizer");
  const int n = tokenizer->vocab_size(), n_other = engine.tokenizer->vocab_size();
  if (n != n_other) return differs(format_text("they have {} and {} tokens", n, n_other));
  for (TokenId id = 0; id < n; ++id) {
    if (tokenizer->piece(id, true) != engine.tokenizer->piece(id, true))
      return differs(format_text("token {} is not the same", id));
  }
  TRY(auto sequence, new_sequence(std::min(n_ctx, model.config.n_ctx), {.share_prefixes = false}));
  return std::make_unique<ModelDrafter>(std::move(sequence));
}

// What memory they take is small beside that of the model's own layers, of which the block is one more.
Result<std::shared_ptr<KvBlocks>> Engine::Impl::draft_kv_blocks(int n_ctx, KvType type, int64_t most_tokens) {
  if (!model.prediction) {
    return fail(ErrorCode::kInvalidArgument, "{} has no layer that proposes draft tokens (nextn_predict_layers)",
                model.path);
  }
  const bool is_host = backend != BackendKind::kWebGpu;
  if (!block) {
    block_plan = make_prediction_plan(*model.prediction, {.fuse = fusions_for(backend), .keeps_hidden = true});
    constexpr int kMostTogether = 16;  // replies
    constexpr int kMostOnGpu = 256;    // tokens; more would take memory for little
    const int most = is_host ? executable->max_batch() : std::min(executable->max_batch(), kMostOnGpu);
    const CompileOptions compile{.max_batch = most, .max_logit_rows = std::min(most, kMostTogether)};
    TRY(block,
        is_host ? compile_on(backend, block_plan, compile, *pool) : executable->compile_beside(block_plan, compile));
  }
  TRY(auto store, block->new_kv_store(block->kv_block_tokens(n_ctx), type));
  KvBlocks::Options kv{.max_cached = 0};
  if (most_tokens > 0) {
    const int64_t n = std::max<int64_t>(most_tokens / store->block_tokens(), 1);
    kv.max_blocks = static_cast<int>(std::min<int64_t>(n, INT_MAX));
  } else if (const uint64_t available = is_host ? read_memory_info().available_bytes : 0; available > 0) {
    kv.max_bytes = available / 8;
  }
  return std::make_shared<KvBlocks>(std::move(store), kv);
}

std::unique_ptr<BlockDrafter> Engine::Impl::new_block_drafter(std::shared_ptr<KvBlocks> blocks, int n_ctx) const {
  return std::make_unique<BlockDrafter>(
      std::make_unique<Sequence>(*block, std::move(blocks), n_ctx, Sequence::kNotShared));
}

Result<Session> Engine::new_session(const SessionOptions& options) const {
  TRY_STATUS(check_context(impl_->model, options.n_ctx));
  const int trained = impl_->model.config.n_ctx;
  const auto create = [&](int n_ctx) { return impl_->new_sequence(n_ctx, options); };
  TRY(auto sequence, options.n_ctx > 0 ? create(options.n_ctx) : new_largest_sequence(create, trained));
  std::unique_ptr<Drafter> drafter;
  if (options.draft && options.draft_block) {
    return fail(ErrorCode::kInvalidArgument,
                "draft tokens come from another model or from a layer of this one, not both");
  }
  if (options.draft_block) {
    TRY(auto blocks, impl_->draft_kv_blocks(sequence->n_ctx(), options.kv_type));
    drafter = impl_->new_block_drafter(std::move(blocks), sequence->n_ctx());
  }
  if (options.draft) {
    TRY(drafter, options.draft->impl_->new_drafter(*impl_, sequence->n_ctx()));
  }
  return Session(std::make_unique<Session::Impl>(*impl_, std::move(sequence), options.kv_type, std::move(drafter)));
}

namespace {

Result<void> check_use(const Session::Impl& session, bool embeds) {
  if (session.embeddings == embeds) return {};
  return fail(ErrorCode::kInvalidArgument, "the model was loaded {} LoadOptions::embeddings, so it gives {}",
              session.embeddings ? "with" : "without", session.embeddings ? "vectors only" : "no vectors");
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Generation> Session::begin(std::span<const TokenId> prompt, const GenerateOptions& options) {
  TRY_STATUS(check_use(*impl_, false));
  TRY(auto generation, impl_->core.begin(prompt, options));
  generation->set_load_seconds(impl_->load_seconds);
  return Generation(std::move(generation));
}

Result<GenerateResult> Session::generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                         const OnText& on_text, std::stop_token stop) {
  TRY_STATUS(check_use(*impl_, false));
  TRY(auto result, impl_->core.generate(prompt, options, on_text, std::move(stop)));
  result.stats.load_seconds = impl_->load_seconds;
  return result;
}

Result<void> Session::logits(std::span<const TokenId> tokens, const OnLogits& on_row) {
  TRY_STATUS(check_use(*impl_, false));
  return impl_->core.logits(tokens, on_row);
}

Result<std::vector<float>> Session::embed(std::span<const TokenId> tokens, Pooling pooling) {
  TRY_STATUS(check_use(*impl_, true));
  if (pooling == Pooling::kAuto) pooling = impl_->pooling;
  return impl_->core.embed(tokens, pooling == Pooling::kMean);
}

Result<void> Session::save_cache(const std::string& path) const {
  TRY(const std::string model, impl_->engine.cache_key(n_ctx()));
  return save_sequence(impl_->core.sequence(), model, path);
}

Result<bool> Session::load_cache(const std::string& path) {
  reset();
  TRY(const std::string model, impl_->engine.cache_key(n_ctx()));
  return load_sequence(impl_->core.sequence(), model, impl_->engine.model.config.n_vocab, path);
}

int Session::n_ctx() const { return impl_->core.n_ctx(); }
int Session::n_used() const { return impl_->core.n_used(); }
KvType Session::kv_type() const { return impl_->kv_type; }
uint64_t Session::kv_bytes() const { return impl_->kv_bytes; }
void Session::reset() { impl_->core.reset(); }

}  // namespace tern
