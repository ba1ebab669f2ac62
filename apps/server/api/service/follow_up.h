// What may come between two replies of one answer: calls of tools that the server makes itself.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "server/api/api_error.h"
#include "tern/engine.h"

namespace tern::server {

struct NextReply {
  std::vector<TokenId> prompt;
  GenerateOptions options;
};

// Used by the thread of one request.
class FollowUp {
 public:
  virtual ~FollowUp() = default;  // ends what is under way

  // True after a reply that another one follows, until wait() has returned that.
  virtual bool is_pending() const = 0;

  // Waits up to `time`. Nothing: it takes longer.
  virtual ApiResult<std::optional<NextReply>> wait(std::chrono::milliseconds time) = 0;
};

}  // namespace tern::server
