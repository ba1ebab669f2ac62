#include "text/unicode/case_map.h"

#include <string_view>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// Characters whose upper or title case is several: the character, its upper case, its title case.
constexpr std::string_view kSeveral =
    ";ß,SS,Ss;ŉ,ʼN,ʼN;ǰ,J̌,J̌;ΐ,Ϊ́,Ϊ́;ΰ,Ϋ́,Ϋ́;և,ԵՒ,Եւ;ẖ,H̱,H̱;ẗ,T̈,T̈;ẘ,W̊,W̊;ẙ,Y̊,Y̊;"
    "ẚ,Aʾ,Aʾ;ὐ,Υ̓,Υ̓;ὒ,Υ̓̀,Υ̓̀;ὔ,Υ̓́,Υ̓́;ὖ,Υ̓͂,Υ̓͂;ᾀ,ἈΙ,ᾈ;ᾁ,ἉΙ,ᾉ;ᾂ,ἊΙ,ᾊ;ᾃ,ἋΙ,ᾋ;ᾄ,ἌΙ,ᾌ;ᾅ,ἍΙ,ᾍ;"
    "ᾆ,ἎΙ,ᾎ;ᾇ,ἏΙ,ᾏ;ᾈ,ἈΙ,ᾈ;ᾉ,ἉΙ,ᾉ;ᾊ,ἊΙ,ᾊ;ᾋ,ἋΙ,ᾋ;ᾌ,ἌΙ,ᾌ;ᾍ,ἍΙ,ᾍ;ᾎ,ἎΙ,ᾎ;ᾏ,ἏΙ,ᾏ;ᾐ,ἨΙ,ᾘ;ᾑ,ἩΙ,ᾙ;"
    "ᾒ,ἪΙ,ᾚ;ᾓ,ἫΙ,ᾛ;ᾔ,ἬΙ,ᾜ;ᾕ,ἭΙ,ᾝ;ᾖ,ἮΙ,ᾞ;ᾗ,ἯΙ,ᾟ;ᾘ,ἨΙ,ᾘ;ᾙ,ἩΙ,ᾙ;ᾚ,ἪΙ,ᾚ;ᾛ,ἫΙ,ᾛ;ᾜ,ἬΙ,ᾜ;ᾝ,ἭΙ,ᾝ;"
    "ᾞ,ἮΙ,ᾞ;ᾟ,ἯΙ,ᾟ;ᾠ,ὨΙ,ᾨ;ᾡ,ὩΙ,ᾩ;ᾢ,ὪΙ,ᾪ;ᾣ,ὫΙ,ᾫ;ᾤ,ὬΙ,ᾬ;ᾥ,ὭΙ,ᾭ;ᾦ,ὮΙ,ᾮ;ᾧ,ὯΙ,ᾯ;ᾨ,ὨΙ,ᾨ;ᾩ,ὩΙ,ᾩ;"
    "ᾪ,ὪΙ,ᾪ;ᾫ,ὫΙ,ᾫ;ᾬ,ὬΙ,ᾬ;ᾭ,ὭΙ,ᾭ;ᾮ,ὮΙ,ᾮ;ᾯ,ὯΙ,ᾯ;ᾲ,ᾺΙ,Ὰͅ;ᾳ,ΑΙ,ᾼ;ᾴ,ΆΙ,Άͅ;ᾶ,Α͂,Α͂;ᾷ,Α͂Ι,ᾼ͂;ᾼ,ΑΙ,ᾼ;"
    "ῂ,ῊΙ,Ὴͅ;ῃ,ΗΙ,ῌ;ῄ,ΉΙ,Ήͅ;ῆ,Η͂,Η͂;ῇ,Η͂Ι,ῌ͂;ῌ,ΗΙ,ῌ;ῒ,Ϊ̀,Ϊ̀;ΐ,Ϊ́,Ϊ́;ῖ,Ι͂,Ι͂;ῗ,Ϊ͂,Ϊ͂;"
    "ῢ,Ϋ̀,Ϋ̀;ΰ,Ϋ́,Ϋ́;ῤ,Ρ̓,Ρ̓;ῦ,Υ͂,Υ͂;ῧ,Ϋ͂,Ϋ͂;ῲ,ῺΙ,Ὼͅ;ῳ,ΩΙ,ῼ;ῴ,ΏΙ,Ώͅ;ῶ,Ω͂,Ω͂;ῷ,Ω͂Ι,ῼ͂;"
    "ῼ,ΩΙ,ῼ;ﬀ,FF,Ff;ﬁ,FI,Fi;ﬂ,FL,Fl;ﬃ,FFI,Ffi;ﬄ,FFL,Ffl;ﬅ,ST,St;ﬆ,ST,St;ﬓ,ՄՆ,Մն;ﬔ,ՄԵ,Մե;"
    "ﬕ,ՄԻ,Մի;ﬖ,ՎՆ,Վն;ﬗ,ՄԽ,Մխ;";

struct Cases {
  std::string_view upper, title;  // empty: one character, as Unicode's tables have it
};

Cases several_of(char32_t c) {
  const bool may_be = c == 0xDF || c == 0x149 || c == 0x1F0 || c == 0x390 || c == 0x3B0 || c == 0x587 ||
                      (c >= 0x1E96 && c <= 0x1FFC) || (c >= 0xFB00 && c <= 0xFB17);
  if (!may_be) return {};
  std::string key = ";";
  append_utf8(c, key);
  key += ',';
  const size_t at = kSeveral.find(key);
  if (at == kSeveral.npos) return {};
  const size_t upper = at + key.size(), title = kSeveral.find(',', upper) + 1;
  return {.upper = kSeveral.substr(upper, title - 1 - upper),
          .title = kSeveral.substr(title, kSeveral.find(';', title) - title)};
}

}  // namespace

void append_lower(char32_t c, std::string& out) {
  if (c == 0x130) {
    out += "i\xCC\x87";  // a dotted I
  } else {
    append_utf8(to_lower(c), out);
  }
}

void append_upper(char32_t c, std::string& out) {
  const Cases several = several_of(c);
  if (several.upper.empty()) return append_utf8(to_upper(c), out);
  out += several.upper;
}

void append_title(char32_t c, std::string& out) {
  const Cases several = several_of(c);
  if (several.title.empty()) return append_utf8(to_title(c), out);
  out += several.title;
}

bool is_lower_case(char32_t c) { return to_upper(c) != c || !several_of(c).upper.empty(); }
bool is_upper_case(char32_t c) { return to_lower(c) != c; }

}  // namespace tern
