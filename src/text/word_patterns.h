// The regular expressions of the pre-tokenizers, in what the languages of PCRE2 and of JavaScript (flag u) share.
#pragma once

#include "text/vocab.h"

namespace tern {

// Hugging Face runs these expressions on Oniguruma, whose \s is Unicode's White_Space. PCRE2's adds U+180E, which has
// been no space since Unicode 6.3, and JavaScript's U+FEFF, so the class is spelled out. So are the expressions' own
// (?i:'s|…) in both cases; s has a third one, ſ (U+017F).
#define TERN_SPACE R"(\t-\r \x85\p{Z})"
#define TERN_SHORT_FORMS "'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"

inline constexpr const char* kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" TERN_SPACE R"(\p{L}\p{N}]+|[)" TERN_SPACE
    R"(]+(?![^)" TERN_SPACE R"(])|[)" TERN_SPACE R"(]+)";

// The two differ only in how many digits make a word.
#define TERN_LLAMA_LIKE(digits)                                                                                       \
  TERN_SHORT_FORMS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)" digits R"(| ?[^)" TERN_SPACE R"(\p{L}\p{N}]+[\r\n]*|[)" TERN_SPACE \
                   R"(]*[\r\n]+|[)" TERN_SPACE R"(]+(?![^)" TERN_SPACE R"(])|[)" TERN_SPACE R"(]+)"
inline constexpr const char* kLlamaBpeWords = TERN_LLAMA_LIKE(R"(\p{N}{1,3})");
inline constexpr const char* kQwen2Words = TERN_LLAMA_LIKE(R"(\p{N})");

#undef TERN_LLAMA_LIKE
#undef TERN_SHORT_FORMS
#undef TERN_SPACE

constexpr const char* word_pattern(PreTokenizer kind) {
  switch (kind) {
    case PreTokenizer::kGpt2:
      return kGpt2Words;
    case PreTokenizer::kLlamaBpe:
      return kLlamaBpeWords;
    case PreTokenizer::kQwen2:
      return kQwen2Words;
  }
  return kGpt2Words;
}

}  // namespace tern
