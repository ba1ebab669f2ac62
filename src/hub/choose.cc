#include "hub/choose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/text/human_numbers.h"

namespace tern::hub {
namespace {

// Names of formats in files, the best choice first; other formats must be named by the user. First come Tern's main
// formats, one bit and ternary. Q2_0 without more is the deprecated layout with groups of 128, which is now called
// PQ2_0; both come after the groups of 64. Then come eight bits, which lose almost nothing, and so on to large formats.
constexpr auto kPreferred = std::to_array<std::string_view>(
    {"i2_s", "q1_0",   "q1_0_g128", "q2_0_g64", "pq2_0",  "q2_0",   "q2_0_g128", "tq2_0",  "tq1_0",  "q8_0",   "q8",
     "q6_k", "q4_k_m", "q4",        "q4_0",     "bf16",   "f16",    "fp16",      "q5_k_m", "q5_k_s", "q4_k_s", "q5_1",
     "q5_0", "q4_1",   "iq4_xs",    "iq4_nl",   "q3_k_l", "q3_k_m", "q3_k_s",    "q2_k",   "f32"});
constexpr size_t kMaxListed = 12;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// NAME-00002-of-00003.gguf. `part` and `parts` are 1 for a file that is not split.
struct SplitName {
  std::string stem;
  int part = 1;
  int parts = 1;
};

SplitName split_name(const std::string& path) {
  constexpr size_t kTail = std::string_view("-00001-of-00003.gguf").size();
  SplitName name{.stem = path};
  if (path.size() <= kTail) return name;
  const std::string_view tail = std::string_view(path).substr(path.size() - kTail);
  const auto is_number = [](std::string_view digits) {
    return std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || !is_number(tail.substr(1, 5)) || !is_number(tail.substr(10, 5)))
    return name;
  name.stem = path.substr(0, path.size() - kTail);
  name.part = std::stoi(std::string(tail.substr(1, 5)));
  name.parts = std::stoi(std::string(tail.substr(10, 5)));
  return name;
}

// One model in GGUF: a file, or all parts of a split one.
struct Candidate {
  std::string path;  // of the first part
  std::vector<RemoteFile> parts;
  std::optional<uint64_t> size = 0;
};

// Files that accompany a model, recognized by their usual names.
bool is_companion(const std::string& path) {
  const std::string name = lower(base_name(path));
  return name.starts_with("mmproj") || name.contains("imatrix");
}

std::vector<Candidate> gguf_candidates(const Listing& listing) {
  std::vector<RemoteFile> files;
  std::ranges::copy_if(listing.files, std::back_inserter(files), [](const RemoteFile& file) {
    return lower(file.path).ends_with(".gguf") && !is_companion(file.path);
  });
  std::ranges::sort(files, {}, &RemoteFile::path);  // the parts of a split file follow each other
  std::vector<Candidate> candidates;
  std::string stem;
  for (const RemoteFile& file : files) {
    const SplitName name = split_name(file.path);
    const bool continues = name.parts > 1 && !candidates.empty() && stem == name.stem;
    if (!continues) candidates.push_back({.path = file.path, .parts = {}, .size = 0});
    stem = name.stem;
    Candidate& candidate = candidates.back();
    candidate.parts.push_back(file);
    if (!file.size || !candidate.size) {
      candidate.size.reset();
    } else {
      *candidate.size += *file.size;
    }
  }
  return candidates;
}

std::string list_of(const std::vector<Candidate>& candidates) {
  std::string list;
  for (const Candidate& candidate : std::span(candidates).first(std::min(candidates.size(), kMaxListed))) {
    list += format_text("{}{} ({})", list.empty() ? "" : ", ", candidate.path,
                        candidate.size ? human_bytes(*candidate.size) : "size unknown");
  }
  if (candidates.size() > kMaxListed) list += format_text(" and {} more", candidates.size() - kMaxListed);
  return list;
}

// True if `tag` is in `name` (both lower case) with no letter, digit or '_' before it and, with `whole`, nothing after
// it that could belong to a longer tag: "q2_0" is in "x-q2_0.gguf" and, unless whole, in "x-q2_0_g128.gguf", but not in
// "x-tq2_0.gguf".
bool has_tag(const std::string& name, std::string_view tag, bool whole) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = name.find(tag); at != std::string::npos; at = name.find(tag, at + 1)) {
    const size_t end = at + tag.size();
    const bool starts = at == 0 || !is_word(name[at - 1]);
    const bool ends = end == name.size() || !(whole ? is_word(name[end]) : std::isalnum(name[end]) != 0);
    if (starts && ends) return true;
  }
  return false;
}

std::vector<Candidate> those(const std::vector<Candidate>& candidates,
                             const std::function<bool(const std::string& name)>& fits) {
  std::vector<Candidate> found;
  std::ranges::copy_if(candidates, std::back_inserter(found),
                       [&](const Candidate& candidate) { return fits(lower(candidate.path)); });
  return found;
}

Result<Choice> take(const Candidate& candidate, std::string_view source) {
  const int expected = split_name(candidate.path).parts;
  const bool complete = std::cmp_equal(candidate.parts.size(), expected) && split_name(candidate.path).part == 1;
  if (expected > 1 && !complete) {
    return fail(ErrorCode::kNotFound, "{}: {} has {} parts, and only {} are there", source, candidate.path, expected,
                candidate.parts.size());
  }
  return Choice{.files = candidate.parts, .model = candidate.path};
}

// The matches by the strictest way of reading `wanted` that has any.
std::vector<Candidate> matches(const std::vector<Candidate>& candidates, const std::string& wanted) {
  const std::string text = lower(wanted);
  const std::array<std::function<bool(const std::string&)>, 4> ways = {
      [&](const std::string& name) { return name == text || name == text + ".gguf"; },
      [&](const std::string& name) { return has_tag(name, text, true); },
      [&](const std::string& name) { return has_tag(name, text, false); },
      [&](const std::string& name) { return name.contains(text); },
  };
  for (const auto& way : ways) {
    if (std::vector<Candidate> found = those(candidates, way); !found.empty()) return found;
  }
  return {};
}

Result<Choice> choose_named(const Listing& listing, const std::vector<Candidate>& candidates, const std::string& wanted,
                            std::string_view source) {
  // Any part of a split file stands for the whole file.
  for (const Candidate& candidate : candidates) {
    if (std::ranges::contains(candidate.parts, wanted, &RemoteFile::path)) return take(candidate, source);
  }
  const auto exact = std::ranges::find(listing.files, wanted, &RemoteFile::path);
  if (exact != listing.files.end()) return Choice{.files = {*exact}, .model = exact->path};
  const std::vector<Candidate> found = matches(candidates, wanted);
  if (found.size() == 1) return take(found.front(), source);
  if (!found.empty()) {
    return fail(ErrorCode::kNotFound, "{}: several files fit '{}': {}; name one of them after the colon", source,
                wanted, list_of(found));
  }
  if (candidates.empty()) {
    return fail(ErrorCode::kNotFound, "{}: there is no file '{}', nor any GGUF file", source, wanted);
  }
  return fail(ErrorCode::kNotFound, "{}: there is no file '{}'; there are {}", source, wanted, list_of(candidates));
}

Result<Choice> choose_gguf(const std::vector<Candidate>& candidates, std::string_view source) {
  if (candidates.size() == 1) return take(candidates.front(), source);
  for (const std::string_view tag : kPreferred) {
    const auto found = those(candidates, [&](const std::string& name) { return has_tag(name, tag, true); });
    if (found.size() == 1) return take(found.front(), source);
    if (!found.empty()) {
      return fail(ErrorCode::kNotFound, "{}: several models to choose from: {}; name one as {}:FILE", source,
                  list_of(found), source);
    }
  }
  return fail(ErrorCode::kNotFound, "{}: several models to choose from: {}; name one as {}:FILE", source,
              list_of(candidates), source);
}

bool is_tokenizer_file(std::string_view path) {
  constexpr std::array<std::string_view, 10> kNames = {
      "tokenizer.json",    "tokenizer_config.json", "tokenizer.model",     "special_tokens_map.json",
      "added_tokens.json", "chat_template.json",    "chat_template.jinja", "vocab.json",
      "merges.txt",        "generation_config.json"};
  return std::ranges::contains(kNames, path);
}

bool is_shard(std::string_view path) {
  // model-00001-of-00002.safetensors
  constexpr std::string_view kEnd = ".safetensors";
  if (!path.ends_with(kEnd)) return false;
  std::string as_gguf(path.substr(0, path.size() - kEnd.size()));
  return split_name(as_gguf + ".gguf").parts > 1;
}

// Selects the weights of a safetensors model. Some repositories have them twice, split and as one file.
std::function<bool(std::string_view)> safetensors_rule(const auto& has) {
  if (has("model.safetensors.index.json")) return is_shard;
  if (has("model.safetensors")) return [](std::string_view path) { return path == "model.safetensors"; };
  return [](std::string_view path) { return path.ends_with(".safetensors"); };
}

Result<Choice> choose_folder(const Listing& listing, std::string_view source) {
  const auto has = [&](std::string_view path) { return std::ranges::contains(listing.files, path, &RemoteFile::path); };
  const bool is_mlc = has("mlc-chat-config.json");
  const auto is_weights =
      is_mlc ? [](std::string_view path) { return path.starts_with("params_shard_") && path.ends_with(".bin"); }
             : safetensors_rule(has);
  const auto is_description = [&](std::string_view path) {
    if (is_tokenizer_file(path)) return true;
    return is_mlc ? path == "mlc-chat-config.json" || path == "ndarray-cache.json" || path == "tensor-cache.json"
                  : path == "config.json" || path == "model.safetensors.index.json";
  };
  Choice choice;
  std::vector<RemoteFile> weights;
  for (const RemoteFile& file : listing.files) {
    if (file.path.contains('/')) continue;
    if (is_description(file.path)) choice.files.push_back(file);
    if (is_weights(file.path)) weights.push_back(file);
  }
  if (weights.empty() || !(is_mlc || has("config.json"))) {
    return fail(ErrorCode::kNotFound,
                "{}: there is no GGUF file, and no safetensors or MLC model either; Tern has nothing to load", source);
  }
  choice.files.insert(choice.files.end(), weights.begin(), weights.end());
  return choice;
}

}  // namespace

Result<Choice> choose(const Listing& listing, const std::string& wanted, std::string_view source) {
  const std::vector<Candidate> candidates = gguf_candidates(listing);
  if (!wanted.empty()) return choose_named(listing, candidates, wanted, source);
  if (!candidates.empty()) return choose_gguf(candidates, source);
  return choose_folder(listing, source);
}

}  // namespace tern::hub
