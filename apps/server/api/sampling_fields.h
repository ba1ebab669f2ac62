// The fields of a request that say how its tokens are sampled.
#pragma once

#include <vector>

#include "server/api/fields.h"
#include "tern/engine.h"

namespace tern::server {

// All of them except the seed and logit_bias.
void read_sampling(Fields& fields, SampleOptions& sample);

// Reads OpenAI's {"50256": -100}, llama.cpp's [[50256, -100], [" text", false]], and maps of texts. A bias of a text is
// one for each of its tokens. −100 and false forbid a token.
void read_logit_bias(Fields& fields, std::vector<LogitBias>& biases, const Engine& engine);

}  // namespace tern::server
