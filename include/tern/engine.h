// Start here. Load a model, open a session, generate:
//
//   auto engine = tern::Engine::load({.model_path = "model.gguf"}).value();
//   auto session = engine.new_session().value();
//   auto prompt = engine.tokenizer().encode("Once upon a time");
//   auto reply = session.generate(prompt, {.max_tokens = 100}, [](std::string_view text) { std::cout << text; });
//
// An Engine holds the weights and may have many sessions; a Session holds one conversation's KV cache. Use each object
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
  std::string choice;        // why kAuto took this backend, in one line; empty if no costs were measured
  std::string head;          // what the logits are computed from: "F16", "Q8_0 (file: F16)", "exact (int8 + F16)"
  uint64_t n_params = 0;
  uint64_t file_bytes = 0;
  uint64_t bytes_per_token = 0;     // weight bytes read per decoded token, except the few last rows of an exact head
  uint64_t kv_bytes_per_token = 0;  // KV cache bytes per token of context, in f16
  int n_vocab = 0;
  int n_ctx = 0;  // trained context length
  int n_layers = 0;
  int n_threads = 0;                  // threads that compute on the host; 0: a GPU computes
  std::optional<GpuAdapter> adapter;  // the GPU that computes
  SamplingAdvice sampling;            // what its makers recommend
  int n_embd = 0;                     // size of an embedding (Session::embed)
  Pooling pooling = Pooling::kLast;   // what Pooling::kAuto means for this model
  bool embeddings = false;            // loaded with LoadOptions::embeddings
  // Seconds of Engine::load by phase, for display: "file", "tokenizer", "plan", "GPU", "weights", "checks", "one
  // dispatch". Includes the time spent on a GPU that was then not used.
  std::vector<std::pair<std::string, double>> load_phases;
};

enum class FinishReason { kStopToken, kStopString, kMaxTokens, kContextFull, kCancelled };
std::string_view finish_name(FinishReason reason);  // "max_tokens"

struct GenerateStats {
  int n_prompt = 0;           // prompt tokens
  int n_reused = 0;           // prompt tokens that were still in the KV cache
  int n_generated = 0;        // tokens sampled, including the stop token
  int n_thought = 0;          // those of them in thoughts (GenerateOptions::thoughts)
  int n_guessed = 0;          // draft tokens that were checked (GenerateOptions::speculate)
  int n_guessed_right = 0;    // draft tokens that were accepted
  double prompt_seconds = 0;  // until the first token was sampled
  double decode_seconds = 0;  // for the tokens after the first; both include the caller's time between steps
  double load_seconds = 0;    // Engine::load
};

struct GenerateResult {
  std::string text;                       // all streamed text
  std::vector<TokenId> tokens;            // the sampled tokens, including the stop token
  std::vector<Logprobs> logprobs;         // one for each token, if GenerateOptions::n_logprobs asks for them
  std::vector<Logprobs> prompt_logprobs;  // from the prompt's second token on, if n_prompt_logprobs asks for them
  FinishReason reason = FinishReason::kMaxTokens;
  GenerateStats stats;
};

using OnText = std::function<void(std::string_view piece)>;  // whole UTF-8 characters

// The result of one step of a generation.
struct GenerationStep {
  std::string_view text;                    // new text: whole UTF-8 characters, valid until the next call
  std::optional<TokenId> token = {};        // none during prefill
  std::optional<FinishReason> finish = {};  // why the reply ended, once it has
};

// A reply in progress, for callers that have other work between its tokens: an event loop, other sessions.
//
//   auto generation = session.begin(prompt, {.max_tokens = 100}).value();
//   for (bool done = false; !done;) {
//     const auto step = generation.next().value();
//     std::cout << step.text;
//     done = step.finish.has_value();
//   }
//
// A session has one generation at a time: beginning another cancels it, and so does any other use, or the end, of the
// session. Destroying a generation midway does no harm: the session's cache keeps the tokens that were run. The engine
// must outlive all calls of next().
class Generation {
 public:
  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;
  ~Generation();

  // Does one bounded piece of work: a batch of the prompt (at most LoadOptions::max_batch tokens; the last batch also
  // yields the first token), or one token. The last step returns the text that was held back because it could have
  // become a stop string. After the end a call does nothing and returns `finish` again. An error ends the generation,
  // and later calls return it again; result() has all text generated before it.
  Result<GenerationStep> next();

  // Ends the generation here; next() then reports FinishReason::kCancelled without running anything.
  void cancel();

  bool done() const;                     // ended, for any reason
  const GenerateResult& result() const;  // so far; `reason` is valid once done() is true

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

  // Continues `prompt`, step by step. Errors: those of generate().
  Result<Generation> begin(std::span<const TokenId> prompt, const GenerateOptions& options);

  // Continues `prompt`. A prefix that the session has already seen is not computed again, so pass the whole history
  // each time to continue a conversation. A request of `stop` ends the reply early but regularly. kInvalidArgument:
  // empty prompt, ids outside the vocabulary, prompt longer than the context. On any error, all text generated before
  // it has been passed to on_text.
  Result<GenerateResult> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                                  const OnText& on_text = {}, std::stop_token stop = {});

  // Logits after each of `tokens`, from an empty context: calls on_row(i, [n_vocab] f32) for i = 0, 1, …
  using OnLogits = std::function<Result<void>(size_t i, std::span<const float> logits)>;
  Result<void> logits(std::span<const TokenId> tokens, const OnLogits& on_row);

  // The embedding of a text: a vector of length 1, [n_embd] f32, for comparing texts by dot product. Embedding models
  // expect their tokenizer's final_token() at the end. Needs LoadOptions::embeddings. kInvalidArgument: as begin();
  // kCorruption: values that are not finite.
  Result<std::vector<float>> embed(std::span<const TokenId> tokens, Pooling pooling = Pooling::kAuto);

  // Saves the session's KV cache to a file, or loads it: the next prompt with the same prefix is not computed again.
  // load_cache() returns false if the file does not exist. kInvalidArgument: the file is for another model or other
  // settings; kCorruption: it is damaged; kIo.
  Result<void> save_cache(const std::string& path) const;
  Result<bool> load_cache(const std::string& path);

  int n_ctx() const;
  int n_used() const;  // tokens in the KV cache
  KvType kv_type() const;
  uint64_t kv_bytes() const;  // size of the full KV cache, with the state of recurrent layers
  void reset();               // forgets all tokens

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
  Sampling sampling(const SampleOptions& asked = {}) const;  // the sampling parameters that these options result in
  std::optional<GpuStats> gpu_stats() const;                 // so far; none if no GPU computes

  std::vector<DeviceShare> device_shares() const;  // so far, the CPU first; empty if one device computes

  // The kernels of the last decoded token, in the order of their first use. They are run again for timing, without
  // effect on any session. Empty if no GPU computes, or no token has been decoded yet. kDeviceLost.
  Result<std::vector<GpuKernel>> gpu_kernels() const;

  bool has_tokenizer() const;
  const Tokenizer& tokenizer() const;  // only if has_tokenizer()

  // Renders the conversation with the model's chat template, for tokenizer().encode_chat(). kNotSupported: the model
  // has no template, or one that cannot express this (tools, calls, their results, thoughts). kInvalidArgument: the
  // template rejects it, e.g. roles that do not alternate; or tools or arguments are not JSON.
  bool has_chat_template() const;
  Result<ChatPrompt> render_chat(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

  // The template's Jinja source, and the values of its bos_token and eos_token.
  struct ChatTemplateText {
    std::string source, bos, eos;
  };
  std::optional<ChatTemplateText> chat_template() const;

  // What the template supports (tools, thoughts), found by rendering small conversations once. Used to parse replies:
  // tern/chat_reply.h. Everything is false or empty if the model has no template. Safe to call from several threads.
  ChatFormat chat_format() const;

  Result<Session> new_session(const SessionOptions& options = {}) const;
  // Runs many replies at once: tern/scheduler.h. The engine must outlive it.
  Result<Scheduler> new_scheduler() const;
  Result<Scheduler> new_scheduler(const SchedulerOptions& options) const;

  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);

 private:
  friend struct EngineAccess;
  std::unique_ptr<Impl> impl_;
};

// The path of the model that comes with Tern: $TERN_MODEL, or the one under share/tern/models in the prefix of the
// shared library, of the program, or of Tern's installation.
Result<std::string> default_model_path();

std::string_view version();  // "MAJOR.MINOR.PATCH"

}  // namespace tern
