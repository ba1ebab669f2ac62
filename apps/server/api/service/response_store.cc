#include "server/api/service/response_store.h"

#include <algorithm>
#include <utility>

namespace tern::server {

std::list<ResponseStore::Entry>::iterator ResponseStore::place_of(const std::string& id) {
  return std::ranges::find(entries_, id, &Entry::id);
}

void ResponseStore::drop(std::list<Entry>::iterator entry) {
  n_bytes_ -= entry->bytes();
  entries_.erase(entry);
}

void ResponseStore::drop_old(Clock::time_point now) {
  while (!entries_.empty() && now - entries_.front().since > limits_.age) drop(entries_.begin());
}

void ResponseStore::keep(const std::string& id, const Kept& kept, Clock::time_point now) {
  Entry entry{
      .id = id, .response = dump(kept.response), .items = dump(kept.items), .pieces = dump(kept.pieces), .since = now};
  const std::scoped_lock lock(mutex_);
  drop_old(now);
  if (entry.bytes() > limits_.bytes) return;
  while (n_bytes_ + entry.bytes() > limits_.bytes) drop(entries_.begin());
  n_bytes_ += entry.bytes();
  entries_.push_back(std::move(entry));
}

std::optional<ResponseStore::Kept> ResponseStore::find(const std::string& id, Clock::time_point now) {
  std::string response, items, pieces;
  {
    const std::scoped_lock lock(mutex_);
    drop_old(now);
    const auto it = place_of(id);
    if (it == entries_.end()) return std::nullopt;
    response = it->response;
    items = it->items;
    pieces = it->pieces;
  }
  return Kept{.response = Json::parse(response), .items = Json::parse(items), .pieces = Json::parse(pieces)};
}

std::optional<Json> ResponseStore::find_item(const std::string& id) {
  const std::string quoted = Json(id).dump();
  std::string items;
  {
    const std::scoped_lock lock(mutex_);
    const auto it = std::ranges::find_if(entries_, [&](const Entry& one) { return one.items.contains(quoted); });
    if (it == entries_.end()) return std::nullopt;
    items = it->items;
  }
  for (Json& item : Json::parse(items)) {
    if (item.is_object() && item.value("id", Json()) == id) return std::optional<Json>(std::in_place, std::move(item));
  }
  return std::nullopt;
}

bool ResponseStore::erase(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto it = place_of(id);
  if (it == entries_.end()) return false;
  drop(it);
  return true;
}

}  // namespace tern::server
