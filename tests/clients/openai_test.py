#!/usr/bin/env python3
"""OpenAI's own client for Python (Debian's python3-openai), unchanged, against `tern serve`.

usage: openai_test.py TERN
"""

import json
import sys
import unittest

sys.dont_write_bytecode = True
from tern_server import TernServer, skip

try:
    import openai
    from pydantic import BaseModel
except ImportError:
    skip("there is no python3-openai; ./setup --checks brings it")

TERN = sys.argv[1]
# One that tells of tools, and repeats calls and their results, as Hermes models write them.
TEMPLATE = """{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}
{% endfor %}</tools>
<tool_call>
{"name": name, "arguments": arguments}
</tool_call>
{% endif %}{% for m in messages %}{{ m.content or '' }}{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>
{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}{% endfor %}"""
START = "Once upon a time there was a little"
MESSAGES = [{"role": "user", "content": START}]
GREEDY = {"model": "tern-stories", "temperature": 0}
CHAT = {**GREEDY, "messages": MESSAGES, "max_completion_tokens": 24}
WEATHER = {"type": "function", "function": {"name": "weather", "description": "The weather of a place", "parameters": {
    "type": "object", "properties": {"place": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["place", "days"], "additionalProperties": False}}}


class Animal(BaseModel):
    kind: str
    legs: int


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TernServer(TERN, "--api-key", "secret", "--chat-template", TEMPLATE)
        cls.client = openai.OpenAI(base_url=cls.server.url, api_key="secret", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        with cls.server:
            cls.server.end()
            assert cls.server.wait() == 0

    def test_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["tern-stories"])
        self.assertEqual(self.client.models.retrieve("tern-stories").object, "model")

    def test_a_chat_whole_and_streamed(self):
        whole = self.client.chat.completions.create(**CHAT)
        self.assertEqual(whole.choices[0].finish_reason, "length")
        self.assertEqual(whole.usage.completion_tokens, 24)
        text, usage = "", None
        for chunk in self.client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}):
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
            usage = chunk.usage or usage
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual((usage.prompt_tokens, usage.completion_tokens), (whole.usage.prompt_tokens, 24))

    def test_the_stream_helper_puts_the_message_together(self):
        asked = {**CHAT, "max_completion_tokens": 200, "stop": ["."]}  # a helper that parses wants an end
        whole = self.client.chat.completions.create(**asked)
        with self.client.chat.completions.stream(**asked) as stream:
            kinds = {event.type for event in stream}
            self.assertEqual(stream.get_final_completion().choices[0].message.content, whole.choices[0].message.content)
        self.assertLessEqual({"chunk", "content.delta", "content.done"}, kinds)

    def test_log_probabilities(self):
        choice = self.client.chat.completions.create(**CHAT, logprobs=True, top_logprobs=3).choices[0]
        self.assertEqual(len(choice.logprobs.content), 24)
        for token in choice.logprobs.content:
            self.assertEqual(len(token.top_logprobs), 3)
            self.assertEqual(token.logprob, max(other.logprob for other in token.top_logprobs))  # greedy
            self.assertLessEqual(token.logprob, 0)
        self.assertEqual("".join(token.token for token in choice.logprobs.content), choice.message.content)

    def test_json_by_a_schema(self):
        got = self.client.chat.completions.parse(**{**CHAT, "max_completion_tokens": 200}, response_format=Animal, seed=3)
        self.assertIsInstance(got.choices[0].message.parsed, Animal)
        schema = {"name": "n", "strict": True, "schema": {"type": "object", "properties": {"a": {"enum": [7, 8]}},
                                                         "required": ["a"], "additionalProperties": False}}
        got = self.client.chat.completions.create(**CHAT, response_format={"type": "json_schema", "json_schema": schema})
        self.assertIn(json.loads(got.choices[0].message.content), [{"a": 7}, {"a": 8}])

    def test_tools(self):
        asked = {**CHAT, "max_completion_tokens": 100, "tools": [WEATHER], "tool_choice": "required"}
        choice = self.client.chat.completions.create(**asked).choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        call = choice.message.tool_calls[0]
        self.assertEqual(call.function.name, "weather")
        arguments = json.loads(call.function.arguments)
        self.assertIn(arguments["place"], ["Rome", "Oslo"])
        self.assertIn(arguments["days"], range(1, 10))
        with self.client.chat.completions.stream(**asked) as stream:
            streamed = stream.get_final_completion().choices[0].message.tool_calls[0]
        self.assertEqual((streamed.function.name, json.loads(streamed.function.arguments)), ("weather", arguments))
        # The client's own objects go back as they came.
        later = [*MESSAGES, choice.message, {"role": "tool", "tool_call_id": call.id, "content": "It rains."}]
        got = self.client.chat.completions.create(**{**CHAT, "messages": later}, tools=[WEATHER], tool_choice="none")
        self.assertTrue(got.choices[0].message.content)
        self.assertIsNone(got.choices[0].message.tool_calls)

    def test_completions(self):
        asked = {**GREEDY, "prompt": START, "max_tokens": 12, "logprobs": 2}
        whole = self.client.completions.create(**asked)
        self.assertEqual(len(whole.choices[0].logprobs.tokens), 12)
        self.assertEqual("".join(chunk.choices[0].text for chunk in self.client.completions.create(**asked, stream=True)
                                 if chunk.choices), whole.choices[0].text)
        several = self.client.completions.create(**{**GREEDY, "prompt": ["A cat", "A dog"], "max_tokens": 4}, n=2, echo=True)
        self.assertEqual([choice.text[:5] for choice in several.choices], ["A cat"] * 2 + ["A dog"] * 2)

    def test_responses(self):
        asked = {**GREEDY, "input": START, "max_output_tokens": 24}
        whole = self.client.responses.create(**asked)
        self.assertEqual((whole.status, whole.incomplete_details.reason), ("incomplete", "max_output_tokens"))
        self.assertEqual(whole.output_text, self.client.chat.completions.create(**CHAT).choices[0].message.content)
        text, numbers, last = "", [], None
        for event in self.client.responses.create(**asked, stream=True):
            numbers.append(event.sequence_number)
            text += event.delta if event.type == "response.output_text.delta" else ""
            last = event
        self.assertEqual((text, numbers, last.type), (whole.output_text, list(range(len(numbers))), "response.incomplete"))
        self.assertEqual(last.response.usage.output_tokens, 24)
        got = self.client.responses.parse(**{**asked, "max_output_tokens": 200}, text_format=Animal)
        self.assertIsInstance(got.output_parsed, Animal)

    def test_errors_are_those_that_the_client_knows(self):
        with self.assertRaises(openai.NotFoundError) as got:
            self.client.chat.completions.create(**{**CHAT, "model": "gpt-9"})
        self.assertEqual(got.exception.code, "model_not_found")
        with self.assertRaises(openai.BadRequestError) as got:
            self.client.chat.completions.create(**{**CHAT, "temperature": "hot"})
        self.assertEqual(got.exception.param, "temperature")
        with self.assertRaises(openai.AuthenticationError):
            self.client.with_options(api_key="wrong").models.list()

    def test_a_reply_that_nobody_wants_any_more(self):
        with self.client.chat.completions.create(**{**CHAT, "max_completion_tokens": 400}, stream=True) as stream:
            next(iter(stream))
        self.assertTrue(self.client.chat.completions.create(**CHAT).choices[0].message.content)

    def test_vectors(self):
        with TernServer(TERN, "--embedding") as server, openai.OpenAI(base_url=server.url, api_key="none") as client:
            asked = {"model": "tern-stories", "input": ["a dog", "a cat"]}
            packed = client.embeddings.create(**asked)  # the client asks for base64 where nothing is said
            plain = client.embeddings.create(**asked, encoding_format="float")
            self.assertEqual([len(item.embedding) for item in packed.data], [512, 512])
            for one, other in zip(packed.data, plain.data):
                self.assertTrue(all(abs(a - b) < 1e-6 for a, b in zip(one.embedding, other.embedding)))
            self.assertNotEqual(packed.data[0].embedding, packed.data[1].embedding)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
