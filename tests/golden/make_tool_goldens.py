#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/tool_chat.json: conversations with tools, rendered by Jinja as transformers sets it up.

    make_tool_goldens.py TEMPLATE.jinja...

TEMPLATE.jinja: published chat templates, which are not part of the repository; the small ones below are. Needs jinja2
(Debian: python3-jinja2). Where a template objects, the golden holds its message instead of a text. With --check it writes
nothing and renders the conversations of chat.json, which transformers itself has rendered, to see that its way is ours.
"""

import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent / "tokenizer"

# Calls between tags, as Qwen's and Hermes' templates have them; results are the user's.
TAGGED = """{% if tools %}<|start|>system
{{ messages[0].content ~ '\\n\\n' if messages[0].role == 'system' }}Tools:
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}Call them as <tool_call>
{"name": NAME, "arguments": OBJECT}
</tool_call><|stop|>
{% elif messages[0].role == 'system' %}<|start|>system
{{ messages[0].content }}<|stop|>
{% endif %}
{%- for m in messages if m.role != 'system' %}
{% if m.role == 'tool' %}<|start|>user
<tool_response>{{ m.content }}</tool_response><|stop|>
{% else %}<|start|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content.strip('\\n') }}
</think>

{% endif %}{{ m.content }}
{%- for call in m.tool_calls or [] %}{{ '\\n' if m.content or not loop.first }}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|stop|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|start|>assistant
{% if enable_thinking is defined and not enable_thinking %}<think>

</think>

{% endif %}{% endif %}"""

# A reply that is a call is JSON and nothing else, as Llama 3's.
BARE = """{{ bos_token }}{% if tools is not none %}[tools]{% for tool in tools %}{{ tool | tojson(indent=2) }}
{% endfor %}answer as {"name": NAME, "parameters": OBJECT}
{% endif %}{% for m in messages %}[{{ m.role }}]{% if 'tool_calls' in m %}
{%- if m.tool_calls | length != 1 %}{{ raise_exception('one call at a time') }}{% endif %}
{%- set call = m.tool_calls[0].function %}{"name": "{{ call.name }}", "parameters": {{ call.arguments | tojson }}}
{%- else %}{{ m.content | trim }}{% endif %}[end]{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"""

# A list of calls after a mark, with ids of nine letters, as Mistral's.
LISTED = """{{ bos_token }}{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}
{%- for m in messages %}{% if m.tool_calls is defined %}[TOOL_CALLS] [
{%- for call in m.tool_calls %}{% if call.id is undefined or call.id | length != 9 %}
{{- raise_exception('ids have nine letters') }}{% endif %}
{{- '{"name": "' ~ call.function.name ~ '", "arguments": ' ~ (call.function.arguments | tojson) ~ ', "id": "' ~ call.id ~ '"}' }}
{{- ', ' if not loop.last }}{% endfor %}]{{ eos_token }}
{%- elif m.role == 'tool' %}[TOOL_RESULTS]{"content": {{ m.content | tojson }}, "call_id": "{{ m.tool_call_id }}"}[/TOOL_RESULTS]
{%- elif m.role == 'assistant' %} {{ m.content }}{{ eos_token }}{% else %}[INST] {{ m.content }}[/INST]{% endif %}
{%- endfor %}"""

# Knows of no tools, as most.
PLAIN = """{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}{{ '<assistant>' if add_generation_prompt }}"""

TEMPLATES = {"tagged": TAGGED, "bare": BARE, "listed": LISTED, "plain": PLAIN}

TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city, \u00e9t\u00e9 <&> 'now'", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"]},
                                         "days": {"type": "integer", "maximum": 9007199254740991, "minimum": -1, "multipleOf": 1.5e-07}},
        "required": ["city"], "additionalProperties": False}, "strict": True}},
    {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {
        "z": {"type": "number", "default": 1.0}, "a": {"type": ["number", "null"], "default": None}}}}},
]


def call(number, name, arguments):
    return {"id": f"call{number:05}", "type": "function", "function": {"name": name, "arguments": arguments}}


WEATHER = call(1, "get_weather", '{"city": "K\\u00f6ln", "days": 2, "unit": "C"}')
SUM = call(2, "add", '{"z":1.5,"a":-3,"more":[true,null,{"x":"\\"<q>\\""}]}')

CONVERSATIONS = [
    [{"role": "user", "content": "Hi"}],
    [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Weather?"}],
    [{"role": "user", "content": "Weather in K\u00f6ln?"}, {"role": "assistant", "content": None, "tool_calls": [WEATHER]},
     {"role": "tool", "tool_call_id": "call00001", "content": '{"temperature": 21}'}],
    [{"role": "system", "content": "Tools help."}, {"role": "user", "content": "Both"},
     {"role": "assistant", "content": "Let me see.", "tool_calls": [WEATHER, SUM]},
     {"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": "21"},
     {"role": "tool", "tool_call_id": "call00002", "name": "add", "content": "-1.5"},
     {"role": "assistant", "content": "21 and -1.5."}, {"role": "user", "content": "Thanks"}],
    [{"role": "user", "content": "Think"}, {"role": "assistant", "reasoning_content": "hm\n\nso", "content": "", "tool_calls": [SUM]},
     {"role": "tool", "tool_call_id": "call00002", "content": "0"}],
    [{"role": "user", "content": "No arguments"}, {"role": "assistant", "content": "", "tool_calls": [call(3, "now", "{}")]},
     {"role": "tool", "tool_call_id": "call00003", "content": ""}, {"role": "assistant", "reasoning_content": "old", "content": "It is late."},
     {"role": "user", "content": "And?"}],
]


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def render(source, messages, **names):
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    try:
        template = environment.from_string(source)
        return {"text": template.render(messages=messages, documents=None, bos_token="<BOS>", eos_token="<EOS>", **names)}
    except (jinja2.exceptions.TemplateError, TypeError) as error:
        return {"error": str(error)}


def for_template(message):
    """OpenAI's message as templates want it: a text, arguments as objects, and no other role for the system."""
    message = dict(message)
    message["role"] = {"developer": "system"}.get(message["role"], message["role"])
    message["content"] = message.get("content") or ""
    if "tool_calls" in message:
        message["tool_calls"] = [{**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}}
                                 for c in message["tool_calls"]]
    return message


def goldens(templates):
    for name, source, published in templates:
        for number, conversation in enumerate(CONVERSATIONS):
            messages = [for_template(message) for message in conversation]
            for tools in (None, TOOLS):
                for prompt in (True, False):
                    yield {"template": name, "published": published, "conversation": number, "tools": tools is not None, "prompt": prompt,
                           **render(source, messages, tools=tools, add_generation_prompt=prompt)}


def check(templates):
    file = json.loads((HERE / "chat.json").read_text())
    sources = {**file["templates"], **{name: source for name, source, published in templates if published}}
    wrong = 0
    for golden in file["goldens"]:
        think = {} if golden["think"] is None else {"enable_thinking": golden["think"]}
        got = render(sources[golden["template"]], file["conversations"][golden["conversation"]], tools=None,
                     add_generation_prompt=golden["prompt"], **think)
        wrong += got != {key: golden[key] for key in ("text", "error") if key in golden}
    print(f"{len(file['goldens'])} goldens of transformers, {wrong} differ")
    return wrong == 0


def main():
    paths = [pathlib.Path(path) for path in sys.argv[1:] if not path.startswith("--")]
    templates = [(name, source, False) for name, source in TEMPLATES.items()]
    templates += [(path.name, path.read_text(), True) for path in sorted(paths)]
    if "--check" in sys.argv:
        sys.exit(0 if check(templates) else 1)
    parts = [f'"templates":{json.dumps(TEMPLATES)}', f'"tools":{json.dumps(TOOLS)}', f'"conversations":{json.dumps(CONVERSATIONS)}',
             '"goldens":[\n' + ",\n".join(json.dumps(golden) for golden in goldens(templates)) + "]"]
    (HERE / "tool_chat.json").write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
