#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/chat.json: conversations rendered by transformers' own apply_chat_template.

    make_chat_goldens.py --templates DIR

DIR/*.jinja: published chat templates, which are not part of the repository; the small ones of chat_templates.py are.
Debian: python3-transformers, python3-jinja2. Where a template objects, the golden holds its message instead of a text.
"""

import argparse
import json
import pathlib

import jinja2
from transformers.utils.chat_template_utils import render_jinja_template

from chat_templates import CONVERSATIONS, LANGUAGE, TEMPLATES

HERE = pathlib.Path(__file__).parent / "tokenizer"


def render(source, messages, prompt, think):
    options = {} if think is None else {"enable_thinking": think}
    try:
        texts, _ = render_jinja_template(conversations=[messages], chat_template=source, add_generation_prompt=prompt, bos_token="<BOS>",
                                         eos_token="<EOS>", **options)
        return {"text": texts[0]}
    except (jinja2.exceptions.TemplateError, TypeError) as error:
        return {"error": str(error)}


def goldens(templates):
    for name, source, published in templates:
        for number, conversation in enumerate(CONVERSATIONS):
            messages = [{"role": role, "content": content} for role, content in conversation]
            for prompt in (True, False):
                for think in (None, True, False) if "enable_thinking" in source and prompt else (None,):
                    yield {"template": name, "published": published, "conversation": number, "prompt": prompt, "think": think,
                           **render(source, messages, prompt, think)}


def language_goldens():
    messages = [{"role": role, "content": content} for role, content in CONVERSATIONS[2]]
    for name, source in LANGUAGE.items():
        yield {"name": name, "source": source, **render(source, messages, True, None)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--templates", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    templates = [(name, source, False) for name, source in TEMPLATES.items()]
    templates += [(path.name, path.read_text(), True) for path in sorted(arguments.templates.glob("*.jinja"))]
    conversations = [[{"role": role, "content": content} for role, content in conversation] for conversation in CONVERSATIONS]
    parts = [f'"templates":{json.dumps(TEMPLATES)}', f'"conversations":{json.dumps(conversations)}',
             '"goldens":[\n' + ",\n".join(json.dumps(golden) for golden in goldens(templates)) + "]",
             '"language":[\n' + ",\n".join(json.dumps(golden) for golden in language_goldens()) + "]"]
    (HERE / "chat.json").write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
