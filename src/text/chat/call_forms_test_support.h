// Small chat templates, one for each form of tool calls, and what they write.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/chat_format.h"
#include "text/chat/forms/call_probe.h"

namespace tern::call_forms_test {

// A template that writes `calls` for an assistant's calls, between other turns.
inline std::string template_of(std::string_view calls) {
  return "{{ tools | tojson if tools }}{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
         "{% if m.tool_calls %}" +
         std::string(calls) + "{% endif %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
}

struct Form {
  const char* name;
  const char* calls;  // what the template writes for m.tool_calls
};

// "c.function.arguments" is a dict. A pair's value is written as it is if it is a string.
inline constexpr Form kForms[] = {
    {"JSON in tags",
     "{% for c in m.tool_calls %}<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": "
     "{{ c.function.arguments | tojson }}}\n</tool_call>{{ '\n' if not loop.last }}{% endfor %}"},
    {"JSON list",
     "[TOOL_CALLS][{% for c in m.tool_calls %}{\"name\": \"{{ c.function.name }}\", \"arguments\": "
     "{{ c.function.arguments | tojson }}, \"id\": \"{{ c.id }}\"}{{ ', ' if not loop.last }}{% endfor %}]"},
    {"JSON list with other names",
     "<|ACTION|>[{% for c in m.tool_calls %}{\"tool_call_id\": \"{{ loop.index0 }}\", \"tool_name\": "
     "\"{{ c.function.name }}\", \"parameters\": {{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}"
     "{% endfor %}]<|END_ACTION|>"},
    {"list of names",
     "<|prefix|>[{% for c in m.tool_calls %}{\"{{ c.function.name }}\": {{ c.function.arguments | tojson }}}"
     "{{ ', ' if not loop.last }}{% endfor %}]<|suffix|>"},
    {"name in a tag",
     "{% for c in m.tool_calls %}<function={{ c.function.name }}>{{ c.function.arguments | tojson }}</function>"
     "{% endfor %}"},
    {"name, id and arguments",
     "{% for c in m.tool_calls %}[TOOL_CALLS]{{ c.function.name }}[CALL_ID]{{ c.id }}[ARGS]"
     "{{ c.function.arguments | tojson }}{% endfor %}"},
    {"section with indices",
     "<|section|>{% for c in m.tool_calls %}<|call|>functions.{{ c.function.name }}:{{ loop.index0 }}<|args|>"
     "{{ c.function.arguments | tojson }}<|call_end|>{% endfor %}<|section_end|>"},
    {"section with code blocks",
     "<|calls|>{% for c in m.tool_calls %}<|call|>{{ c.type }}<|sep|>{{ c.function.name }}\n```json\n"
     "{{ c.function.arguments | tojson }}\n```<|call_end|>{{ '\n' if not loop.last }}{% endfor %}<|calls_end|>"},
    {"XML parameters",
     "{% for c in m.tool_calls %}<tool_call>\n<function={{ c.function.name }}>\n{% for k, v in "
     "c.function.arguments.items() %}<parameter={{ k }}>\n{{ v if v is string else v | tojson }}\n</parameter>\n"
     "{% endfor %}</function>\n</tool_call>{{ '\n' if not loop.last }}{% endfor %}"},
    {"XML parameters with Python's values",
     "{% for c in m.tool_calls %}<x:call>\n<function={{ c.function.name }}>\n{% for k, v in "
     "c.function.arguments.items() %}<parameter={{ k }}>{{ v }}</parameter>\n{% endfor %}</function>\n</x:call>"
     "{{ '\n' if not loop.last }}{% endfor %}"},
    {"invoke",
     "\n<m:tool_call>\n{% for c in m.tool_calls %}<invoke name=\"{{ c.function.name }}\">\n{% for k, v in "
     "c.function.arguments.items() %}<parameter name=\"{{ k }}\">{{ v if v is string else v | tojson }}</parameter>\n"
     "{% endfor %}</invoke>\n{% endfor %}</m:tool_call>"},
    {"DSML",
     "\n\n<｜DSML｜calls>\n{% for c in m.tool_calls %}<｜DSML｜invoke name=\"{{ c.function.name }}\">\n{% for k, v in "
     "c.function.arguments.items() %}<｜DSML｜parameter name=\"{{ k }}\" string=\"{{ 'true' if v is string else "
     "'false' "
     "}}\">{{ v if v is string else v | tojson }}</｜DSML｜parameter>\n{% endfor %}</｜DSML｜invoke>\n{% endfor %}"
     "</｜DSML｜calls>"},
    {"XML parameters with CDATA",
     "{% for c in m.tool_calls %}<function name=\"{{ c.function.name }}\">{% for k, v in c.function.arguments.items() "
     "%}"
     "<param name=\"{{ k }}\">{% if v is string and ('<' in v or '&' in v or '\n' in v) %}<![CDATA[{{ v }}]]>"
     "{% else %}{{ v }}{% endif %}</param>{% endfor %}</function>{{ '\n' if not loop.last }}{% endfor %}"},
    {"elements",
     "{% macro xml(v, t) %}{% if v is mapping %}{% for k, x in v.items() %}{{ t }}<{{ k }}>{{ xml(x, t) }}{{ t }}</{{ "
     "k "
     "}}>{% endfor %}{% elif v is iterable and v is not string %}{% for x in v %}{{ t }}<item>{{ xml(x, t) }}{{ t }}"
     "</item>{% endfor %}{% elif v is boolean %}{{ v | tojson }}{% else %}{{ v }}{% endif %}{% endmacro %}"
     "{% set t = ']<]tern[>[' %}{{ t }}<tool_call>\n{% for c in m.tool_calls %}{{ t }}<invoke name=\""
     "{{ c.function.name }}\">{{ xml(c.function.arguments, t) }}{{ t }}</invoke>\n{% endfor %}{{ t }}</tool_call>"},
    {"types in tags of words",
     "<|open|>tools<|sep|>{% for c in m.tool_calls %}<|open|>call tool=\"{{ c.function.name }}\" index=\"{{ loop.index "
     "}}\""
     "<|sep|>{% for k, v in c.function.arguments.items() %}<|open|>argument key=\"{{ k }}\" type=\"{{ 'boolean' if v "
     "is "
     "boolean else 'null' if v is none else 'number' if v is number else 'string' if v is string else 'object' if v is "
     "mapping else 'array' }}\"<|sep|>{{ v if v is string else v | tojson }}<|close|>argument<|sep|>{% endfor %}"
     "<|close|>call<|sep|>{% endfor %}<|close|>tools<|sep|>"},
    {"keys and values",
     "{% for c in m.tool_calls %}\n<tool_call>{{ c.function.name }}\n{% for k, v in c.function.arguments.items() %}"
     "<arg_key>{{ k }}</arg_key>\n<arg_value>{{ v if v is string else v | tojson }}</arg_value>\n{% endfor %}"
     "</tool_call>{% endfor %}"},
    {"keys and values without lines",
     "{% for c in m.tool_calls %}<tool_call>{{ c.function.name }}{% for k, v in c.function.arguments.items() %}"
     "<arg_key>{{ k }}</arg_key><arg_value>{{ v if v is string else v | tojson }}</arg_value>{% endfor %}"
     "</tool_call>{% endfor %}"},
    {"Python",
     "<|call_start|>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}"
     "{{ k }}={% if v is string %}'{{ v | replace(\"'\", \"\\\\'\") }}'{% else %}{{ v }}{% endif %}"
     "{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]<|call_end|>"},
    {"Python with JSON",
     "<|call_start|>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}"
     "{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]"
     "<|call_end|>"},
    {"Gemma",
     "{% macro value(v) %}{% if v is string %}<|\"|>{{ v }}<|\"|>{% elif v is boolean %}{{ 'true' if v else 'false' }}"
     "{% elif v is mapping %}{ {%- for k in v | dictsort %}{{ k[0] }}:{{ value(k[1]) }}{{ ',' if not loop.last }}"
     "{% endfor -%} }{% elif v is iterable %}[{% for one in v %}{{ value(one) }}{{ ',' if not loop.last }}{% endfor %}]"
     "{% else %}{{ v }}{% endif %}{% endmacro %}{% for c in m.tool_calls %}<|tool_call>call:{{ c.function.name }}"
     "{{ value(c.function.arguments) }}<tool_call|>{% endfor %}"},
};

inline constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "look", "description": "c", "parameters": {"type": "object", "properties": {
    "place": {"type": "string"}, "days": {"type": "integer"}, "exact": {"type": "boolean"},
    "more": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "number"}},
      "unit": {"type": "string"}}}}, "required": ["place"]}}},
  {"type": "function", "function": {"name": "look_up", "description": "c", "parameters": {"type": "object",
    "properties": {"place": {"type": ["string", "null"]}}}}},
  {"type": "function", "function": {"name": "now", "description": "c", "parameters": {}}}])";

// Calls whose values are easily confused: strings that look like numbers or contain marks' beginnings.
inline std::vector<std::vector<ToolCall>> conversations() {
  const ToolCall all = {.id = "abcdefghi",
                        .name = "look",
                        .arguments = R"({"place": "Rome <b> \"x\" é", "days": 3, "exact": true, )"
                                     R"("more": {"list": [1, 2.5], "unit": "°C"}})"};
  const ToolCall number = {.id = "bcdefghij", .name = "look", .arguments = R"({"place": "5"})"};
  const ToolCall lines = {.id = "cdefghijk", .name = "look_up", .arguments = R"({"place": "a\n</para <|\nb"})"};
  const ToolCall none = {.id = "defghijkl", .name = "now", .arguments = "{}"};
  return {{all}, {number}, {lines}, {none}, {all, none}, {none, number, lines}};
}

// What the template writes for an assistant's calls.
inline std::string rendered(const ChatTemplate& chat, const std::vector<ToolCall>& calls) {
  const RenderProbe render = [&](const std::vector<ChatMessage>& messages) {
    return chat.render(messages, {.add_generation_prompt = false, .tools = kTools}).value_or(ChatPrompt()).text;
  };
  const std::string text = CallProbe(render).calls(calls);
  const size_t end = text.rfind("<|end|>");
  return end == std::string::npos ? text : text.substr(0, end);
}

}  // namespace tern::call_forms_test
