#include "include_rules.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "source_files.h"

namespace fs = std::filesystem;

namespace tern::structure {

namespace {
constexpr std::initializer_list<std::string_view> kCode = {".h", ".cc", ".inc", ".hpp"};
}  // namespace

const std::vector<FolderRule>& include_table() {
  static const std::vector<FolderRule> kTable = {
      {"include/tern", {}},
      {"src/base", {}},
      {"src/file", {"src/base", "src/quant"}},
      {"src/quant", {"src/base"}},
      {"src/text", {"src/base"}},
      {"src/sample", {"src/base"}},
      {"src/grammar", {"src/base"}},
      {"src/model", {"src/base", "src/file", "src/quant", "src/text"}},
      {"src/published", {}},
      {"src/plan", {"src/base", "src/quant", "src/model"}},
      {"src/backend", {"src/base", "src/quant", "src/model", "src/plan"}},
      {"src/backend/ref", {"src/base", "src/quant", "src/model", "src/plan", "src/backend"}},
      {"src/backend/cpu", {"src/base", "src/quant", "src/model", "src/plan", "src/backend"}},
      {"src/backend/cpu/study", {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/cpu"}},
      {"src/backend/hybrid", {"src/base", "src/quant", "src/model", "src/plan", "src/backend"}},
      {"src/backend/fake", {"src/base", "src/quant", "src/model", "src/plan", "src/backend"}},
      {"src/backend/gpu/wgsl", {"src/base"}},
      {"src/backend/gpu/kernels", {"src/base", "src/quant", "src/backend/gpu/wgsl"}},
      {"src/backend/gpu/device", {"src/base", "src/backend/gpu/wgsl"}},
      {"src/backend/gpu/device/dawn", {"src/base", "src/backend/gpu/device", "src/backend/gpu/wgsl"}},
      {"src/backend/gpu/device/web",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device"}},
      {"src/backend/gpu/memory",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/wgsl"}},
      {"src/backend/gpu/memory/weights",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/wgsl"}},
      {"src/backend/gpu/memory/batch",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/memory"}},
      {"src/backend/gpu/record",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/wgsl", "src/backend/gpu/memory", "src/backend/gpu/memory/weights",
        "src/backend/gpu/memory/batch"}},
      {"src/backend/gpu/record/megakernel",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/wgsl", "src/backend/gpu/memory", "src/backend/gpu/memory/weights",
        "src/backend/gpu/memory/batch", "src/backend/gpu/record"}},
      {"src/backend/gpu/run",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/wgsl", "src/backend/gpu/memory", "src/backend/gpu/memory/weights",
        "src/backend/gpu/memory/batch", "src/backend/gpu/record", "src/backend/gpu/record/megakernel",
        "src/backend/gpu/run/trust"}},
      {"src/backend/gpu/run/trust",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/wgsl", "src/backend/gpu/memory", "src/backend/gpu/memory/batch",
        "src/backend/gpu/record"}},
      {"src/backend/gpu/run/profile",
       {"src/base", "src/quant", "src/model", "src/plan", "src/backend", "src/backend/gpu/device",
        "src/backend/gpu/kernels", "src/backend/gpu/memory", "src/backend/gpu/memory/batch", "src/backend/gpu/record",
        "src/backend/gpu/memory/weights", "src/backend/gpu/run"}},
      {"src/routing", {"src/base", "src/file"}},
      {"src/engine",
       {"src/base", "src/file", "src/quant", "src/text", "src/sample", "src/grammar", "src/model", "src/plan",
        "src/backend", "src/backend/ref", "src/backend/cpu", "src/backend/gpu/run", "src/backend/gpu/device",
        "src/backend/hybrid", "src/backend/fake", "src/routing"}},
      {"src/tools",
       {"src/base",
        "src/file",
        "src/quant",
        "src/text",
        "src/sample",
        "src/grammar",
        "src/model",
        "src/plan",
        "src/backend",
        "src/backend/ref",
        "src/backend/cpu",
        "src/backend/cpu/study",
        "src/backend/gpu/device",
        "src/backend/gpu/memory",
        "src/backend/gpu/memory/weights",
        "src/backend/gpu/record",
        "src/backend/gpu/run",
        "src/backend/gpu/run/profile",
        "src/backend/fake",
        "src/engine",
        "src/routing"}},
      {"src/hub", {"src/base"}},
      {"src/c_api", {"src/base"}},
      {"apps/cli", {"src/base", "apps/server", "apps/load", "apps/mcp"}},
      {"apps/load", {"src/base"}},
      {"apps/mcp", {"src/base", "src/hub", "apps/load"}},
      {"apps/server", {"src/base", "apps/mcp"}},
      {"apps/web", {"src/base"}},
  };
  return kTable;
}

namespace {

struct Include {
  size_t line;
  std::string path;  // as written between the quotes or brackets
  bool quoted;
};

bool is_within(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// The row of the deepest folder in the table that contains `path`; nullptr if there is none.
const FolderRule* rule_of(std::string_view path) {
  const FolderRule* best = nullptr;
  for (const FolderRule& rule : include_table()) {
    if (is_within(path, rule.folder) && (!best || rule.folder.size() > best->folder.size())) best = &rule;
  }
  return best;
}

std::optional<Include> parse_include(std::string_view text, size_t line) {
  const auto skip_blanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size())); };
  skip_blanks();
  if (!text.starts_with('#')) return std::nullopt;
  text.remove_prefix(1);
  skip_blanks();
  if (!text.starts_with("include")) return std::nullopt;
  text.remove_prefix(7);
  skip_blanks();
  if (text.empty() || (text[0] != '"' && text[0] != '<')) return std::nullopt;
  const bool quoted = text[0] == '"';
  const size_t end = text.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{line, std::string(text.substr(1, end - 1)), quoted};
}

std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> found;
  std::ifstream in(file);
  std::string text;
  for (size_t line = 1; std::getline(in, text); ++line) {
    if (auto include = parse_include(text, line)) found.push_back(*std::move(include));
  }
  return found;
}

// The file of the tree that the include refers to, relative to the root; nullopt for a library's header.
std::optional<std::string> resolve(const fs::path& root, const fs::path& from, const Include& include) {
  std::vector<fs::path> search = {"src", "include", "apps"};
  if (include.quoted) search.insert(search.begin(), from.parent_path());
  for (const fs::path& folder : search) {
    const fs::path candidate = (folder / include.path).lexically_normal();
    if (fs::is_regular_file(root / candidate)) return candidate.generic_string();
  }
  return std::nullopt;
}

void check_file(const fs::path& root, const std::string& file, std::vector<std::string>& violations) {
  const FolderRule* rule = rule_of(file);
  if (!rule) {
    violations.push_back(file + ": its folder has no row in the include table");
    return;
  }
  for (const Include& include : includes_of(root / file)) {
    const auto target = resolve(root, file, include);
    if (!target || is_within(*target, "include/tern")) continue;
    const FolderRule* target_rule = rule_of(*target);
    if (target_rule == rule) continue;
    const std::string_view target_folder = target_rule ? target_rule->folder : std::string_view(*target);
    if (std::ranges::contains(rule->may_include, target_folder)) continue;
    violations.push_back(file + ":" + std::to_string(include.line) + ": " + std::string(rule->folder) +
                         " may not include " + std::string(target_folder) + " (" + include.path + ")");
  }
}

}  // namespace

std::vector<std::string> check_includes(const fs::path& root) {
  std::vector<std::string> violations;
  for (const std::string& file : files_below(root, {"include", "src", "apps"}, kCode)) {
    check_file(root, file, violations);
  }
  return violations;
}

namespace {

// A file that is part of tests only.
bool is_test_file(const std::string& file) { return file.contains("_test.") || file.contains("_test_support."); }

class FolderGraph {
 public:
  explicit FolderGraph(const fs::path& root) {
    for (const std::string& file : files_below(root, {"include", "src", "apps"}, kCode)) {
      if (is_test_file(file)) continue;
      const std::string folder = fs::path(file).parent_path().generic_string();
      for (const Include& include : includes_of(root / file)) {
        const auto target = resolve(root, file, include);
        if (!target) continue;
        const std::string other = fs::path(*target).parent_path().generic_string();
        if (other != folder) edges_[folder].insert(other);
      }
    }
  }

  // Each folder that can be reached from itself, with the folders of the shortest way there and back.
  std::vector<std::string> cycles() const {
    std::vector<std::string> found;
    for (const auto& [folder, targets] : edges_) {
      if (auto way = way_back(folder); !way.empty()) found.push_back(std::move(way));
    }
    return found;
  }

 private:
  std::string way_back(const std::string& start) const {
    std::map<std::string, std::string> from;
    std::deque<std::string> to_do = {start};
    while (!to_do.empty()) {
      const std::string at = to_do.front();
      to_do.pop_front();
      const auto edges = edges_.find(at);
      if (edges == edges_.end()) continue;
      for (const std::string& next : edges->second) {
        if (!from.emplace(next, at).second) continue;
        if (next != start) {
          to_do.push_back(next);
          continue;
        }
        std::string way = start;
        for (std::string step = at; step != start; step = from.at(step)) way.insert(0, step + " -> ");
        return start + " -> " + way;
      }
    }
    return "";
  }

  std::map<std::string, std::set<std::string>> edges_;
};

}  // namespace

std::vector<std::string> find_folder_cycles(const fs::path& root) { return FolderGraph(root).cycles(); }

}  // namespace tern::structure
