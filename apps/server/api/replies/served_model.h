// A model that answers requests, from HTTP or from a file.
#pragma once

#include <memory>
#include <string>
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
  Pooling pooling = Pooling::kAuto;  // for an engine loaded for embeddings
};

// True if the model uses the processor's energy; a GPU's is not measured.
inline bool computes_on_cpu(const ModelInfo& info) { return info.backend.starts_with("cpu"); }

class ServedModel {
 public:
  // Errors: those of Engine::new_scheduler() and new_session(); kNotSupported: the file has no tokenizer. The engine
  // must outlive the model.
  static Result<std::unique_ptr<ServedModel>> start(const Engine& engine, ServedModelOptions options);

  const ModelProfile& profile() const { return profile_; }
  ModelService* service() { return service_.get(); }  // null: the engine was loaded for embeddings

  // 404 if the request names another model; a request without a name is fine.
  ApiResult<void> check_name(const Json& body) const;

  // Reads a request for a route, "/v1/chat/completions". 404: no such route; 501: not for this model.
  ApiResult<Asked> read(const std::string& route, const Json& body) const;
  static std::vector<std::string> reply_routes();
  ApiResult<Json> embed(const Json& body);

  // Returns the complete answer. 499: `is_wanted` returned false. `in_background`: see ModelService::ask().
  ApiResult<Json> answer(const std::string& route, const Json& body, const std::function<bool()>& is_wanted,
                         bool in_background = false);
  // Checks that a model can answer at a route: 404, 501.
  static ApiResult<void> check_route(const std::string& route, bool embedding);

 private:
  ServedModel(const Engine& engine, ServedModelOptions options);

  std::vector<std::string> names_;
  GrammarCache grammars_;
  ModelProfile profile_;
  std::unique_ptr<ModelService> service_;
  std::unique_ptr<Embedder> embedder_;  // null: the engine was not loaded for embeddings
};

}  // namespace tern::server
