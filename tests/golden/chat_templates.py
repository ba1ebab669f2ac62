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

# As Gemma 3's: replies are the model's, the system prompt opens the first question, contents may be lists of parts.
GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set opening = messages[0]['content'] + '\n\n' -%}
    {%- else -%}
        {%- set opening = messages[0]['content'][0]['text'] + '\n\n' -%}
    {%- endif -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set opening = "" -%}
    {%- set turns = messages -%}
{%- endif -%}
{%- for turn in turns -%}
    {%- if (turn['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("user and assistant must take turns") }}
    {%- endif -%}
    {%- if (turn['role'] == 'assistant') -%}
        {%- set who = "model" -%}
    {%- else -%}
        {%- set who = turn['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + who + '\n' + (opening if loop.first else "") }}
    {%- if turn['content'] is string -%}
        {{ turn['content'] | trim }}
    {%- elif turn['content'] is iterable -%}
        {%- for part in turn['content'] -%}
            {%- if part['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif part['type'] == 'text' -%}
                {{ part['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("no such content") }}
    {%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\n'}}
{%- endif -%}
"""

# One line for each part of Jinja that templates use, and for each rule about white space.
LANGUAGE = {
    "literals": """{{ 1 }} {{ -2 }} {{ 1.50 }} {{ 1e3 }} {{ 1e20 }} {{ 'a' "b" }} {{ true }} {{ None }} {{ [1, 'a', none] }} {{ (1,) }} {{ {'a': 1.0, 2: [true]} }} {{ "it's" }} {{ ["it's", 'a"b\n'] }}""",
    "escapes": r"""{{ 'a\n\t\\\'\"\x41\u00e9\U0001f600\d\0' }}""",
    "arithmetic": """{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 1 + 2 * 3 - 4 }} {{ 'ab' * 3 }} {{ [1] * 2 + [3] }} {{ 1 ~ 'a' ~ none }} {{ 7.5 // 2 }} {{ 1 + true }} {{ -3 | abs }} {{ (2 - 1) ~ 'x' * 2 }}""",
    "comparisons": """{{ 1 < 2 <= 2 }} {{ 1 < 2 > 3 }} {{ 'a' in 'cab' }} {{ 4 not in [1, 2] }} {{ 'k' in {'k': 1} }} {{ 1 == 1.0 }} {{ 1 == true }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ not 1 == 2 }} {{ (1, 2) == [1, 2] }}""",
    "logic": """{{ 1 and 'x' }} {{ 0 or '' or 'y' }} {{ 'a' if false }}|{{ 'a' if 0 else 'b' if 0 else 'c' }} {{ not not [] }} {{ none or false }}""",
    "tests": """{{ x is defined }} {{ x is undefined }} {{ none is none }} {{ 1 is number }} {{ true is boolean }} {{ true is number }} {{ 'a' is string }} {{ {} is mapping }} {{ [] is sequence }} {{ 'a' is iterable }} {{ 1 is not iterable }} {{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 1 is eq 1 }} {{ 2 is in [1, 2] }} {{ 'A' is upper }} {{ 1.0 is float }} {{ 1 is integer }} {{ true is true }} {{ 1 is true }} {{ x is not defined and 1 is eq(1) }} {{ range is callable }} {{ 2 is gt 1 }} {{ 1 is sameas 1 }}""",
    "slices": """{{ [1, 2, 3, 4][1:] }} {{ [1, 2, 3, 4][:-1] }} {{ [1, 2, 3, 4][::-1] }} {{ [1, 2, 3, 4][::2] }} {{ [1, 2, 3, 4][-2:] }} {{ '\u00fcbermut'[1:4] }} {{ '\u65e5\u672c'[::-1] }} {{ [1, 2][5:] }} {{ [1, 2, 3][2:0:-1] }} {{ 'abc'[-1] }} {{ 'abc'[7] }}| {{ (1, 2, 3)[1:] }} {{ [[1, 2], [3]][0][1] }}""",
    "text methods": """{{ ' a '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'xxa'.lstrip('x') }}|{{ 'axy'.rstrip('yx') }}|{{ 'a,b,c'.split(',') }} {{ 'a b  c'.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'aXbX'.replace('X', '-') }} {{ 'abc'.replace('', '-') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'aBc'.upper() }} {{ 'aBc'.lower() }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }} {{ 'abcabc'.find('ca') }} {{ 'abc'.find('z') }} {{ 'banana'.count('an') }} {{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ ', '.join(['a', 'b']) }} {{ 'a\\nb\\r\\nc'.splitlines() }} {{ 'prefix-x'.removeprefix('prefix-') }} {{ ' \u3000a'.strip() }}""",
    "dict methods": """{% set d = {'b': 1, 'a': 2} %}{{ d.items() | list }} {{ d.keys() | list }} {{ d.values() | list }} {{ d.get('a') }} {{ d.get('z', 'no') }} {{ d['a'] }} {{ d.b }} {{ d | length }} {{ d.z is defined }} {% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %} {% for k in d %}{{ k }}{% endfor %} {{ d | dictsort }} {{ d | items | list }}""",
    "filters": """{{ 'abc' | upper | lower | capitalize }} {{ ' a ' | trim }} {{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A'] | sort(case_sensitive=true) }} {{ [1, 2] | sort(reverse=true) }} {{ [1, 2, 3] | join('-') }} {{ [1, 2] | first }} {{ [1, 2] | last }} {{ 'abc' | length }} {{ [1, 1, 2] | unique | list }} {{ x | default('d') }} {{ '' | default('d', true) }} {{ none | default('d') }} {{ '5' | int + 1 }} {{ 'x' | int(7) }} {{ '1.5' | float }} {{ 3.7 | int }} {{ 2.5 | round }} {{ 2.567 | round(2) }} {{ [1, 2, 3] | sum }} {{ [1, 5, 3] | max }} {{ [4, 2] | min }} {{ 'a' | string }} {{ '<&>' | e }} {{ 'a\\nb' | indent }} {{ 'a\\nb' | indent(2, true) }} {{ 'a b c' | wordcount }} {{ 'aXa' | replace('X', 'y') }} {{ 'abc' | reverse }} {{ [1, 2] | reverse | list }} {{ 'abc' | list }} {{ 'a' | title }} {{ '\u00fc\u65e5' | length }}""",
    "filters of lists": """{% set l = [{'n': 'a', 'v': 2, 'o': true}, {'n': 'b', 'v': 1, 'o': false}] %}{{ l | map(attribute='n') | list }} {{ l | selectattr('o') | map(attribute='n') | list }} {{ l | rejectattr('v', 'equalto', 2) | list }} {{ l | sort(attribute='v') | map(attribute='n') | join }} {{ [1, 0, 2] | select | list }} {{ [1, 2, 3] | select('odd') | list }} {{ [1, 2, 3] | reject('in', [2]) | list }} {{ ['a', 'b'] | map('upper') | join(',') }} {{ l | map(attribute='z', default='?') | join }} {{ l | join(' ', attribute='n') }} {{ l | sum(attribute='v') }}""",
    "tojson": """{{ {'a': [1, 2.5, none, true, 'x"y\\n\u00fc<'], 'b': {}} | tojson }} {{ {'a': [1, {'b': []}]} | tojson(indent=2) }} {{ 'a/b' | tojson }} {{ [] | tojson(indent=4) }}""",
    "loops": """{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem.role if loop.previtem is defined }}{{ loop.nextitem.role if loop.nextitem is defined }} {% endfor %}{% for a in [] %}x{% else %}none{% endfor %} {% for a in [1, 2, 3, 4] if a is even %}{{ loop.index }}:{{ a }}{% endfor %} {% for a, b in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %} {% for c in 'a\u00fc' %}{{ c }}.{% endfor %} {% for i in range(2, 8, 3) %}{{ i }}{{ loop.cycle('a', 'b') }}{% endfor %} {% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %} {% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}""",
    "scopes": """{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }} {% set ns = namespace(a=1, b='x') %}{% for i in [1, 2] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }} {% if true %}{% set y = 5 %}{% endif %}{{ y }} {% with z = 3, w = 4 %}{{ z }}{{ w }}{% endwith %}{{ z is defined }} {% set a, b = 1, 2 %}{{ a }}{{ b }} {% set t %}in {{ x }}{% endset %}{{ t }}{% set u | upper %}abc{% endset %}{{ u }} {% filter upper | replace('A', 'x') %}abc{% endfilter %} {% for i in [1] %}{% for j in [1, 2] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}""",
    "macros": """{% macro f(a, b='x', c=none) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f(1, c=3) }}{{ f(b=1, a=2) }}{{ f() }} {% macro g(n) %}{{ n }}{% if n > 0 %}{{ g(n - 1) }}{% endif %}{% endmacro %}{{ g(3) }} {% macro h() %}<{{ caller() }}>{% endmacro %}{% call h() %}in{% endcall %} {% macro k() %}{{ caller(7) }}{% endmacro %}{% call(v) k() %}{{ v }}!{% endcall %} {% set j = joiner('|') %}{{ j() }}a{{ j() }}b{{ j() }}c {{ dict(a=1) }} {{ f('q') | length }}""",
    "undefined": """{{ x }}|{{ messages[99] }}|{{ messages[0].nothing }}|{% for i in x %}{% endfor %}{{ x | length }}{{ x | default('d') }}{{ 'a' in x }}{{ x == y }}{{ x | list }}{% if x %}1{% else %}0{% endif %}{{ tools }}{{ tools is defined }}{{ documents is none }}""",
    "comments": "a{# b #}c\n{# whole line #}\nd {#- e -#} f\n  {#+ g +#}\nh",
    "trimming": "a\n  {% if true %}\n  b\n  {%- if true -%}\n   c  \n  {%- endif %}\n\n  {{ 1 }}\n  {{- 2 -}}  \n  d{% endif %}\n\n e  {% if 1 %}f\n{% endif %} {%+ if 1 %}g{% endif +%}\n h\n\n",
    "raw": "a {% raw %}{{ x }} {% if %} {# #}{% endraw %} b\n{%- raw -%} \n {{ y }} \n {%- endraw -%} \n c",
    "newlines": "a\r\n{% if 1 %}\r\nb\rc{% endif %}\r\nd\r\n",
    "braces": "{ a } {{ {'a': {'b': 1}} }} {{ {} }} }} %} { {{ '}}' }}{{ '%}' }}",
    "generation": "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}\n{% endfor %}",
    "no sum": """{{ 2 - 1 ~ 'x' }}""",
    "no order": "{{ 1 < 'a' }}",
    "no attribute": "{{ x.y }}",
    "no item": "{{ [] + 1 }}",
    "no function": "{{ x() }}",
    "no filter": "{{ 1 | nothing }}",
    "no end": "{% if 1 %}",
    "exception": "{{ raise_exception('it is\nso') }}",
    "mixed names": "{{ 'a' if x else 'b' }}{% if not x is defined and (1 or 2) and not (3 is even) %}c{% endif %}{{ loop is defined }}",
}

# As Hunyuan's: one mark ends the system prompt, another each reply.
HUNYUAN = """{{ bos_token }}{% for m in messages %}
{%- if m.role == 'system' and loop.first %}{{ m.content + '<\uff5chy_place\u2581holder\u2581no\u25813\uff5c>' }}
{%- elif m.role == 'user' %}{{ '<\uff5chy_User\uff5c>' + m.content }}
{%- elif m.role == 'assistant' %}{{ '<\uff5chy_Assistant\uff5c>' + m.content + '<\uff5chy_place\u2581holder\u2581no\u25812\uff5c>' }}{% endif %}
{%- endfor %}{% if add_generation_prompt %}{{ '<\uff5chy_Assistant\uff5c>' }}{% endif %}"""

TEMPLATES = {"chatml": CHATML, "falcon": FALCON, "alternating": ALTERNATING, "gemma": GEMMA, "thinking": THINKING, "hunyuan": HUNYUAN}

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
