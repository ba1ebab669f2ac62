#!/usr/bin/env python3
"""Renders conversations with every chat template of a folder, by Tern and by Jinja as transformers sets it up.

    compare_jinja.py CHAT_RENDER FOLDER

CHAT_RENDER: the program of that name. Prints where the texts differ. Needs Debian's python3-transformers and
python3-jinja2. Templates want messages in different styles, and Tern finds out which: its text is right if Jinja makes it in
one of them.
"""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

from transformers.utils.chat_template_utils import _compile_jinja_template as compile_template

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "golden"))
from make_tool_goldens import for_template  # noqa: E402

# Everything is described: some templates want that.
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city, été <&> 'now'", "parameters": {
        "type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Its \"name\""},
            "days": {"type": "array", "description": "Which", "items": {"type": "number"}},
            "unit": {"type": "string", "description": "°C or °F", "enum": ["°C", "°F"], "default": "°C"},
            "place": {"type": "object", "description": "Where", "properties": {"x": {"type": "number", "description": "x"}}}}}}},
    {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {"type": "object", "properties": {}}}},
]

CALL = {"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Köln <&>", "days": [1, 2.5, null, true]}'}}
ASKED = {"role": "user", "content": "  What's the weather in\nKöln? "}
CALLED = [ASKED, {"role": "assistant", "content": "", "tool_calls": [CALL]},
          {"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": '{"degrees": 21}'}]
CONVERSATIONS = {
    "plain": ([ASKED], None),
    "system": ([{"role": "system", "content": "Be brief. "}, ASKED], None),
    "turns": ([ASKED, {"role": "assistant", "content": " Sunny.\n"}, {"role": "user", "content": "ÄÖ?"}], None),
    "tools": ([{"role": "system", "content": "Be brief."}, ASKED], TOOLS),
    "call": (CALLED, TOOLS),
    "call, reply": ([*CALLED, {"role": "assistant", "content": "21 degrees."}, {"role": "user", "content": "Thanks"}], TOOLS),
    "thoughts": ([ASKED, {"role": "assistant", "reasoning_content": "Look\n\nup.", "content": "Sunny."}, {"role": "user", "content": "Why?"}], None),
}
THOUGHTS = (("reasoning_content",), ("reasoning",), ("thinking",), (), ("reasoning_content", "reasoning"))


def in_style(message, thoughts, typed, empty, arguments_are_text):
    styled = for_template(message)
    thought = styled.pop("reasoning_content", None)
    styled |= {name: thought for name in thoughts if thought}
    if typed:
        styled["content"] = [{"type": "text", "text": styled["content"]}] if styled["content"] else []
    if "tool_calls" in styled and not styled["content"]:
        styled["content"] = empty
    if arguments_are_text and "tool_calls" in styled:
        styled["tool_calls"] = message["tool_calls"]
    return styled


def by_jinja(source, messages, tools):
    """Its texts and errors, by style, without repetitions."""
    seen = []
    for style in itertools.product(THOUGHTS, (False, True), ("", None), (False, True)):
        styled = [in_style(message, *style) for message in messages]
        if styled in seen:
            continue
        seen.append(styled)
        try:
            template = compile_template(source)
            yield {"text": template.render(messages=styled, tools=tools, documents=None, add_generation_prompt=True,
                                           bos_token="<BOS>", eos_token="<EOS>")}
        except Exception as error:  # a template may raise anything
            yield {"error": f"{type(error).__name__}: {error}"}


def main():
    program, folder = sys.argv[1:]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([{"messages": messages, "tools": tools} for messages, tools in CONVERSATIONS.values()], file)
        file.flush()
        n, same, refused = 0, 0, 0
        for path in sorted(pathlib.Path(folder).glob("*.jinja")):
            ran = subprocess.run([program, path, file.name], capture_output=True, text=True, check=True)
            for (name, (messages, tools)), ours in zip(CONVERSATIONS.items(), json.loads(ran.stdout)):
                n += 1
                theirs = list(by_jinja(path.read_text(), messages, tools))
                if ours in theirs:
                    same += 1
                elif "error" in ours and not any("text" in result for result in theirs):
                    refused += 1
                else:
                    print(f"{path.name}, {name}:\n  ours   {ours}\n  theirs {theirs[0]}")
        print(f"{n} texts: {same} are the same, {refused} refused by both, {n - same - refused} differ")
        sys.exit(n > same + refused)


if __name__ == "__main__":
    main()
