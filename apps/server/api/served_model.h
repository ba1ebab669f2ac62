// A model that answers requests, whoever brings them: HTTP or a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/api/answer.h"
#include "server/api/completions.h"
#include "server/api/embeddings.h"
#include "server/api/model_service.h"

namespace tern::server {

struct ServedModelOptions {
  std::vector<std::string> names = {};  // that requests may call the model; the first is what answers call it
  ModelService::Options service = {};
  ReplyDefaults defaults = {};
  Pooling pooling = Pooling::kAuto;  // of an engine that was loaded for embeddings
};

// Whether the processor's energy is what the model takes; a GPU's is not measured.
inline bool computes_on_cpu(const ModelInfo& info) { return info.backend.starts_with("cpu"); }

class ServedModel {
 public:
  // Errors: those of Engine::new_scheduler() and new_session(), and kNotSupported where the file has no tokenizer. The
  // engine must outlive it.
  static Result<std::unique_ptr<ServedModel>> start(const Engine& engine, ServedModelOptions options);

  const ModelProfile& profile() const { return profile_; }
  ModelService* service() { return service_.get(); }  // null: the engine was loaded for embeddings

  // 404 for a request that wants another model; any will do where it names none.
  ApiResult<void> check_name(const Json& body) const;

  // What is asked at a route, "/v1/chat/completions". 404: nothing is, 501: not of this model.
  ApiResult<Asked> read(const std::string& route, const Json& body) const;
  static std::vector<std::string> reply_routes();
  ApiResult<Json> embed(const Json& body);

  // The whole answer, once it is there. 499 where `is_wanted` says no. `in_background`: see ModelService::ask().
  ApiResult<Json> answer(const std::string& route, const Json& body, const std::function<bool()>& is_wanted,
                         bool in_background = false);
  // Whether a model answers at a route at all: 404, 501.
  static ApiResult<void> check_route(const std::string& route, bool embedding);

 private:
  ServedModel(const Engine& engine, ServedModelOptions options);

  std::vector<std::string> names_;
  GrammarCache grammars_;
  ModelProfile profile_;
  std::unique_ptr<ModelService> service_;
  std::unique_ptr<Embedder> embedder_;  // null: the engine was not loaded for them
};

}  // namespace tern::server
