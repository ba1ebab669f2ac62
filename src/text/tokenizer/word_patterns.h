// The regular expressions of the pre-tokenizers, in the common subset of PCRE2 and JavaScript (flag u).
#pragma once

#include "text/tokenizer/vocab.h"

namespace tern {

// Hugging Face runs these expressions on Oniguruma, whose \s is Unicode's White_Space. PCRE2 adds U+180E, which has not
// been a space since Unicode 6.3, and JavaScript adds U+FEFF, so the class is spelled out. So are both cases of the
// expressions' own (?i:'s|…); s also has a third one, ſ (U+017F).
#define TERN_SPACE R"(\t-\r \x85\p{Z})"
#define TERN_SHORT_FORMS "'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"

#define TERN_GPT2_FORMS R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+)"
#define TERN_GPT2_OTHERS R"( ?[^)" TERN_SPACE R"(\p{L}\p{N}]+)"
inline constexpr const char* kGpt2Words = TERN_GPT2_FORMS R"(| ?\p{N}+|)" TERN_GPT2_OTHERS R"(|[)" TERN_SPACE
                                                          R"(]+(?![^)" TERN_SPACE R"(])|[)" TERN_SPACE R"(]+)";

// Digits are split off before GPT-2's expression is applied, so white space before a digit counts as being at the end.
inline constexpr const char* kSmolLmWords = R"(\p{N}|)" TERN_GPT2_FORMS "|" TERN_GPT2_OTHERS R"(|[)" TERN_SPACE
                                            R"(]+(?![^)" TERN_SPACE R"(\p{N}])|[)" TERN_SPACE R"(]+)";

// The expressions differ in how many digits make a word, and in whether combining marks are letters. `letters`: inside
// a class.
#define TERN_LLAMA_LIKE(word, letters, digits)                                                          \
  TERN_SHORT_FORMS R"(|[^\r\n\p{L}\p{N}]?)" word "|" digits R"(| ?[^)" TERN_SPACE letters               \
                   R"(\p{N}]+[\r\n]*|[)" TERN_SPACE R"(]*[\r\n]+|[)" TERN_SPACE R"(]+(?![^)" TERN_SPACE \
                   R"(])|[)" TERN_SPACE R"(]+)"
inline constexpr const char* kLlamaBpeWords = TERN_LLAMA_LIKE(R"(\p{L}+)", R"(\p{L})", R"(\p{N}{1,3})");
inline constexpr const char* kQwen2Words = TERN_LLAMA_LIKE(R"(\p{L}+)", R"(\p{L})", R"(\p{N})");
inline constexpr const char* kQwen35Words = TERN_LLAMA_LIKE(R"([\p{L}\p{M}]+)", R"(\p{L}\p{M})", R"(\p{N})");

// A new word begins where a capital letter follows a small one. `ending`: what may follow the letters.
#define TERN_CAPITALS R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define TERN_SMALLS R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define TERN_BY_CASE(ending, digits)                                                                      \
  R"([^\r\n\p{L}\p{N}]?)" TERN_CAPITALS "*" TERN_SMALLS "+" ending R"(|[^\r\n\p{L}\p{N}]?)" TERN_CAPITALS \
  "+" TERN_SMALLS "*" ending "|" digits R"(| ?[^)" TERN_SPACE R"(\p{L}\p{N}]+[\r\n/]*|[)" TERN_SPACE      \
  R"(]*[\r\n]+|[)" TERN_SPACE R"(]+(?![^)" TERN_SPACE R"(])|[)" TERN_SPACE R"(]+)"
inline constexpr const char* kTekkenWords = TERN_BY_CASE("", R"(\p{N})");
inline constexpr const char* kGpt4oWords = TERN_BY_CASE("(?:" TERN_SHORT_FORMS ")?", R"(\p{N}{1,3})");

// Hunyuan splits three times: digits, Chinese and Japanese characters, and everything by the last expression. There,
// the border of a split counts as the end of the text. A run of characters that the last expression leaves out is one
// word.
#define TERN_KANJI "\u4E00-\u9FA5\u3040-\u30FF"
#define TERN_LETTERS_AND_MARKS(of) "(?:" of R"([^\r\n\p{L}\p{N}\p{P}\p{S}])?(?:)" of R"([\p{L}\p{M}])+|)"
#define TERN_LEFT_OUT(of, spaces) "(?:" of "[^" spaces R"(\p{L}\p{M}\p{N}\p{P}\p{S}])+(?!)" of R"([\p{L}\p{M}]))"
#define TERN_YES "(?=[" TERN_KANJI "])"
#define TERN_NO "(?![" TERN_KANJI "])"
inline constexpr const char* kHunyuanWords = R"(\p{N}{1,3}|)" TERN_LETTERS_AND_MARKS(
    TERN_YES) "(?:" TERN_YES
              R"([\p{P}\p{S}])+|)" TERN_LEFT_OUT(TERN_YES, "") R"(|[!-\/:-@\[-`{-~][A-Za-z]+|)" TERN_LETTERS_AND_MARKS(
                  TERN_NO) " ?(?:" TERN_NO R"([\p{P}\p{S}])+[\r\n]*|[)" TERN_SPACE R"(]*[\r\n]+|[)" TERN_SPACE
                           R"(]+(?![^)" TERN_SPACE R"(\p{N})" TERN_KANJI R"(])|[)" TERN_SPACE
                           R"(]+|)" TERN_LEFT_OUT(TERN_NO, TERN_SPACE);

#undef TERN_NO
#undef TERN_YES
#undef TERN_LEFT_OUT
#undef TERN_LETTERS_AND_MARKS
#undef TERN_KANJI
#undef TERN_BY_CASE
#undef TERN_SMALLS
#undef TERN_CAPITALS
#undef TERN_LLAMA_LIKE
#undef TERN_GPT2_OTHERS
#undef TERN_GPT2_FORMS
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
    case PreTokenizer::kQwen35:
      return kQwen35Words;
    case PreTokenizer::kSmolLm:
      return kSmolLmWords;
    case PreTokenizer::kTekken:
      return kTekkenWords;
    case PreTokenizer::kGpt4o:
      return kGpt4oWords;
    case PreTokenizer::kHunyuan:
      return kHunyuanWords;
  }
  return kGpt2Words;
}

}  // namespace tern
