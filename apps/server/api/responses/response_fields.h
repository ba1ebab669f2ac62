// Fields of requests for /v1/responses that say what the answer has.
#pragma once

#include "server/api/fields.h"
#include "tern/engine.h"

namespace tern::server {

struct ResponseForm {
  bool summarizes = false;  // thoughts are told as their own summary: clients show no other form of them
  bool encodes = false;     // items with thoughts have them in `encrypted_content`, too
  int n_logprobs = -1;      // most likely tokens that are told beside each one; -1: none, and no probabilities
};

// Refuses what is not done here, and checks what has no effect.
ResponseForm read_response_form(Fields& fields);

// The request's fields that the answer repeats, with defaults for those that are absent.
Json repeated_fields(const Json& body, const Sampling& sampling);

}  // namespace tern::server
