#include "text/tokenizer_json_steps.h"

#include <algorithm>
#include <vector>

#include "text/utf8.h"

namespace tern {
namespace {

struct KnownPattern {
  std::string_view regex;
  PreTokenizer pre;
};
constexpr KnownPattern kPatterns[] = {
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PreTokenizer::kLlamaBpe},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PreTokenizer::kQwen2},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", PreTokenizer::kGpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", PreTokenizer::kGpt2},
};

constexpr size_t kShownPattern = 120;

// The steps under `key` of the root: none, one, or those of a "Sequence" in its array `parts`.
Result<std::vector<const Json*>> read_steps(const Json& root, const char* key, const char* parts,
                                            std::string_view path) {
  TRY(const Json* step, member(root, key, Json::value_t::object, path));
  if (!step) return std::vector<const Json*>{};
  TRY(const std::string type, string_or(*step, "type", "", path));
  if (type != "Sequence") return std::vector{step};
  TRY(const Json* sequence, member(*step, parts, Json::value_t::array, path));
  std::vector<const Json*> steps;
  if (sequence) {
    for (const Json& part : *sequence) {
      if (!part.is_object()) return fail(ErrorCode::kCorruption, "{}: {} has a step that is no object", path, key);
      steps.push_back(&part);
    }
  }
  return steps;
}

std::unexpected<Error> unknown_step(const char* key, std::string_view type, std::string_view path) {
  return fail(ErrorCode::kNotSupported, "{}: {} of type \"{}\", which Tern does not know", path, key, printable(type));
}

Result<PreTokenizer> read_split(const Json& split, std::string_view path) {
  TRY(const Json* pattern, member(split, "pattern", Json::value_t::object, path));
  TRY(const std::string regex, pattern ? string_or(*pattern, "Regex", "", path) : Result<std::string>());
  TRY(const std::string behavior, string_or(split, "behavior", "", path));
  TRY(const bool invert, bool_or(split, "invert", false, path));
  // The expressions match everything, so keeping the matches and removing what is between them is the same.
  const bool keeps_all = (behavior == "Isolated" && !invert) || (behavior == "Removed" && invert);
  const auto* known = std::ranges::find(kPatterns, std::string_view(regex), &KnownPattern::regex);
  if (!keeps_all || known == std::end(kPatterns)) {
    return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer Split ({}) by an expression that Tern does not know: {}",
                path, printable(behavior), printable(regex, kShownPattern));
  }
  return known->pre;
}

// One piece of a TemplateProcessing: {"SpecialToken": {"id": name}} or {"Sequence": …}. The name, or nullptr.
Result<const std::string*> special_token_of(const Json& piece, std::string_view path) {
  if (!piece.is_object())
    return fail(ErrorCode::kCorruption, "{}: post_processor.single has a piece that is no object", path);
  TRY(const Json* special, member(piece, "SpecialToken", Json::value_t::object, path));
  if (!special) return nullptr;
  TRY(const Json* id, member(*special, "id", Json::value_t::string, path));
  if (!id) return fail(ErrorCode::kCorruption, "{}: post_processor.single names a SpecialToken without \"id\"", path);
  return id->get_ptr<const std::string*>();
}

Result<TokenId> id_of_special_token(const Json& processor, const std::string& name, std::string_view path) {
  TRY(const Json* tokens, member(processor, "special_tokens", Json::value_t::object, path));
  const auto token = tokens ? tokens->find(name) : Json::const_iterator();
  if (tokens && token != tokens->end() && token->is_object()) {
    TRY(const Json* ids, member(*token, "ids", Json::value_t::array, path));
    if (ids && ids->size() == 1 && (*ids)[0].is_number_integer() && (*ids)[0] >= 0 && (*ids)[0] <= INT32_MAX) {
      return (*ids)[0].get<TokenId>();
    }
  }
  return fail(ErrorCode::kCorruption, "{}: post_processor.special_tokens gives no id for '{}'", path, printable(name));
}

Result<std::optional<TokenId>> read_template(const Json& processor, std::string_view path) {
  TRY(const Json* single, member(processor, "single", Json::value_t::array, path));
  if (!single) return fail(ErrorCode::kCorruption, "{}: post_processor TemplateProcessing without \"single\"", path);
  std::optional<TokenId> bos;
  for (size_t i = 0; i < single->size(); ++i) {
    TRY(const std::string* name, special_token_of((*single)[i], path));
    if (!name) continue;
    if (i != 0) {
      return fail(ErrorCode::kNotSupported, "{}: post_processor adds '{}' elsewhere than at the start", path,
                  printable(*name));
    }
    TRY(bos, id_of_special_token(processor, *name, path));
  }
  return bos;
}

}  // namespace

Result<bool> read_normalizer(const Json& root, std::string_view path) {
  TRY(const auto steps, read_steps(root, "normalizer", "normalizers", path));
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (type != "NFC") return unknown_step("normalizer", type, path);
  }
  return !steps.empty();
}

Result<PreTokenizer> read_pre_tokenizer(const Json& root, std::string_view path) {
  TRY(const auto steps, read_steps(root, "pre_tokenizer", "pretokenizers", path));
  std::optional<PreTokenizer> pre;
  bool byte_level = false;
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (byte_level) return unknown_step("a pre_tokenizer after ByteLevel", type, path);
    if (type == "Split" && !pre) {
      TRY(pre, read_split(*step, path));
    } else if (type == "ByteLevel") {
      byte_level = true;
      TRY(const bool use_regex, bool_or(*step, "use_regex", true, path));
      TRY(const bool add_prefix_space, bool_or(*step, "add_prefix_space", true, path));
      if (add_prefix_space || (use_regex && pre)) {
        return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer ByteLevel with {}, which Tern does not know", path,
                    add_prefix_space ? "add_prefix_space" : "a second expression");
      }
      if (use_regex) pre = PreTokenizer::kGpt2;
    } else {
      return unknown_step("a pre_tokenizer", type, path);
    }
  }
  if (!byte_level || !pre) {
    return fail(ErrorCode::kNotSupported,
                "{}: pre_tokenizer is not a Split by a known expression followed by ByteLevel", path);
  }
  return *pre;
}

Result<std::optional<TokenId>> read_bos(const Json& root, std::string_view path) {
  TRY(const auto steps, read_steps(root, "post_processor", "processors", path));
  std::optional<TokenId> bos;
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (type == "TemplateProcessing" && !bos) {
      TRY(bos, read_template(*step, path));
    } else if (type != "ByteLevel") {  // ByteLevel only moves offsets
      return unknown_step("post_processor", type, path);
    }
  }
  return bos;
}

}  // namespace tern
