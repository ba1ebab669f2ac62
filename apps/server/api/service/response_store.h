// The answers of /v1/responses that later requests may continue, in memory.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "server/api/api_error.h"

namespace tern::server {

// Thread-safe. What is kept for one owner, an API key or none, is not there for others. The oldest responses are
// dropped when there are too many bytes, and all after some time.
class ResponseStore {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    size_t bytes = size_t{64} << 20;
    Clock::duration age = std::chrono::hours(24);
  };
  ResponseStore() = default;
  explicit ResponseStore(Limits limits) : limits_(limits) {}

  // `items`: the conversation so far, with the response's output. `pieces`: how its stream was cut.
  struct Kept {
    Json response, items;
    Json pieces = nullptr;
    std::string owner = {};
  };
  void keep(const std::string& id, const Kept& kept, Clock::time_point now = Clock::now());
  std::optional<Kept> find(const std::string& id, const std::string& owner, Clock::time_point now = Clock::now());
  // The items with these ids in the kept conversations and outputs, as far as there are any.
  std::map<std::string, Json> find_items(const std::set<std::string>& ids, const std::string& owner);
  bool erase(const std::string& id, const std::string& owner);  // false: there was none

 private:
  struct Entry {
    std::string id, response;  // as text, whose size is known
    std::shared_ptr<const std::string> items;
    std::string pieces, owner;
    Clock::time_point since;
    size_t bytes() const { return id.size() + response.size() + items->size() + pieces.size() + owner.size(); }
  };
  std::list<Entry>::iterator place_of(const std::string& id, const std::string& owner);
  void drop(std::list<Entry>::iterator entry);
  void drop_old(Clock::time_point now);

  const Limits limits_ = {};
  std::mutex mutex_;
  std::list<Entry> entries_;  // oldest first
  size_t n_bytes_ = 0;
};

}  // namespace tern::server
