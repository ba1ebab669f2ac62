"""Templates in the manner of those that models are published with, in own words; and conversations for all templates.
Used by make_chat_goldens.py."""

CHATML = """{%- for message in messages -%}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""

# One line for each turn; the system prompt only where there is one; an EOS after each reply.
FALCON = """{% for m in messages %}
{% if m.role == 'system' %}
<|system|>
{{ m.content }}
{% elif m.role == 'user' %}
<|user|>
{{ m.content }}
{% elif m.role == 'assistant' %}
<|assistant|>
{{ m.content + eos_token }}
{% else %}{{ raise_exception('no such role: ' ~ m.role) }}{% endif %}
{% if loop.last and add_generation_prompt %}
<|assistant|>
{% endif %}
{% endfor %}
"""

# Roles must alternate; the system prompt becomes part of the first question.
ALTERNATING = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] | trim + '\\n\\n' %}\
{% set turns = messages[1:] %}{% else %}{% set system = '' %}{% set turns = messages %}{% endif %}\
{% for m in turns %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}\
{% set content = system + m['content'] if loop.first else m['content'] %}\
{{ '[' ~ (m['role'] | upper) ~ '] ' ~ content | trim }}{{ eos_token if m['role'] == 'assistant' else ' ' }}{% endfor %}"""

# Thoughts are taken out of all but the last reply, and an empty thought says that none is wanted.
THINKING = """{%- set ns = namespace(last_question=0) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last_question = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- for m in messages %}
{%- set content = m.content if m.content is string else '' -%}
{%- if m.role == 'assistant' and '</think>' in content and loop.index0 < ns.last_question -%}
{%- set content = content.split('</think>')[-1].lstrip('\\n') -%}
{%- endif -%}
{{ '<' + m.role + '>' + content + '</s>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{ '<assistant>' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif -%}
{%- endif -%}"""

TEMPLATES = {"chatml": CHATML, "falcon": FALCON, "alternating": ALTERNATING, "thinking": THINKING}

CONVERSATIONS = [
    [("system", "You are helpful."), ("user", "Hi")],
    [("user", "  What is 2+2?\n")],
    [("user", "a"), ("assistant", "<think>\nhm\n</think>\n\nb"), ("user", "c {{ d }} <|im_end|>")],
    [("system", "\u00dcber\n\nlang "), ("user", "x"), ("assistant", " y "), ("user", "\U0001f600"), ("assistant", "z")],
    [("user", ""), ("assistant", ""), ("user", "\u65e5\u672c\u3000'quoted' \"twice\" \\n <b>&amp;</b>")],
    [("system", ""), ("user", "1"), ("assistant", "<think>\nold\n</think>\n\n2"), ("user", "3"),
     ("assistant", "<think>\nnew\n</think>\n\n4")],
    [("user", "one"), ("user", "two")],
]
