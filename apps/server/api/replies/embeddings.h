// /v1/embeddings: turns texts into vectors.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/api/replies/completions.h"
#include "server/api/service/energy_meter.h"

namespace tern::server {

// The texts that vectors are wanted for, as tokens. `name`: their field, for errors. If `truncates`, a text that
// exceeds the context is cut off; otherwise it is refused.
ApiResult<std::vector<std::vector<TokenId>>> read_embedding_inputs(const Json* input, const std::string& name,
                                                                   const ModelProfile& model, bool truncates);
// Reads `dimensions`; empty: all of the model's.
std::optional<int> read_dimensions(Fields& fields, const ModelProfile& model);

class Embedder {
 public:
  struct Vectors {
    std::vector<std::vector<float>> values;
    size_t n_tokens = 0;
    std::optional<double> joules = {};
  };
  // Returns null if the engine was not loaded for embeddings. The engine must outlive the embedder, and so must
  // `energy`, which may be null. Errors: those of new_session().
  static Result<std::unique_ptr<Embedder>> open(const Engine& engine, Pooling pooling, int n_ctx, EnergyMeter* energy);

  // Both are thread-safe, and answer one request at a time. Shortened vectors have the length 1 again.
  ApiResult<Vectors> embed(const std::vector<std::vector<TokenId>>& inputs, std::optional<int> dimensions);
  ApiResult<Json> answer(const Json& body, const ModelProfile& model);

 private:
  Embedder(Session session, Pooling pooling, EnergyMeter* energy)
      : session_(std::move(session)), pooling_(pooling), energy_(energy) {}

  std::mutex mutex_;
  Session session_;
  Pooling pooling_;
  EnergyShare energy_;
};

}  // namespace tern::server
