// Start here. Load a model, open a session, generate:
//
//   auto engine = tern::Engine::load({.model_path = "model.gguf"}).value();
//   auto session = engine.new_session().value();
//   auto prompt = engine.tokenizer().encode("Once upon a time");
//   auto reply = session.generate(prompt, {.max_tokens = 100}, [](std::string_view text) { std::cout << text; });
//
// An Engine holds the weights and may have many sessions; a Session holds one conversation's KV cache. Use an object
// from one thread at a time (a stop_token may be triggered from any thread).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/chat.h"
#include "tern/error.h"
#include "tern/gpu_stats.h"
#include "tern/logprobs.h"
#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

class Scheduler;
struct SchedulerOptions;

struct ModelInfo {
  std::string path;
  std::string name;          // general.name, or the file's name
  std::string architecture;  // as in the file, e.g. "bitnet-b1.58"
  std::string backend;       // e.g. "cpu (AVX3_SPR, 2 threads)"
  std::string choice;        // why kAuto took this backend, in one line; empty where no costs are kept
  std::string head;          // what the logits are computed from: "F16", "Q8_0 (file: F16)", "exact (int8 + F16)"
  uint64_t n_params = 0;
  uint64_t file_bytes = 0;
  uint64_t bytes_per_token = 0;     // weight bytes read per decoded token, without an exact head's few rows at the end
  uint64_t kv_bytes_per_token = 0;  // KV cache bytes per token of context, in f16
  int n_vocab = 0;
  int n_ctx = 0;  // trained context length
  int n_layers = 0;
  int n_threads = 0;                  // threads that compute on the host; 0: a GPU computes
  std::optional<GpuAdapter> adapter;  // … this one
  SamplingAdvice sampling;            // what its makers recommend
  int n_embd = 0;                     // values of a text's vector
  Pooling pooling = Pooling::kLast;   // what Pooling::kAuto is for this model
  bool embeddings = false;            // loaded for these (LoadOptions::embeddings)
  // Seconds of Engine::load by what they went to, for people: "file", "tokenizer", "plan", "GPU", "weights", "checks",
  // "one dispatch", those of a GPU that was given up included.
  std::vector<std::pair<std::string, double>> load_phases;
};

enum class FinishReason { kStopToken, kStopString, kMaxTokens, kContextFull, kCancelled };

struct GenerateStats {
  int n_prompt = 0;           // prompt tokens, of which
  int n_reused = 0;           // … were still in the KV cache
  int n_generated = 0;        // tokens sampled, the stop token included
  int n_guessed = 0;          // guesses that were checked (GenerateOptions::speculate), of which
  int n_guessed_right = 0;    // … were what was sampled
  double prompt_seconds = 0;  // until the first token was sampled
  double decode_seconds = 0;  // for the tokens after the first; both include what the caller does between steps
  double load_seconds = 0;    // Engine::load
};

struct GenerateResult {
  std::string text;                // everything that was streamed
  std::vector<TokenId> tokens;     // what was sampled, the stop token included
  std::vector<Logprobs> logprobs;  // of each, if GenerateOptions::n_logprobs asked for them
  FinishReason reason = FinishReason::kMaxTokens;
  GenerateStats stats;
};

using OnText = std::function<void(std::string_view piece)>;  // whole UTF-8 characters

// What one step of a generation did.
struct GenerationStep {
  std::string_view text;                    // that is certain now: whole UTF-8 characters, valid until the next call
  std::optional<TokenId> token = {};        // none while the prompt is being read
  std::optional<FinishReason> finish = {};  // why it is over, once it is
};

// A reply in progress, for callers that have other things to do between its tokens: an event loop, other sessions.
//
//   auto generation = session.begin(prompt, {.max_tokens = 100}).value();
//   for (bool done = false; !done;) {
//     const auto step = generation.next().value();
//     std::cout << step.text;
//     done = step.finish.has_value();
//   }
//
// A session has one at a time: beginning another cancels it, and so does anything else that uses or ends the session.
// Dropping it midway does no harm: the session's cache keeps what was run. The engine must live while next() is called.
class Generation {
 public:
  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;
  ~Generation();

  // One bounded piece of work: a batch of the prompt (at most LoadOptions::max_batch tokens; the last batch also yields
  // the first token), or one token. The last step returns the text that was held back because it could have become a
  // stop string. After the end a call does nothing and returns `finish` again. An error ends the generation, and later
  // calls return it again; all text generated before it is in result().
  Result<GenerationStep> next();

  // Ends it where it is; next() then reports kCancelled without running anything.
  void cancel();

  bool done() const;                     // ended, for whatever reason
  const GenerateResult& result() const;  // so far; `reason` is valid once it is done

  class Impl;
  explicit Generation(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Continues `prompt`, step by step. Errors: those of generate.
  Result<Generation> begin(std::span<const TokenId> prompt, const GenerateOptions& options);

  // Continues `prompt`. A prefix that the session has already seen is not computed again, so to continue a conversation
  // pass its whole history each time. Stops early, and cleanly, when `stop` is requested.
  // kInvalidArgument: empty prompt, ids outside the vocabulary, prompt longer than the context. Whatever the error, all
  // text generated before it has been passed to on_text.
  Result<GenerateResult> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                  const OnText& on_text = {}, std::stop_token stop = {});

  // Logits after each of `tokens`, from an empty context: calls on_row(i, [n_vocab] f32) for i = 0, 1, …
  using OnLogits = std::function<Result<void>(size_t i, std::span<const float> logits)>;
  Result<void> logits(std::span<const TokenId> tokens, const OnLogits& on_row);

  // What the model makes of a text, of length 1: [n_embd] f32, for comparing texts by their dot product. Models made
  // for this want their tokenizer's final_token() at the end. Needs LoadOptions::embeddings. kInvalidArgument: as
  // begin(); kCorruption: values that are not finite.
  Result<std::vector<float>> embed(std::span<const TokenId> tokens, Pooling pooling = Pooling::kAuto);

  // Keeps the keys and values of the session's tokens in a file, and takes them from there again: the next prompt that
  // begins like these is not computed again. load_cache() is false where there is no such file. kInvalidArgument: the
  // file is of another model, or of other settings; kCorruption: it is damaged; kIo.
  Result<void> save_cache(const std::string& path) const;
  Result<bool> load_cache(const std::string& path);

  int n_ctx() const;
  int n_used() const;  // tokens in the KV cache
  KvType kv_type() const;
  uint64_t kv_bytes() const;  // of the KV cache when it is full
  void reset();               // forgets everything

  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

class Engine {
 public:
  static Result<Engine> load(const LoadOptions& options);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  const ModelInfo& info() const;
  Sampling sampling(const SampleOptions& asked = {}) const;  // what a reply with these options is chosen with
  std::optional<GpuStats> gpu_stats() const;                 // so far; none if no GPU computes

  std::vector<DeviceShare> device_shares() const;  // so far, the CPU's first; empty where one device computes

  // The kernels of the token decoded last, in the order of their first use. They are run again to be timed, unseen
  // by any session. Empty if no GPU computes, or no token has been decoded yet. kDeviceLost.
  Result<std::vector<GpuKernel>> gpu_kernels() const;

  bool has_tokenizer() const;
  const Tokenizer& tokenizer() const;  // only if has_tokenizer()

  // The conversation in the model's own chat template, ready for encode(…, {.add_bos = false, .parse_special = true}).
  // kNotSupported: the model has no template, or one that cannot say this (tools, calls, their results, thoughts).
  // kInvalidArgument: the template objects, e.g. to roles that do not take turns; tools or arguments that are no JSON.
  bool has_chat_template() const;
  Result<std::string> render_chat(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

  // The template itself, in Jinja, and what its bos_token and eos_token stand for.
  struct ChatTemplateText {
    std::string source, bos, eos;
  };
  std::optional<ChatTemplateText> chat_template() const;

  // What the template knows of tools and thoughts, found out by rendering small conversations once. Replies are told
  // apart by it: tern/chat_reply.h. Everything is false or empty where the model has no template. Threads may call.
  ChatFormat chat_format() const;

  Result<Session> new_session(const SessionOptions& options = {}) const;
  // For many replies at once: tern/scheduler.h. The engine must outlive it.
  Result<Scheduler> new_scheduler() const;
  Result<Scheduler> new_scheduler(const SchedulerOptions& options) const;

  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  Impl& impl() const { return *impl_; }  // for src/tools

 private:
  std::unique_ptr<Impl> impl_;
};

// The path of the model that comes with Tern: $TERN_MODEL, or else the one under share/tern/models in the prefix of the
// shared library, of the program, or that Tern was installed to.
Result<std::string> default_model_path();

std::string_view version();  // "MAJOR.MINOR.PATCH"

}  // namespace tern
