// /v1/embeddings: turns texts into vectors.
#pragma once

#include <memory>
#include <mutex>

#include "server/api/replies/completions.h"
#include "server/api/service/energy_meter.h"

namespace tern::server {

class Embedder {
 public:
  // Returns null if the engine was not loaded for embeddings. The engine must outlive the embedder, and so must
  // `energy`, which may be null. Errors: those of new_session().
  static Result<std::unique_ptr<Embedder>> open(const Engine& engine, Pooling pooling, int n_ctx, EnergyMeter* energy);

  // Thread-safe; answers one request at a time.
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
