#include "text/tokenizer_files/tokenizer_json_steps.h"

#include <algorithm>
#include <vector>

#include "text/tokenizer/sentence_piece_model.h"
#include "text/unicode/utf8.h"

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
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PreTokenizer::kQwen35},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", PreTokenizer::kGpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", PreTokenizer::kGpt2},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PreTokenizer::kTekken},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     PreTokenizer::kGpt4o},
    // Several steps, one expression a line. Files have the characters CR and LF in their classes.
    {"\\p{N}{1,3}\n"
     "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+\n"
     R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
     "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
     PreTokenizer::kHunyuan},
};

constexpr size_t kShownPattern = 120;

// The steps under `key` of the root: none, one, or those in the array `parts` of a "Sequence".
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
      if (!part.is_object()) return fail(ErrorCode::kCorruption, "{}: {} has a step that is not an object", path, key);
      steps.push_back(&part);
    }
  }
  return steps;
}

std::unexpected<Error> unknown_step(const char* key, std::string_view type, std::string_view path) {
  return fail(ErrorCode::kNotSupported, "{}: {} of type \"{}\", which Tern does not know", path, key, printable(type));
}

// The Split steps at the beginning of `steps`.
Result<PreTokenizer> read_splits(std::span<const Json* const> steps, std::string_view path) {
  std::string regexes, behavior;
  bool keeps_all = true;
  for (const Json* split : steps) {
    TRY(const std::string type, string_or(*split, "type", "", path));
    if (type != "Split") break;
    TRY(const Json* pattern, member(*split, "pattern", Json::value_t::object, path));
    TRY(const std::string regex, pattern ? string_or(*pattern, "Regex", "", path) : Result<std::string>());
    TRY(behavior, string_or(*split, "behavior", "", path));
    TRY(const bool invert, bool_or(*split, "invert", false, path));
    // A single expression matches all text, so keeping the matches and removing the text between them are the same.
    keeps_all = keeps_all &&
                ((behavior == "Isolated" && !invert) || (behavior == "Removed" && invert && split == steps.front()));
    regexes += (regexes.empty() ? "" : "\n") + regex;
  }
  const auto* known = std::ranges::find(kPatterns, std::string_view(regexes), &KnownPattern::regex);
  if (!keeps_all || known == std::end(kPatterns)) {
    return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer Split ({}) by an expression that Tern does not know: {}",
                path, printable(behavior), printable(regexes, kShownPattern));
  }
  return known->pre;
}

// The name in a piece {"SpecialToken": {"id": name}} of a TemplateProcessing; nullptr for {"Sequence": …}.
Result<const std::string*> special_token_of(const Json& piece, std::string_view path) {
  if (!piece.is_object())
    return fail(ErrorCode::kCorruption, "{}: post_processor.single has a piece that is not an object", path);
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

// Reads BOS, which precedes the text, and the token that ends a text to embed.
Result<void> read_template(const Json& processor, Vocab& vocab, std::string_view path) {
  TRY(const Json* single, member(processor, "single", Json::value_t::array, path));
  if (!single) return fail(ErrorCode::kCorruption, "{}: post_processor TemplateProcessing without \"single\"", path);
  bool text = false;
  for (const Json& piece : *single) {
    TRY(const std::string* name, special_token_of(piece, path));
    if (!name) {
      text = true;
      continue;
    }
    std::optional<TokenId>& place = text ? vocab.final_token : vocab.bos;
    if (place) {
      return fail(ErrorCode::kNotSupported, "{}: post_processor adds '{}', a second token {} the text", path,
                  printable(*name), text ? "behind" : "before");
    }
    TRY(place, id_of_special_token(processor, *name, path));
  }
  vocab.add_bos = vocab.bos.has_value();
  return {};
}

struct Normalizer {
  bool nfc = false;
  bool prepends_space = false;
  bool marks_spaces = false;
};

// True if a Replace step turns `from` into `to`, both given literally.
Result<bool> replaces(const Json& step, std::string_view from, std::string_view to, std::string_view path) {
  TRY(const Json* pattern, member(step, "pattern", Json::value_t::object, path));
  TRY(const std::string what, pattern ? string_or(*pattern, "String", "", path) : Result<std::string>());
  TRY(const std::string content, string_or(step, "content", "", path));
  return what == from && content == to;
}

Result<Normalizer> read_normalizer(const Json& root, std::string_view path) {
  TRY(const auto steps, read_steps(root, "normalizer", "normalizers", path));
  Normalizer normalizer;
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (type == "NFC") {
      normalizer.nfc = true;
    } else if (type == "Prepend" && !normalizer.marks_spaces) {
      TRY(const std::string what, string_or(*step, "prepend", "", path));
      if (what != kSpaceMark) {
        return fail(ErrorCode::kNotSupported, "{}: normalizer Prepend of '{}'; Tern knows U+2581", path,
                    printable(what));
      }
      normalizer.prepends_space = true;
    } else if (type == "Replace") {
      TRY(normalizer.marks_spaces, replaces(*step, " ", kSpaceMark, path));
      if (!normalizer.marks_spaces) {
        return fail(ErrorCode::kNotSupported, "{}: normalizer Replace of something other than a space by U+2581", path);
      }
    } else {
      return unknown_step("normalizer", type, path);
    }
  }
  if (normalizer.prepends_space && !normalizer.marks_spaces) {
    return fail(ErrorCode::kNotSupported, "{}: normalizer Prepend without a Replace of spaces by U+2581", path);
  }
  return normalizer;
}

Result<void> read_metaspace(const Json& step, Vocab& vocab, std::string_view path) {
  TRY(const std::string mark, string_or(step, "replacement", "", path));
  if (mark != kSpaceMark) {
    return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer Metaspace with '{}'; Tern knows U+2581", path,
                printable(mark));
  }
  TRY(const bool add_prefix_space, bool_or(step, "add_prefix_space", true, path));  // in older files
  TRY(const std::string scheme, string_or(step, "prepend_scheme", add_prefix_space ? "always" : "never", path));
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer Metaspace with prepend_scheme \"{}\"", path,
                printable(scheme));
  }
  vocab.space_rule = scheme == "always"  ? SpaceRule::kWhereMissing
                     : scheme == "first" ? SpaceRule::kFirstIfMissing
                                         : SpaceRule::kNone;
  TRY(vocab.split_at_spaces, bool_or(step, "split", true, path));
  return {};
}

// The decoders of a SentencePiece vocabulary restore plain text. They differ only in removing a space.
Result<void> read_decoder(const Json& root, Vocab& vocab, std::string_view path) {
  TRY(const auto steps, read_steps(root, "decoder", "decoders", path));
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (vocab.kind == VocabKind::kByteLevel) {
      if (type != "ByteLevel") return unknown_step("decoder", type, path);
    } else if (type == "Metaspace") {
      TRY(const std::string scheme, string_or(*step, "prepend_scheme", "always", path));
      TRY(const bool add_prefix_space, bool_or(*step, "add_prefix_space", true, path));
      vocab.decode_strips_space = scheme != "never" && add_prefix_space;
    } else if (type == "Strip") {
      TRY(const std::string content, string_or(*step, "content", "", path));
      if (content != " " || step->value("start", Json()) != 1 || step->value("stop", Json()) != 0) {
        return fail(ErrorCode::kNotSupported, "{}: decoder Strip of something other than one space at the front", path);
      }
      vocab.decode_strips_space = true;
    } else if (type == "Replace") {
      TRY(const bool plain, replaces(*step, kSpaceMark, " ", path));
      if (!plain) {
        return fail(ErrorCode::kNotSupported, "{}: decoder Replace of something other than U+2581 by a space", path);
      }
    } else if (type != "ByteFallback" && type != "Fuse") {
      return unknown_step("decoder", type, path);
    }
  }
  return {};
}

// A Digits step separates every digit before GPT-2's expression splits the rest, as in SmolLM.
Result<PreTokenizer> read_digits(const Json& step, std::string_view path) {
  TRY(const bool individual, bool_or(step, "individual_digits", false, path));
  if (individual) return PreTokenizer::kSmolLm;
  return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer Digits without individual_digits, which Tern does not know",
              path);
}

Result<PreTokenizer> read_byte_level(const std::vector<const Json*>& steps, std::string_view path) {
  std::optional<PreTokenizer> pre;
  bool byte_level = false, has_split = false;
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (byte_level) return unknown_step("a pre_tokenizer after ByteLevel", type, path);
    if (type == "Split" && has_split) continue;  // read with the first
    if (type == "Split" && !pre) {
      TRY(pre, read_splits(steps, path));
      has_split = true;
    } else if (type == "Digits" && !pre) {
      TRY(pre, read_digits(*step, path));
    } else if (type == "ByteLevel") {
      byte_level = true;
      TRY(const bool use_regex, bool_or(*step, "use_regex", true, path));
      TRY(const bool add_prefix_space, bool_or(*step, "add_prefix_space", true, path));
      const bool has_digits = pre == PreTokenizer::kSmolLm;
      if (add_prefix_space || (use_regex && pre && !has_digits) || (!use_regex && has_digits)) {
        return fail(ErrorCode::kNotSupported, "{}: pre_tokenizer ByteLevel with {}, which Tern does not know", path,
                    add_prefix_space ? "add_prefix_space"
                    : use_regex      ? "a second expression"
                                     : "Digits and no expression");
      }
      if (use_regex && !pre) pre = PreTokenizer::kGpt2;
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

// Gemma's only step. It has no effect: the normalizer has marked all spaces, so none are left to split at.
Result<bool> is_split_at_spaces(const std::vector<const Json*>& steps, std::string_view path) {
  if (steps.size() != 1) return false;
  TRY(const std::string type, string_or(*steps[0], "type", "", path));
  TRY(const Json* pattern, member(*steps[0], "pattern", Json::value_t::object, path));
  TRY(const std::string at, pattern ? string_or(*pattern, "String", "", path) : Result<std::string>());
  return type == "Split" && at == " ";
}

}  // namespace

Result<void> read_text_steps(const Json& root, Vocab& vocab, std::string_view path) {
  TRY(const Normalizer normalizer, read_normalizer(root, path));
  TRY(const auto steps, read_steps(root, "pre_tokenizer", "pretokenizers", path));
  TRY(const std::string first, steps.empty() ? Result<std::string>() : string_or(*steps[0], "type", "", path));
  const bool metaspace = first == "Metaspace";
  if (metaspace || normalizer.marks_spaces) {
    vocab.kind = VocabKind::kSentencePiece;
    if (normalizer.nfc) {
      return fail(ErrorCode::kNotSupported, "{}: normalizer NFC with a SentencePiece vocabulary", path);
    }
    TRY(const bool splits_nothing, is_split_at_spaces(steps, path));
    const bool known = steps.empty() || (steps.size() == 1 && (metaspace || splits_nothing));
    if (!known || (metaspace && normalizer.marks_spaces)) {
      return unknown_step("beside U+2581 for spaces a pre_tokenizer", first, path);
    }
    vocab.space_rule = normalizer.prepends_space ? SpaceRule::kEverywhere : SpaceRule::kNone;
    if (metaspace) TRY_STATUS(read_metaspace(*steps[0], vocab, path));
  } else {
    vocab.nfc = normalizer.nfc;
    TRY(vocab.pre, read_byte_level(steps, path));
  }
  return read_decoder(root, vocab, path);
}

Result<void> read_frame(const Json& root, Vocab& vocab, std::string_view path) {
  TRY(const auto steps, read_steps(root, "post_processor", "processors", path));
  bool has_template = false;
  for (const Json* step : steps) {
    TRY(const std::string type, string_or(*step, "type", "", path));
    if (type == "TemplateProcessing" && !has_template) {
      TRY_STATUS(read_template(*step, vocab, path));
      has_template = true;
    } else if (type != "ByteLevel") {  // ByteLevel only changes offsets
      return unknown_step("post_processor", type, path);
    }
  }
  return {};
}

}  // namespace tern
