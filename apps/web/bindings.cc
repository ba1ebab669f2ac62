// The module's one entry: tern_call(method, parameters) → result, all as JSON. bindings.js wraps it as module.call().
// There is one engine and one conversation at a time. A reply is generated step by step, so that a worker's event loop
// runs between tokens.
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "tern/chat_reply.h"
#include "tern/engine.h"
#include "tern/tools.h"
#include "web/bindings_json.h"

extern "C" {
char* tern_call(const char* method, const char* parameters);
void tern_app_progress(const char* what, double done, double total, const char* unit);
}

namespace tern::web {
namespace {

using nlohmann::json;

std::unexpected<Error> wrong(std::string message) {
  return std::unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

class App {
 public:
  Result<json> call(std::string_view method, const json& p);

 private:
  Result<json> load(const json& p);
  Result<json> begin(const json& p);
  Result<json> step();
  Result<json> stats() const;
  Result<json> tokenize(const json& p) const;
  Result<json> render_chat(const json& p) const;
  Result<json> detokenize(const json& p) const;
  Result<json> words() const;
  Result<json> logits(const json& p);
  Result<json> embed(const json& p);
  Result<json> kernels() const;
  Result<std::vector<TokenId>> prompt_of(const json& p) const;
  void unload();

  // Members are destroyed in reverse order.
  std::optional<Engine> engine_;
  std::optional<Session> session_;
  std::optional<Generation> generation_;
  GenerateStats last_;
};

BackendKind backend_of(const std::string& name) {
  return name == "webgpu" ? BackendKind::kWebGpu : name == "ref" ? BackendKind::kRef : BackendKind::kCpu;
}

Result<json> App::load(const json& p) {
  unload();
  LoadOptions options;
  options.model_path = p.value("path", "");
  options.backend = backend_of(p.value("backend", "cpu"));
  options.n_threads = p.value("nThreads", 0);
  options.max_batch = p.value("maxBatch", 0);
  options.chat_template = p.value("chatTemplate", "");
  options.fuse = p.value("fuse", true);
  options.embeddings = p.value("embeddings", false);
  options.gpu.without = p.value("gpuWithout", std::vector<std::string>());
  options.on_progress = [](const Progress& progress) {
    tern_app_progress(progress.what.c_str(), static_cast<double>(progress.done), static_cast<double>(progress.total),
                      progress.unit.c_str());
  };
  auto engine = Engine::load(options);
  if (!engine) return std::unexpected(engine.error());
  const std::string kv = p.value("kv", "f16");
  const KvType kv_type = kv == "f32" ? KvType::kF32 : kv == "q8_0" ? KvType::kQ8_0 : KvType::kF16;
  auto session = engine->new_session({.n_ctx = p.value("nCtx", 0), .kv_type = kv_type});
  if (!session) return std::unexpected(session.error());
  engine_ = std::move(*engine);
  session_ = std::move(*session);
  return info_of(*engine_, session_->n_ctx());
}

void App::unload() {
  generation_.reset();
  session_.reset();
  engine_.reset();
  last_ = {};
}

std::vector<ChatMessage> messages_of(const json& p) {
  std::vector<ChatMessage> messages;
  for (const json& message : p.at("messages")) {
    messages.push_back({.role = message.value("role", ""), .content = message.value("content", "")});
  }
  return messages;
}

ChatOptions chat_options_of(const json& p) {
  ChatOptions options;
  if (p.contains("think") && p["think"].is_boolean()) options.think = p["think"].get<bool>();
  options.parse_special = p.value("parseSpecial", false);
  return options;
}

// [[text, true if it is quoted], …], as src/engine/web/forms.cc gives a prompt.
ChatPrompt prompt_in_parts(const json& parts) {
  ChatPrompt prompt;
  for (const json& part : parts) {
    const size_t begin = prompt.text.size();
    prompt.text += part.at(0).get_ref<const std::string&>();
    if (part.at(1).get<bool>()) prompt.quoted.push_back({begin, prompt.text.size()});
  }
  return prompt;
}

Result<std::vector<TokenId>> App::prompt_of(const json& p) const {
  if (p.contains("tokens")) return p["tokens"].get<std::vector<TokenId>>();
  if (!engine_->has_tokenizer()) {
    return std::unexpected(
        Error{ErrorCode::kNotSupported, "the model has no tokenizer; add the files of its tokenizer, or give tokens"});
  }
  if (p.contains("rendered")) return engine_->tokenizer().encode_chat(prompt_in_parts(p["rendered"]));
  if (!p.contains("messages")) {
    return engine_->tokenizer().encode(p.value("prompt", ""), {.parse_special = p.value("parseSpecial", false)});
  }
  auto prompt = engine_->render_chat(messages_of(p), chat_options_of(p));
  if (!prompt) return std::unexpected(prompt.error());
  return engine_->tokenizer().encode_chat(*prompt);
}

GenerateOptions generate_options_of(const json& p) {
  GenerateOptions options;
  options.max_tokens = p.value("maxTokens", options.max_tokens);
  options.stop = p.value("stop", std::vector<std::string>());
  options.ignore_eos = p.value("ignoreEos", false);
  SampleOptions& sample = options.sample;
  const auto take = [&p]<class T>(const char* name, std::optional<T>& number) {
    if (p.contains(name)) number = p[name].get<T>();
  };
  take("temperature", sample.temperature);
  take("topK", sample.top_k);
  take("topP", sample.top_p);
  take("minP", sample.min_p);
  take("repeatPenalty", sample.repeat_penalty);
  take("repeatLastN", sample.repeat_last_n);
  take("presencePenalty", sample.presence_penalty);
  take("frequencyPenalty", sample.frequency_penalty);
  take("dryMultiplier", sample.dry_multiplier);
  take("dryBase", sample.dry_base);
  take("dryAllowedLength", sample.dry_allowed_length);
  take("dryPenaltyLastN", sample.dry_penalty_last_n);
  take("drySequenceBreakers", sample.dry_sequence_breakers);
  take("topNSigma", sample.top_n_sigma);
  take("typicalP", sample.typical_p);
  take("xtcProbability", sample.xtc_probability);
  take("xtcThreshold", sample.xtc_threshold);
  take("mirostat", sample.mirostat);
  take("mirostatTau", sample.mirostat_tau);
  take("mirostatEta", sample.mirostat_eta);
  take("samplers", sample.samplers);
  options.min_tokens = p.value("minTokens", options.min_tokens);
  options.heal_prompt = p.value("heal", false);
  options.n_logprobs = p.value("logprobs", -1);
  options.speculate = p.value("speculate", options.speculate);
  options.keep_past_context = p.value("keepPastContext", options.keep_past_context);
  // [[token, bias], …]. JSON has no infinity, so null stands for it.
  for (const json& bias : p.value("logitBias", json::array())) {
    const float value = bias.at(1).is_null() ? -std::numeric_limits<float>::infinity() : bias.at(1).get<float>();
    options.logit_bias.push_back({.token = bias.at(0).get<TokenId>(), .bias = value});
  }
  sample.seed = p.value("seed", sample.seed);
  // Another module knows the constraint (src/engine/web).
  if (p.value("isHeld", false)) options.calls = std::make_shared<const ConstrainedCalls>();
  options.shown_tokens = p.value("shownTokens", options.shown_tokens);
  return options;
}

Result<json> App::begin(const json& p) {
  generation_.reset();
  const auto prompt = prompt_of(p);
  if (!prompt) return std::unexpected(prompt.error());
  auto generation = session_->begin(*prompt, generate_options_of(p));
  if (!generation) return std::unexpected(generation.error());
  generation_ = std::move(*generation);
  return json{{"nPrompt", prompt->size()}, {"nReused", generation_->result().stats.n_reused}};
}

Result<json> App::step() {
  if (!generation_) return wrong("there is no reply under way; begin one");
  const auto step = generation_->next();
  last_ = generation_->result().stats;
  if (!step) {
    generation_.reset();
    return std::unexpected(step.error());
  }
  json result = {{"text", step->text}, {"tokens", json::array()}, {"done", step->finish.has_value()}};
  if (step->token) result["tokens"].push_back(*step->token);
  const std::vector<Logprobs>& logprobs = generation_->result().logprobs;
  if (step->token && !logprobs.empty()) result["logprobs"] = logprobs_of(*engine_, *step->token, logprobs.back());
  if (step->finish) {
    result["reason"] = finish_name(*step->finish);
    generation_.reset();
  }
  return result;
}

Result<json> App::stats() const {
  json result = {{"loadSeconds", last_.load_seconds},
                 {"nPrompt", last_.n_prompt},
                 {"nReused", last_.n_reused},
                 {"nGenerated", last_.n_generated},
                 {"promptSeconds", last_.prompt_seconds},
                 {"decodeSeconds", last_.decode_seconds},
                 {"nUsed", session_->n_used()}};
  if (const auto gpu = engine_->gpu_stats()) {
    result["gpu"] = {{"shaders", gpu->shaders},
                     {"dispatchesPerToken", gpu->dispatches_per_token},
                     {"gpuMsPerToken", gpu->gpu_ms_per_token},
                     {"hostMsPerToken", gpu->host_ms_per_token},
                     {"recordMsPerToken", gpu->record_ms_per_token},
                     {"uploadSeconds", gpu->upload_seconds},
                     {"uploadBytes", gpu->upload_bytes},
                     {"deviceBytes", gpu->device_bytes},
                     {"compileSeconds", gpu->compile_seconds}};
  }
  return result;
}

Result<json> App::tokenize(const json& p) const {
  if (!engine_->has_tokenizer()) return wrong("the model has no tokenizer");
  return json{
      {"tokens", engine_->tokenizer().encode(p.value("text", ""), {.add_bos = p.value("addBos", true),
                                                                   .parse_special = p.value("parseSpecial", false)})}};
}

Result<json> App::detokenize(const json& p) const {
  if (!engine_->has_tokenizer()) return wrong("the model has no tokenizer");
  const auto tokens = p.at("tokens").get<std::vector<TokenId>>();
  const int n_vocab = engine_->info().n_vocab;
  for (const TokenId token : tokens) {
    if (token < 0 || token >= n_vocab) {
      return wrong("token id " + std::to_string(token) + " is outside the vocabulary, which has ids 0 to " +
                   std::to_string(n_vocab - 1));
    }
  }
  return json{{"text", engine_->tokenizer().decode(tokens, p.value("special", false))}};
}

Result<json> App::render_chat(const json& p) const {
  auto prompt = engine_->render_chat(messages_of(p), chat_options_of(p));
  if (!prompt) return std::unexpected(prompt.error());
  return json{{"text", std::move(prompt->text)}};
}

// Returns the vocabulary and the template, for the module that handles grammars and tools.
Result<json> App::words() const {
  if (!engine_->has_tokenizer()) {
    return std::unexpected(
        Error{ErrorCode::kNotSupported, "a grammar is about text, and the model file holds no tokenizer"});
  }
  const Tokenizer& tokenizer = engine_->tokenizer();
  std::string bytes;
  json lengths = json::array(), spelled = json::array();
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view piece = tokenizer.piece(id);
    bytes += piece;
    lengths.push_back(piece.size());
    if (piece.empty()) spelled.push_back({id, std::string(tokenizer.piece(id, true))});
  }
  json result = {{"base64", base64(std::as_bytes(std::span(bytes)))},
                 {"lengths", std::move(lengths)},
                 {"spelled", std::move(spelled)},
                 {"nVocab", engine_->info().n_vocab}};
  if (const auto own = engine_->chat_template()) {
    result.update({{"template", own->source}, {"bos", own->bos}, {"eos", own->eos}});
    (void)engine_->render_chat(std::vector<ChatMessage>{{.role = "user", .content = "a"}});  // learns stop tokens
  }
  return result;
}

Result<json> App::logits(const json& p) {
  std::vector<float> rows;
  size_t n_rows = 0;
  const auto done = session_->logits(p.at("tokens").get<std::vector<TokenId>>(),
                                     [&](size_t, std::span<const float> row) -> Result<void> {
                                       rows.insert(rows.end(), row.begin(), row.end());
                                       ++n_rows;
                                       return {};
                                     });
  if (!done) return std::unexpected(done.error());
  return json{
      {"rows", n_rows}, {"columns", engine_->info().n_vocab}, {"base64", base64(std::as_bytes(std::span(rows)))}};
}

Result<json> App::embed(const json& p) {
  auto tokens = prompt_of(p);
  if (!tokens) return std::unexpected(tokens.error());
  if (tokens->empty() || (p.contains("prompt") && p["prompt"] == "")) return wrong("an empty text has no vector");
  const bool is_text = !p.contains("tokens");
  if (is_text && engine_->tokenizer().final_token()) tokens->push_back(*engine_->tokenizer().final_token());
  const std::string pooling = p.value("pooling", "auto");
  const auto values = session_->embed(*tokens, pooling == "last"   ? Pooling::kLast
                                               : pooling == "mean" ? Pooling::kMean
                                                                   : Pooling::kAuto);
  if (!values) return std::unexpected(values.error());
  return json{{"rows", 1},
              {"columns", values->size()},
              {"base64", base64(std::as_bytes(std::span(*values)))},
              {"nTokens", tokens->size()}};
}

Result<json> App::kernels() const {
  const auto kernels = engine_->gpu_kernels();
  if (!kernels) return std::unexpected(kernels.error());
  json result = json::array();
  for (const GpuKernel& k : *kernels) {
    result.push_back({{"name", k.name}, {"wgsl", k.wgsl}, {"dispatches", k.dispatches}, {"us", k.us}});
  }
  return result;
}

Result<json> App::call(std::string_view method, const json& p) {
  if (method == "load") return load(p);
  if (method == "unload") {
    unload();
    return json::object();
  }
  if (!engine_) return wrong("no model is loaded");
  if (method == "begin") return begin(p);
  if (method == "step") return step();
  if (method == "cancel") {
    if (generation_) generation_->cancel();
    return json::object();
  }
  if (method == "stats") return stats();
  if (method == "kernels") return kernels();
  if (method == "reset") {
    generation_.reset();
    session_->reset();
    return json::object();
  }
  if (method == "tokenize") return tokenize(p);
  if (method == "render_chat") return render_chat(p);
  if (method == "detokenize") return detokenize(p);
  if (method == "words") return words();
  if (method == "logits") return logits(p);
  if (method == "embed") return embed(p);
  return wrong("there is no method of this name");
}

json error_json(std::string_view code, std::string_view message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

json answer(const char* method, const char* parameters) {
  static App app;
  // Out of memory in the engine, and parameters of the wrong type, arrive as exceptions of the libraries.
  try {
    const auto result = app.call(method, json::parse(parameters));
    if (result) return {{"result", *result}};
    return error_json(code_name(result.error().code), result.error().message);
  } catch (const json::exception& error) {
    return error_json("invalid_argument", error.what());
  } catch (const std::bad_alloc&) {
    return error_json("out_of_memory", "the page's memory is full; use a smaller model or a smaller context");
  }
}

}  // namespace
}  // namespace tern::web

char* tern_call(const char* method, const char* parameters) {
  const std::string text =
      tern::web::answer(method, parameters).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}
