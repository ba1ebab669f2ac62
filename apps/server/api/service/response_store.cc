#include "server/api/service/response_store.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tern::server {

std::list<ResponseStore::Entry>::iterator ResponseStore::place_of(const std::string& id, const std::string& owner) {
  return std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.id == id && entry.owner == owner; });
}

void ResponseStore::drop(std::list<Entry>::iterator entry) {
  n_bytes_ -= entry->bytes();
  entries_.erase(entry);
}

void ResponseStore::drop_old(Clock::time_point now) {
  while (!entries_.empty() && now - entries_.front().since > limits_.age) drop(entries_.begin());
}

void ResponseStore::keep(const std::string& id, const Kept& kept, Clock::time_point now) {
  Entry entry{.id = id,
              .response = dump(kept.response),
              .items = std::make_shared<const std::string>(dump(kept.items)),
              .pieces = dump(kept.pieces),
              .owner = kept.owner,
              .since = now};
  const std::scoped_lock lock(mutex_);
  drop_old(now);
  if (entry.bytes() > limits_.bytes) return;
  while (n_bytes_ + entry.bytes() > limits_.bytes) drop(entries_.begin());
  n_bytes_ += entry.bytes();
  entries_.push_back(std::move(entry));
}

std::optional<ResponseStore::Kept> ResponseStore::find(const std::string& id, const std::string& owner,
                                                       Clock::time_point now) {
  std::string response, pieces;
  std::shared_ptr<const std::string> items;
  {
    const std::scoped_lock lock(mutex_);
    drop_old(now);
    const auto it = place_of(id, owner);
    if (it == entries_.end()) return std::nullopt;
    response = it->response;
    items = it->items;
    pieces = it->pieces;
  }
  return Kept{
      .response = Json::parse(response), .items = Json::parse(*items), .pieces = Json::parse(pieces), .owner = owner};
}

// Each conversation is read once, and without the lock: there may be many ids.
std::map<std::string, Json> ResponseStore::find_items(const std::set<std::string>& ids, const std::string& owner) {
  constexpr size_t kFew = 16;  // for which a search in the text is worth it
  std::vector<std::shared_ptr<const std::string>> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.owner == owner) all.push_back(entry.items);
    }
  }
  std::map<std::string, Json> found;
  for (const auto& items : all) {
    if (found.size() == ids.size()) break;
    const auto mentions = [&](const std::string& id) { return items->contains(dump(Json(id))); };
    if (ids.size() <= kFew && std::ranges::none_of(ids, mentions)) continue;
    for (Json& item : Json::parse(*items)) {
      const Json id = item.is_object() ? item.value("id", Json()) : Json();
      if (!id.is_string() || !ids.contains(id.get_ref<const std::string&>())) continue;
      found.try_emplace(id.get<std::string>(), std::move(item));
    }
  }
  return found;
}

bool ResponseStore::erase(const std::string& id, const std::string& owner) {
  const std::scoped_lock lock(mutex_);
  const auto it = place_of(id, owner);
  if (it == entries_.end()) return false;
  drop(it);
  return true;
}

}  // namespace tern::server
