#include <algorithm>
#include <cctype>
#include <string>

#include "tern/published.h"

namespace tern {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

const PublishedModel* find_published_model(std::string_view name) {
  const std::string wanted = lower_case(name);
  const auto models = published_models();
  const auto found = std::ranges::find(models, wanted, &PublishedModel::name);
  return found == models.end() ? nullptr : &*found;
}

const PublishedModel* find_published_file(std::string_view general_name, std::string_view architecture) {
  const PublishedModel* found = nullptr;
  for (const PublishedModel& model : published_models()) {
    if (model.general_name != general_name || model.architecture != architecture) continue;
    if (found && found->sampling != model.sampling) return nullptr;
    if (!found) found = &model;
  }
  return found;
}

}  // namespace tern
