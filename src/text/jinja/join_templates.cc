#include "text/jinja/join_templates.h"

namespace tern {

std::string join_chat_templates(std::string_view with_tools, std::string_view without) {
  // Neither loses white space to the tags around it, nor keeps the line break at its end that templates lose.
  constexpr std::string_view kNothing = "{{ '' }}";
  const auto own = [&](std::string_view source) {
    if (source.ends_with('\n')) source.remove_suffix(1);
    return std::string(kNothing) + std::string(source) + std::string(kNothing);
  };
  return "{% if tools %}" + own(with_tools) + "{% else %}" + own(without) + "{% endif %}";
}

}  // namespace tern
