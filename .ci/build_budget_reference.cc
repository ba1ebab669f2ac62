// Not part of any program: build_budget.py compiles it to learn how fast a machine compiles. It holds what the
// project's files do most: the standard library's headers, containers and algorithms, functions called through
// std::function. A change of this file needs a new REFERENCE_SECONDS there.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

using Value = std::variant<int, double, std::string, std::vector<int>>;
using Groups = std::map<std::string, std::vector<Value>>;

std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (requires { std::to_string(v); }) return std::to_string(v);
        return std::string();
      },
      value);
}

Groups grouped(const std::vector<std::string>& texts, const std::function<Value(std::string)>& read) {
  Groups groups;
  for (const std::string& text : texts) groups[text.substr(0, text.find('='))].push_back(read(text));
  for (auto& [name, values] : groups) std::ranges::stable_sort(values, {}, text_of);
  return groups;
}
