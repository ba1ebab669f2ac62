// Holds schemas and documents against each other: does a schema compile, is every valid document possible, and no
// invalid one?
//
//   bench_schemas [-v] FOLDER [TOKENIZER]
//
// FOLDER has JSON files, as MaskBench (guidance-ai/jsonschemabench, maskbench/data) and JSON-Schema-Test-Suite have
// them: {"schema": …, "tests": [{"data": …, "valid": …}]}, or a list of such groups. With a tokenizer, masks are timed
// along the valid documents. With -v, each schema that does not pass is printed with its reason.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "grammar/matcher.h"
#include "print_times.h"
#include "tern/engine.h"

namespace tern {
namespace {

using Json = nlohmann::ordered_json;

// The processor's time: other programs on the machine do not count.
double microseconds() { return 1e6 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// As Python's json.dumps writes documents: a space behind each comma and colon.
std::string spaced(const Json& value) {
  if (!value.is_structured()) return value.dump();
  std::string out(1, value.is_object() ? '{' : '[');
  bool is_first = true;
  for (const auto& [name, item] : value.items()) {
    if (!std::exchange(is_first, false)) out += ", ";
    if (value.is_object()) out += Json(name).dump() + ": ";
    out += spaced(item);
  }
  return out + (value.is_object() ? '}' : ']');
}

// The message without its place and what it quotes, so that messages of one kind count together.
std::string kind_of(const std::string& message) {
  static const std::regex kPlace("at '([^' ]*/)?([^'/ ]*)': "), kNumber("[0-9]+");
  std::string kind = std::regex_replace(message.substr(0, 300), kPlace, "'$2': ");
  return std::regex_replace(kind, kNumber, "N").substr(0, 150);
}

class Bench {
 public:
  explicit Bench(bool is_verbose, std::shared_ptr<const Tokenizer> tokenizer)
      : is_verbose_(is_verbose), tokenizer_(std::move(tokenizer)) {}

  void look_at(const std::string& name, const Json& group) {
    ++n_groups_;
    const std::string schema = group["schema"].dump();
    const double start = microseconds();
    const auto grammar = Grammar::json_schema(schema);
    compile_.push_back(microseconds() - start);
    if (is_verbose_) std::printf("%s: compiled in %.0f us\n", name.c_str(), compile_.back());
    if (!grammar) return fails(name, kind_of(grammar.error().message), grammar.error().message);
    ++n_compiled_;
    bool refuses_valid = false, takes_invalid = false;
    if (group.contains("tests")) {
      for (const Json& test : group["tests"]) {
        const bool is_valid = test["valid"].get<bool>();
        const bool is_taken = (*grammar)->matches(spaced(test["data"]));
        if (is_valid && tokenizer_) follow(*grammar, spaced(test["data"]));
        if (is_taken == is_valid) continue;
        (is_valid ? refuses_valid : takes_invalid) = true;
        if (is_verbose_)
          std::printf("%s: %s: %.400s\n", name.c_str(), is_valid ? "valid, not possible" : "INVALID, POSSIBLE",
                      spaced(test["data"]).c_str());
      }
    }
    if (takes_invalid) return fails(name, "an invalid document is possible", "");
    if (refuses_valid) return fails(name, "a valid document is not possible", "");
    ++n_passed_;
  }

  void print() const {
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [reason, n] : reasons_) sorted.emplace_back(n, reason);
    std::ranges::sort(sorted, std::greater());
    for (const auto& [n, reason] : sorted) std::printf("%6d  %s\n", n, reason.c_str());
    std::printf("%zu schemas: %zu compile, %zu pass\n", n_groups_, n_compiled_, n_passed_);
    print_times("compile", compile_);
    print_times("mask", masks_);
  }

 private:
  void fails(const std::string& name, const std::string& reason, const std::string& message) {
    ++reasons_[reason];
    if (is_verbose_) std::printf("%s: %s %s\n", name.c_str(), reason.c_str(), message.c_str());
  }

  void follow(const std::shared_ptr<const Grammar>& grammar, const std::string& document) {
    GrammarMatcher matcher =
        cache_.matcher(grammar, *tokenizer_, tokenizer_->vocab_size(), tokenizer_->strips_leading_space());
    for (const TokenId token : tokenizer_->encode(document, {.add_bos = false})) {
      const double start = microseconds();
      const auto allowed = matcher.allowed();
      masks_.push_back(microseconds() - start);
      if (!allowed || !grammar::is_in(*allowed->tokens, token)) return;
      matcher.accept(token);
    }
  }

  bool is_verbose_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  GrammarCache cache_;
  size_t n_groups_ = 0, n_compiled_ = 0, n_passed_ = 0;
  std::map<std::string, int> reasons_;
  std::vector<double> compile_, masks_;
};

int run(std::vector<std::string> args) {
  const bool is_verbose = !args.empty() && args[0] == "-v";
  if (is_verbose) args.erase(args.begin());
  if (args.empty() || args.size() > 2) return std::fputs("usage: bench_schemas [-v] FOLDER [TOKENIZER]\n", stderr), 2;
  std::shared_ptr<const Tokenizer> tokenizer;
  if (args.size() == 2) {
    auto loaded = load_tokenizer(args[1]);
    if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 1;
    tokenizer = *std::move(loaded);
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(args[0])) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  Bench bench(is_verbose, std::move(tokenizer));
  for (const auto& file : files) {
    const Json content = Json::parse(std::ifstream(file));
    if (content.is_array()) {
      for (const Json& group : content) {
        bench.look_at(file.stem().string() + ": " + group.value("description", ""), group);
      }
    } else if (content.contains("schema")) {
      bench.look_at(file.stem().string(), content);
    }
  }
  bench.print();
  return 0;
}

}  // namespace
}  // namespace tern

int main(int argc, char** argv) { return tern::run({argv + 1, argv + argc}); }
