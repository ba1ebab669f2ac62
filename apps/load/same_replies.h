// Checks that a server gives the same reply to the same question, whatever its other load.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "load/request_record.h"

namespace tern::load {

// A question with more than one reply.
struct DifferingReplies {
  int64_t asked = 0;        // complete replies to it
  int64_t distinct = 0;     // distinct texts among them
  int64_t first_index = 0;  // the request of the first reply; other_index: the first reply that differs from it
  int64_t other_index = 0;
  size_t at_byte = 0;      // where these two texts differ first
  std::string first_text;  // an excerpt that begins shortly before that place, in whole characters
  std::string other_text;
};

struct SameCheck {
  int64_t compared = 0;   // replies to questions that were asked more than once
  int64_t questions = 0;  // questions asked more than once
  std::vector<DifferingReplies> differing;
};

// Compares complete requests with identical bodies. Their records must have kept bodies and texts.
SameCheck check_same(std::span<const RequestRecord> records);

}  // namespace tern::load
