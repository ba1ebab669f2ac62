"""Of the installed package, on the model that comes with it; with the standard library alone."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

import tern


class EngineTest(unittest.TestCase):
    engine: tern.Engine

    @classmethod
    def setUpClass(cls) -> None:
        cls.engine = tern.Engine(threads=2, backend="cpu")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.engine.close()

    def test_model_is_the_packages_own(self) -> None:
        site = os.environ.get("TERN_TEST_SITE")
        self.assertEqual(self.engine.info.path, tern.default_model_path())
        if site:
            self.assertTrue(Path(tern.__file__).is_relative_to(site))
            self.assertTrue(Path(self.engine.info.path).is_relative_to(site))
        self.assertGreater(self.engine.info.n_params, 10_000_000)
        self.assertTrue(self.engine.info.has_tokenizer)

    def test_text_comes_back_from_its_tokens(self) -> None:
        text = "A bird\0and — a worm"
        tokens = self.engine.tokenize(text)
        self.assertEqual(tokens[0], self.engine.bos_token)
        self.assertEqual(self.engine.detokenize(tokens), text)
        self.assertEqual(self.engine.tokenize(text, add_bos=False), tokens[1:])
        self.assertEqual(self.engine.tokenize("", add_bos=False), [])
        self.assertEqual(self.engine.detokenize_bytes([]), b"")
        self.assertIsNone(self.engine.find_token("<|no such token|>"))
        self.assertTrue(self.engine.stop_tokens)

    def test_generates_pieces(self) -> None:
        with self.engine.generate("Once upon a time", max_tokens=20, temperature=0) as reply:
            pieces = list(reply)
        self.assertGreater(len(pieces), 5)
        self.assertEqual(len(reply.tokens), 20)
        self.assertEqual(reply.finish, tern.Finish.MAX_TOKENS)
        with self.engine.generate(self.engine.tokenize("Once upon a time"), max_tokens=20, temperature=0) as again:
            self.assertEqual("".join(again), "".join(pieces))
            self.assertEqual(again.stats.n_generated, 20)
            self.assertGreater(again.stats.decode_seconds, 0)

    def test_same_seed_same_text(self) -> None:
        texts = {"".join(self.engine.generate("One day", max_tokens=12, seed=7, temperature=1.0)) for _ in range(2)}
        self.assertEqual(len(texts), 1)
        other = "".join(self.engine.generate("One day", max_tokens=12, seed=8, temperature=1.0))
        self.assertNotIn(other, texts)

    def test_stops_at_a_text(self) -> None:
        reply = self.engine.generate("Once upon a time", temperature=0, stop=["little"])
        self.assertNotIn("little", "".join(reply))
        self.assertEqual(reply.finish, tern.Finish.STOP_STRING)

    def test_every_sampler_changes_the_text(self) -> None:
        def text(**options: Any) -> str:
            return "".join(self.engine.generate("One day", **{"max_tokens": 24, "seed": 7, "temperature": 1.0, **options}))

        plain = text()
        self.assertEqual(text(dry_multiplier=0, mirostat=0, typical_p=1, xtc_probability=0, top_n_sigma=0), plain)
        never_again = {"dry_multiplier": 20, "dry_base": 2, "dry_allowed_length": 0, "dry_penalty_last_n": 99}
        for options in (
            {**never_again, "dry_sequence_breakers": []},
            {"top_n_sigma": 0.3},
            {"typical_p": 0.2},
            {"xtc_probability": 1, "xtc_threshold": 0.02},
            {"mirostat": 1, "mirostat_tau": 1, "mirostat_eta": 0.5},
            {"mirostat": 2, "mirostat_tau": 1},
            {"samplers": ["top_k"], "top_k": 1},
        ):
            self.assertNotEqual(text(**options), plain, options)
            self.assertEqual(text(**options), text(**options))
        self.assertNotEqual(text(**never_again), text(**never_again, dry_sequence_breakers=[" ", "e"]))
        self.assertEqual(text(samplers=["top_k"], top_k=1), text(temperature=0, samplers=["temperature"]))
        for wrong in ({"samplers": ["top_q"]}, {"mirostat": 3}, {"typical_p": 0.0}, {"xtc_threshold": 2.0}):
            with self.assertRaisesRegex(tern.Error, next(iter(wrong))):
                text(**wrong)

    def test_has_its_least_number_of_tokens(self) -> None:
        reply = self.engine.generate("Once upon a time", temperature=0, stop=[" "], min_tokens=9, max_tokens=40)
        list(reply)
        self.assertGreater(len(reply.tokens), 9)

    def test_another_thread_cancels(self) -> None:
        reply = self.engine.generate("Once upon a time", ignore_eos=True)
        next(reply)
        threading.Thread(target=reply.cancel).start()
        for _ in reply:
            pass
        self.assertEqual(reply.finish, tern.Finish.CANCELLED)

    def test_threads_take_turns(self) -> None:
        texts: list[str] = []

        def tell() -> None:
            texts.append("".join(self.engine.generate("Once upon a time", max_tokens=30, temperature=0)))

        threads = [threading.Thread(target=tell) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(texts), 3)
        self.assertEqual(len(set(texts)), 1)

    def test_session_goes_on_where_it_was(self) -> None:
        with self.engine.session(n_ctx=128) as session:
            self.assertEqual(session.n_ctx, 128)
            first = session.generate("Once upon a time", max_tokens=8, temperature=0)
            text = "".join(first)
            second = session.generate(self.engine.tokenize("Once upon a time") + first.tokens, max_tokens=1)
            list(second)
            self.assertGreater(second.stats.n_reused, 4)
            self.assertTrue(text)
            session.reset()
            self.assertEqual(session.n_used, 0)

    def test_guesses_change_nothing_but_the_time(self) -> None:
        prompt = "Tap, tap, tap. Tap, tap, tap. Tap, tap, tap. Tap, tap"
        texts = set()
        for draft, speculate in [(None, 0), (None, 7), (self.engine, 4)]:
            with self.engine.session(draft=draft) as session:
                reply = session.generate(prompt, max_tokens=40, temperature=0, speculate=speculate)
                texts.add("".join(reply))
                self.assertEqual(reply.stats.n_guessed > 0, speculate > 0)
                self.assertLessEqual(reply.stats.n_guessed_right, reply.stats.n_guessed)
        self.assertEqual(len(texts), 1)
        with self.assertRaisesRegex(tern.Error, "has no layer that proposes draft tokens"):
            self.engine.session(draft_block=True)
        with self.assertRaisesRegex(tern.Error, "speculate is -1"):
            self.engine.generate(prompt, speculate=-1)

    def test_goes_on_past_the_context(self) -> None:
        with self.engine.session(n_ctx=32) as session:
            reply = session.generate("Once upon a time", temperature=0, ignore_eos=True, max_tokens=80)
            list(reply)
            self.assertEqual(reply.finish, tern.Finish.CONTEXT_FULL)
            reply = session.generate(
                "Once upon a time", temperature=0, ignore_eos=True, max_tokens=80, keep_past_context=4
            )
            list(reply)
            self.assertEqual(len(reply.tokens), 80)

    def test_keeps_what_was_read_in_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cache.kv"
            with self.engine.session() as session:
                self.assertFalse(session.load_cache(path))
                list(session.generate("Once upon a time", temperature=0, max_tokens=8))
                session.save_cache(path)
            with self.engine.session() as session:
                self.assertTrue(session.load_cache(path))
                reply = session.generate("Once upon a time", temperature=0, max_tokens=8, heal_prompt=False)
                list(reply)
                self.assertEqual(reply.stats.n_reused, reply.stats.n_prompt - 1)
                with self.assertRaises(tern.Error) as caught:
                    session.load_cache(tern.default_model_path())
            self.assertEqual(caught.exception.code, tern.Code.INVALID_ARGUMENT)

    def test_logits_are_shared_memory(self) -> None:
        tokens = self.engine.tokenize("Once upon a time")
        with self.engine.session() as session:
            logits = session.logits(tokens)
            last = session.logits(tokens, first=len(tokens) - 1)
        self.assertEqual(logits.shape, (len(tokens), self.engine.info.n_vocab))
        self.assertEqual((logits.format, logits.itemsize, logits.c_contiguous), ("f", 4, True))
        self.assertFalse(logits.readonly)
        self.assertEqual(last.tolist()[0], logits.tolist()[-1])
        with self.engine.generate(tokens, max_tokens=1, temperature=0) as reply:
            list(reply)
        row: Any = last.tolist()[0]
        self.assertEqual(row.index(max(row)), reply.tokens[0])
        try:
            numpy = importlib.import_module("numpy")
        except ImportError:
            return
        array = numpy.asarray(logits)
        array[0, 0] = 123
        rows: Any = logits.tolist()
        self.assertEqual(rows[0][0], 123)

    def test_a_grammar_says_what_a_reply_may_be(self) -> None:
        number = {"type": "integer", "minimum": 3, "maximum": 12}
        schema = {"type": "object", "properties": {"n": number}, "required": ["n"]}
        with tern.Grammar.json_schema(schema) as grammar, self.engine.generate("Once", grammar=grammar) as reply:
            document = json.loads("".join(reply))
            self.assertEqual(reply.finish, tern.Finish.STOP_TOKEN)
        self.assertTrue(3 <= document["n"] <= 12)
        for grammar, pattern in [
            (tern.Grammar.regex("[A-C]{4}[0-9]"), "[A-C]{4}[0-9]"),
            (tern.Grammar.gbnf('root ::= "x" ("y" | "z"){2}'), "x[yz]{2}"),
        ]:
            self.assertRegex("".join(self.engine.generate("Once", grammar=grammar)), f"^{pattern}$")
        begun = self.engine.generate("Once", grammar=tern.Grammar.json_object(), max_tokens=3)
        self.assertEqual("".join(begun)[0], "{")
        with self.assertRaisesRegex(tern.Error, "'/properties/n/uniqueItems'"):
            tern.Grammar.json_schema({"properties": {"n": {"uniqueItems": True}}})

    def test_errors_have_a_code(self) -> None:
        with self.assertRaises(tern.Error) as caught:
            tern.Engine("/nowhere/model.gguf")
        self.assertEqual(caught.exception.code, tern.Code.NOT_FOUND)
        self.assertIn("/nowhere/model.gguf", str(caught.exception))
        with self.assertRaises(tern.Error) as caught:  # its template has no place for tools
            self.engine.chat([{"role": "user", "content": "hello"}], tools=[{"type": "function", "function": {"name": "f"}}])
        self.assertEqual(caught.exception.code, tern.Code.NOT_SUPPORTED)
        with self.assertRaises(tern.Error) as caught:
            self.engine.generate([])
        self.assertEqual(caught.exception.code, tern.Code.INVALID_ARGUMENT)

    def test_metadata_is_overridden(self) -> None:
        architecture = self.engine.info.architecture
        overrides: dict[str, bool | int | float | str] = {
            f"{architecture}.context_length": 96,
            f"{architecture}.rope.freq_base": 500.5,
            "general.name": "X",
        }
        with tern.Engine(overrides=overrides, threads=1, backend="cpu") as engine:
            self.assertEqual(engine.info.n_ctx, 96)
            self.assertEqual(engine.info.name, "X")
        wrong: bool | float | str
        for wrong in (True, "96", 96.0):
            with self.assertRaisesRegex(tern.Error, "an integer is needed"):
                tern.Engine(overrides={f"{architecture}.context_length": wrong})
        with self.assertRaises(TypeError):
            tern.Engine(overrides={"general.name": None})  # type: ignore[dict-item]
        for key, part in ((f"{architecture}.context_length", "cannot be ignored"), ("x.y", "no metadata key 'x.y'")):
            with self.assertRaisesRegex(tern.Error, part) as caught:
                tern.Engine(ignored_keys=[key])
            self.assertEqual(caught.exception.code, tern.Code.INVALID_ARGUMENT)

    def test_wrong_arguments_are_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "max_token'"):
            self.engine.generate("Once", max_token=1)  # type: ignore[call-arg]
        with self.assertRaisesRegex(ValueError, "gpu"):
            tern.Engine(backend="gpu")  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "price"):
            tern.Engine(prefer="price")  # type: ignore[arg-type]
        with self.assertRaisesRegex(tern.Error, "gpu_layers is -1"):
            tern.Engine(gpu_layers=-1)
        with tern.Engine(prefer="energy", threads=1) as engine:
            self.assertTrue(engine.info.backend)
        with self.engine.session() as session, self.assertRaises(ValueError):
            session.logits([1, 2], first=2)

    def test_closed_is_closed(self) -> None:
        session = self.engine.session()
        session.close()
        session.close()
        with self.assertRaisesRegex(ValueError, "Session is closed"):
            session.generate("Once")

    def test_the_default_model_chats(self) -> None:
        messages: list[tern.Message] = [("user", "Tell me a story about a fox and a lantern.")]
        self.assertTrue(self.engine.info.has_chat_template)
        prompt = f"<|endoftext|><|user|>\n{messages[0][1]}<|end|>\n<|assistant|>\n"
        self.assertEqual(self.engine.render_chat(messages), prompt)
        self.assertGreater(len("".join(self.engine.chat(messages, max_tokens=40, temperature=0))), 40)

    def test_chat_renders_a_template(self) -> None:
        template = (
            "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}[reply]{% endif %}"
        )
        with tern.Engine(chat_template=template, threads=1) as engine:
            messages: list[tern.Message] = [{"role": "user", "content": "Hello"}, ("assistant", "Hi")]
            self.assertEqual(engine.render_chat(messages), "[user] Hello\n[assistant] Hi\n[reply]")
            self.assertNotIn("[reply]", engine.render_chat(messages, add_generation_prompt=False))
            unfinished = engine.render_chat(messages, continue_final_message=True)
            self.assertEqual(unfinished, "[user] Hello\n[assistant] Hi")
            self.assertTrue("".join(engine.chat(messages, max_tokens=5)))

    def test_messages_have_no_control_tokens(self) -> None:
        messages: list[tern.Message] = [("user", "a<|end|>b")]
        end = self.engine.find_token("<|end|>")
        assert end is not None
        tokens = self.engine.tokenize_chat(messages)
        self.assertEqual(self.engine.detokenize(tokens, special=True), self.engine.render_chat(messages))
        self.assertEqual(tokens.count(end), 1)
        self.assertEqual(self.engine.tokenize_chat(messages, parse_special=True).count(end), 2)
        self.assertTrue("".join(self.engine.chat(messages, parse_special=True, max_tokens=3)))

    def test_progress_is_told_and_its_exceptions_come_out(self) -> None:
        seen: list[tern.Progress] = []
        tern.Engine(on_progress=seen.append).close()
        self.assertTrue(seen)
        self.assertTrue(all(p.what and p.done <= p.total for p in seen))

        def fail(_: tern.Progress) -> None:
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            tern.Engine(on_progress=fail)

    def test_pull_says_what_is_wrong(self) -> None:
        with self.assertRaises(tern.Error) as caught:
            tern.pull("no name", offline=True)
        self.assertIn(caught.exception.code, (tern.Code.INVALID_ARGUMENT, tern.Code.NOT_SUPPORTED))


TOOL_TEMPLATE = (
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}\n{% endfor %}</tools>\n{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n"
    '{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


class ToolsTest(unittest.TestCase):
    tools: list[dict[str, Any]] = [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"enum": ["Rome", "Oslo"]}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        }
    ]

    def test_a_call_and_its_result(self) -> None:
        with tern.Engine(threads=2, backend="cpu", chat_template=TOOL_TEMPLATE) as engine, engine.session() as session:
            messages: list[Any] = [("user", "Weather?")]
            for choice in ("required", "weather"):
                reply = session.chat(messages, tools=self.tools, tool_choice=choice, max_tokens=100, temperature=0)
                list(reply)
                self.assertEqual(reply.finish, tern.Finish.STOP_TOKEN)
                message = reply.message
                self.assertIsNone(message["content"])
                (call,) = message["tool_calls"]
                self.assertEqual(call["function"]["name"], "weather")
                self.assertIn(json.loads(call["function"]["arguments"])["city"], ("Rome", "Oslo"))
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": "Sunny"}]
            answer = session.chat(messages, tools=self.tools, tool_choice="none", max_tokens=5)
            text = "".join(answer)
            self.assertEqual(answer.message, {"role": "assistant", "content": text})
            with self.assertRaisesRegex(tern.Error, "there is none named 'other'"):
                session.chat(messages, tools=self.tools, tool_choice="other")
            strict = [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"properties": {"n": {"uniqueItems": True}}}}}]
            with self.assertRaisesRegex(tern.Error, "number 1, 'f', is strict, but the JSON schema: at '/properties/n/uniqueItems'"):
                session.chat(messages, tools=strict)


if __name__ == "__main__":
    unittest.main()
