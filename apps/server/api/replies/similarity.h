// /v1/rerank and /score: how close texts are to each other by their vectors.
#pragma once

#include "server/api/replies/embeddings.h"

namespace tern::server {

// Documents by their closeness to a query, the closest first.
ApiResult<Json> rerank(const Json& body, const ModelProfile& model, Embedder& embedder);

// Scores of pairs: `text_1` and `text_2`, either of which may be a list; one text is paired with each of a list.
ApiResult<Json> score(const Json& body, const ModelProfile& model, Embedder& embedder);

}  // namespace tern::server
