// A model that answers requests, from HTTP or from a file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"
#include "server/api/replies/embeddings.h"
#include "server/api/service/model_service.h"

namespace tern::server {

struct ServedModelOptions {
  std::vector<std::string> names = {};  // names of the model in requests; answers use the first
  ModelService::Options service = {};
  ReplyDefaults defaults = {};
  Pooling pooling = Pooling::kAuto;    // for an engine loaded for embeddings
  ResponseStore* responses = nullptr;  // must outlive the model; null: nothing is kept
  bool any_name = false;               // requests may have any name
  McpTools mcp = {};
};

// True if the model uses the processor's energy; a GPU's is not measured.
inline bool computes_on_cpu(const ModelInfo& info) { return info.backend.starts_with("cpu"); }

// True if `name` is one of the names, perhaps with the tag ":latest", which Ollama's clients add.
bool is_among(const std::vector<std::string>& names, const std::string& name);

class ServedModel {
 public:
  // Errors: those of Engine::new_scheduler() and new_session(); kNotSupported: the file has no tokenizer. The engine
  // must outlive the model.
  static Result<std::unique_ptr<ServedModel>> start(const Engine& engine, ServedModelOptions options);

  const ModelProfile& profile() const { return profile_; }
  ModelService* service() { return service_.get(); }  // null: the engine was loaded for embeddings

  // 404 if the request names another model; a request without a name is fine.
  ApiResult<void> check_name(const Json& body) const;

  // Reads a request in the form of an API. 501: not for this model.
  using ReadRequest = ApiResult<Asked> (*)(const Json& body, const ModelProfile& model, const Client& client);
  ApiResult<Asked> read(ReadRequest reader, const Json& body, const Client& client) const;
  ApiResult<void> check_writes() const;  // 501: the model was loaded for embeddings

  // OpenAI's, which batches may use, too.
  struct ReplyRoute {
    std::string_view path;  // "/v1/chat/completions"
    ReadRequest read;
  };
  static std::span<const ReplyRoute> reply_routes();
  ApiResult<Json> embed(const Json& body);
  ApiResult<Embedder*> embedder() const;  // 501: the model was not loaded for embeddings

  // Returns the complete answer. 499: `is_wanted` returned false. `in_background`: see ModelService::ask(). `n_bytes`:
  // of the request, for Preparation; 0: it is read at once.
  ApiResult<Json> answer(const std::string& route, const Json& body, const std::function<bool()>& is_wanted,
                         bool in_background = false, size_t n_bytes = 0);
  // Checks that a model can answer a batch's requests for a route: 404, 501.
  static ApiResult<void> check_route(const std::string& route, bool embedding);

 private:
  ServedModel(const Engine& engine, ServedModelOptions options);

  std::vector<std::string> names_;
  const bool any_name_;
  GrammarCache grammars_;
  ModelProfile profile_;
  std::unique_ptr<ModelService> service_;
  std::unique_ptr<Embedder> embedder_;  // null: the engine was not loaded for embeddings
};

}  // namespace tern::server
