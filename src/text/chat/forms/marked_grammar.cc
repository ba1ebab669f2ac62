#include "text/chat/forms/marked_grammar.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/chat/forms/literal_match.h"

namespace tern {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::string_view kBody = "<|message|>";  // begins the body of gpt-oss's messages
constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_last_space(std::string_view text) { return text.substr(0, text.find_last_not_of(kBlank) + 1); }

// Writes descriptions of grammar/schema/call_rules.h. The tools' schemas are texts and put in as they are, in their
// order of members.
class Writer {
 public:
  explicit Writer(const MarkedCalls& form) : form_(form) {}

  // A call from piece `from` on; the first piece's text is `first` instead.
  std::string call(const std::vector<CalledTool>& tools, std::string_view first, bool is_last) const {
    const auto is_name = [](const CallPiece& piece) { return piece.kind == CallPiece::Kind::kName; };
    const size_t name = static_cast<size_t>(std::ranges::find_if(form_.pieces, is_name) - form_.pieces.begin());
    size_t end = name;
    while (end < form_.pieces.size() && form_.pieces[end].kind != CallPiece::Kind::kArguments) ++end;
    std::string own;
    for (const CalledTool& tool : tools) {
      if (!own.empty()) own += ", ";
      own += R"({"all": [)" + text(tool.name) + pieces(name + 1, end, tool.name, "", false) + ", " + arguments(tool) +
             "]}";
    }
    const std::string before = pieces(0, name, "", first, false);
    return R"({"all": [{"maybe": ""})" + before + R"(, {"any": [)" + own + "]}" +
           pieces(end + 1, form_.pieces.size(), "", "", is_last) + "]}";
  }

  static std::string text(std::string_view value) { return Ordered(value).dump(); }

 private:
  // Each with a comma before it. `name`: the function's.
  std::string pieces(size_t from, size_t to, std::string_view name, std::string_view first, bool is_last) const {
    std::string out;
    for (size_t i = from; i < to; ++i) {
      const CallPiece& piece = form_.pieces[i];
      if (piece.kind == CallPiece::Kind::kName) out += ", " + text(name);
      if (piece.kind == CallPiece::Kind::kId) out += R"(, {"id": true})";
      if (piece.kind == CallPiece::Kind::kIndex) out += R"(, {"index": true})";
      if (piece.kind != CallPiece::Kind::kText) continue;
      std::string_view own = i == 0 ? first : std::string_view(piece.text);
      if (is_last && i + 1 == form_.pieces.size()) own = without_last_space(own);
      out += ", " + (form_.in_channels && own.ends_with(kBody) ? header(own) : text(own));
    }
    return out;
  }

  // What may stand between a function's name and the call's JSON: as the template writes it, or as models do.
  static std::string header(std::string_view own) {
    std::string any = text(own);
    for (const char* channel : {"", "<|channel|>commentary"}) {
      for (const char* type : {"", " json", " <|constrain|>json"}) {
        any += ", " + text(channel + std::string(type) + std::string(kBody));
      }
    }
    return R"({"any": [)" + any + "]}";
  }

  std::string arguments(const CalledTool& tool) const {
    if (form_.values == MarkedCalls::Values::kJson) return R"({"json": )" + tool.schema + "}";
    const char* values = form_.values == MarkedCalls::Values::kText     ? "text"
                         : form_.values == MarkedCalls::Values::kPython ? "python"
                         : form_.values == MarkedCalls::Values::kGemma  ? "gemma"
                                                                        : "elements";
    Ordered marks = {{"values", values},
                     {"key_begin", form_.key_begin},
                     {"key_end", form_.key_end},
                     {"key_end_other", form_.key_end_other},
                     {"value_end", form_.value_end},
                     {"pair_between", form_.pair_between}};
    if (!form_.value_end_name.empty()) marks["value_end_name"] = form_.value_end_name;
    if (!form_.item.empty()) marks["item"] = form_.item;
    if (form_.is_sorted) marks["sorted"] = true;
    if (!form_.type_end.empty()) marks["type_end"] = form_.type_end;
    if (!form_.text_begin.empty()) marks["text_begin"] = form_.text_begin;
    if (!form_.text_end.empty()) marks["text_end"] = form_.text_end;
    return R"({"pairs": )" + tool.schema + ", " + marks.dump().substr(1);
  }

  const MarkedCalls& form_;
};

}  // namespace

ToolCallGrammar marked_call_grammar(const ToolCallFormat& format, const std::vector<CalledTool>& tools,
                                    const std::string& definitions, const ToolChoice& choice) {
  const MarkedCalls& form = *format.marked;
  const Writer writer(form);
  const std::string_view first =
      form.pieces[0].kind == CallPiece::Kind::kText ? std::string_view(form.pieces[0].text) : std::string_view();
  const bool has_section = format.begin.find_first_not_of(kBlank) != std::string::npos;
  // What stands before the first call, or is its beginning: the mark, white space and the rest.
  const std::string_view head = has_section ? std::string_view(format.begin) : first;
  const std::string_view mark = first_tag(head);
  std::string_view rest = head.substr(std::min(head.find(mark) + mark.size(), head.size()));
  const std::string_view space = rest.substr(0, std::min(rest.find_first_not_of(kBlank), rest.size()));
  rest.remove_prefix(space.size());
  const std::string begin(head.substr(0, head.size() - rest.size()));
  std::string items = R"({"maybe": )" + Writer::text(space) + "}";
  const std::string most = choice.parallel && (has_section || choice.is_forced) ? "" : R"(, "most": 1)";
  const auto some = [&](const std::string& call, const std::string& between) {
    items += R"(, {"some": )" + call + R"(, "between": )" + Writer::text(between) + most + "}";
  };
  if (has_section) {
    items += ", " + Writer::text(rest);
    some(writer.call(tools, first, false), form.between);
    items += ", " + Writer::text(without_last_space(format.end));
  } else {
    some(writer.call(tools, rest, true), form.between + begin);
  }
  ToolCallGrammar grammar{.begin = begin, .end = {}};
  const std::string others = items + R"(]}, "$defs": {)" + definitions + "}}";
  grammar.schema = R"({"$calls": {"all": [)" + others;
  const std::string_view fixed = std::string_view(begin).substr(0, begin.size() - space.size());
  grammar.whole = R"({"$calls": {"all": [)" + Writer::text(fixed) + ", " + others;
  grammar.trigger = mark;
  grammar.triggers_only_at_start = mark.empty();
  return grammar;
}

}  // namespace tern
