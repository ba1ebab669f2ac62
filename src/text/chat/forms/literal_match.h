// Compares text that may not be complete yet with a literal text of a form of calls.
#pragma once

#include <cstdint>
#include <string_view>

namespace tern {

enum class Match : uint8_t { kNo, kMaybe, kYes };  // kMaybe: more text is needed

struct Matched {
  Match match;
  size_t end;  // for kYes, the index behind it
};

// Does text[at, …) begin with the literal? White space is less strict than in the literal: models vary it. Between the
// literal's lines and tags, and before it, any is allowed, or none; at its end, at most what the literal has.
Matched match_literal(std::string_view text, size_t at, std::string_view literal);

// Where the tag that begins at `at` ends; `at`: none does. A tag is <…>, or a name and attributes between the control
// tokens <|open|> or <|close|> and <|sep|>. MiniMax's token ]<]…[>[ before a tag is a part of it.
size_t tag_end(std::string_view text, size_t at);

// The end of such a token that begins at `at`; `at`: there is none.
size_t tag_token_end(std::string_view text, size_t at);

// Where the tag begins whose < is at `bracket`.
size_t tag_begin(std::string_view text, size_t bracket);

// Where the last tag of text[0, end) begins, if nothing but white space follows it; npos: there is none.
size_t last_tag(std::string_view text);

// True if the tag `end` closes the tag `begin`, whatever attributes that has.
bool closes(std::string_view end, std::string_view begin);

std::string_view without_end_space(std::string_view text);

// The first tag of a form's literal text, by which a call is recognized: up to the first > or ], whatever opens it.
std::string_view first_tag(std::string_view literal);

}  // namespace tern
