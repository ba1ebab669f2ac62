// Whether a server gives the same reply to the same question, whatever else it does at the time.
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
  int64_t distinct = 0;     // of which so many differ
  int64_t first_index = 0;  // the request of the first reply, and of the first that differs from it
  int64_t other_index = 0;
  size_t at_byte = 0;      // where these two part
  std::string first_text;  // some of the text from a little before there, in whole characters
  std::string other_text;
};

struct SameCheck {
  int64_t compared = 0;   // replies to questions that were asked more than once
  int64_t questions = 0;  // that were asked more than once
  std::vector<DifferingReplies> differing;
};

// Compares complete requests whose bodies are the same, byte for byte. Their records must have kept bodies and texts.
SameCheck check_same(std::span<const RequestRecord> records);

}  // namespace tern::load
