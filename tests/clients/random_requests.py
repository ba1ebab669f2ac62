#!/usr/bin/env python3
"""Random requests to `tern serve`: right and broken ones of every route, many at a time, some of which break off. At the
end the server must answer as at the beginning, use no more memory, and exit in order. Made for a build with sanitizers:

    tests/clients/random_requests.py build/asan/bin/tern --seconds 600

It is not part of the checks. What goes wrong is printed with the seed of its request, which `--seed` begins with.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import socket
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
from tern_server import MODEL, TernServer

os.environ.setdefault("ASAN_OPTIONS", "quarantine_size_mb=16")  # else what is freed counts as memory in use
os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")

GOOD_MODELS = ["one", "two", "vectors"]
MODELS = f"""
[one]
model = "{MODEL}"
ctx = 256
[two]
model = "{MODEL}"
ctx = 128
kv = "q8_0"
[vectors]
model = "{MODEL}"
embedding = true
[broken]
model = "/nowhere/none.gguf"
"""
WORDS = "Once upon a time there was little red hen who lived on farm with cat dog and duck 🦆 é \u0000 </s> <tool_call>".split(" ")
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["name"]}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
JUNK = [None, True, -1, 0, 1e308, -1e-320, 2**63, "", "x", "\ud83d", [], {}, [[]], [None], {"a": {}}, "a" * 5000, [1] * 300]


def text(r, most=40):
    return " ".join(r.choice(WORDS) for _ in range(r.randrange(1, most)))


def options(r):
    """Of a reply: a few of those that there are."""
    all_of_them = {
        "temperature": r.random() * 2, "top_p": r.random(), "top_k": r.randrange(50), "min_p": r.random() / 2,
        "presence_penalty": r.uniform(-2, 2), "frequency_penalty": r.uniform(-2, 2), "repetition_penalty": 1.1,
        "seed": r.randrange(1 << 40), "logit_bias": {str(r.randrange(8192)): r.uniform(-100, 100)}, "n": r.randrange(1, 4),
        "dry_multiplier": r.random(), "dry_sequence_breakers": [text(r, 3)], "typical_p": 0.9, "top_n_sigma": r.random() * 3,
        "xtc_probability": r.random(), "mirostat": r.randrange(3), "samplers": r.sample(["dry", "top_k", "xtc", "min_p"], 3),
        "min_tokens": r.randrange(2), "stop": [text(r, 3)], "ignore_eos": True, "stream": True, "id_slot": r.randrange(-1, 8), "user": text(r, 3),
    }
    chosen = {name: all_of_them[name] for name in r.sample(sorted(all_of_them), r.randrange(6))}
    if "stream" in chosen and r.random() < 0.5:
        chosen["stream_options"] = {"include_usage": True}
    return {"max_tokens": r.randrange(1, 30), **chosen}


def held(r):
    return r.choice([{}, {}, {"response_format": {"type": "json_object"}}, {"json_schema": SCHEMA},
                     {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}},
                     {"grammar": r.choice(['root ::= "a" | "b" root', 'root ::= [a-z]+ "."', "root ::= root", "root ::="])}])


def completion(r):
    prompt = r.choice([text(r), [text(r), text(r)], [r.randrange(8192) for _ in range(r.randrange(1, 100))], text(r, 400)])
    return {"prompt": prompt, **options(r), **held(r), **r.choice([{}, {"echo": True}, {"logprobs": 3}])}


def message(r):
    role = r.choice(["system", "user", "user", "assistant", "tool", "developer"])
    content = r.choice([text(r), [{"type": "text", "text": text(r)}], None, ""])
    more = {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"name": "x"}'}}]}
    return {"role": role, "content": content, **(more if role == "assistant" and r.random() < 0.4 else {}),
            **({"tool_call_id": "c"} if role == "tool" else {})}


def chat(r):
    tools = {"tools": [TOOL], "tool_choice": r.choice(["auto", "none", "required", {"type": "function", "function": {"name": "f"}}])}
    return {"messages": [message(r) for _ in range(r.randrange(1, 6))], **options(r), **held(r),
            **(tools if r.random() < 0.4 else {}), **r.choice([{}, {"logprobs": True, "top_logprobs": 2}])}


def response(r):
    items = r.choice([text(r), [message(r) for _ in range(2)], [{"type": "function_call_output", "call_id": "c", "output": "1"}]])
    return {"input": items, "max_output_tokens": r.randrange(1, 30), "stream": r.random() < 0.5,
            **r.choice([{}, {"instructions": text(r)}, {"tools": [{"type": "function", "name": "f", "parameters": SCHEMA}]}])}


def embedding(r):
    return {"input": r.choice([text(r), [text(r), text(r)], [1, 2, 3], [[1], [2, 3]]]), "model": "vectors",
            **r.choice([{}, {"encoding_format": "base64"}, {"dimensions": 7}])}


def batch(r):
    return {"input_file_id": r.choice(["file-none", *FILES[-3:]]), "completion_window": "24h",
            "endpoint": r.choice(["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/x"])}


def slot_file(r):
    return {"filename": r.choice(["a", "b.bin", "c d", "../x", ".x", "", "a/b", "q" * 300, "é"])}


POSTS = {
    "/v1/completions": completion, "/v1/chat/completions": chat, "/v1/responses": response, "/v1/embeddings": embedding,
    "/completions": completion, "/chat/completions": chat, "/v1/batches": batch,
    "/tokenize": lambda r: {"content": text(r), "with_pieces": r.random() < 0.5, "add_special": r.random() < 0.5},
    "/detokenize": lambda r: {"tokens": [r.randrange(9000) for _ in range(20)]},
    "/apply-template": chat,
}
GETS = ["/health", "/ready", "/v1/models", "/v1/models/one", "/v1/models/none", "/metrics", "/slots", "/slots?model=two", "/props",
        "/props?model=broken", "/props?model=vectors", "/v1/files", "/v1/files?limit=2&order=asc", "/v1/files?limit=x",
        "/v1/batches", "/v1/batches?after=x", "/", "/index.html", "/../../etc/passwd", "/%00", "/v1/nothing"]
FILES, BATCHES = [], []  # ids that were given


def mutated(r, value, depth=0):
    """The same with something else somewhere in it."""
    if isinstance(value, dict) and value and depth < 5 and r.random() < 0.85:
        name = r.choice(sorted(value))
        kind = r.random()
        if kind < 0.15:
            return {other: of for other, of in value.items() if other != name}
        if kind < 0.3:
            return {**value, name: r.choice(JUNK)}
        return {**value, name: mutated(r, value[name], depth + 1)}
    if isinstance(value, list) and value and depth < 5 and r.random() < 0.85:
        at = r.randrange(len(value))
        return [*value[:at], mutated(r, value[at], depth + 1), *value[at + 1:]]
    return r.choice(JUNK)


def damaged(r, body):
    kind = r.randrange(5)
    if kind == 0:
        return body[:r.randrange(len(body) + 1)]
    if kind == 1:
        at = r.randrange(len(body) + 1)
        return body[:at] + r.randbytes(r.randrange(1, 20)) + body[at:]
    if kind == 2:
        return b'{"a":' * r.randrange(1, 3000)
    if kind == 3:
        return r.randbytes(r.randrange(2000))
    return body + b" " * r.choice([10, 1 << 20, 18 << 20])


def form(r):
    lines = []
    for i in range(r.randrange(1, 4)):
        lines.append(json.dumps({"custom_id": str(i), "method": "POST", "url": "/v1/completions",
                                 "body": {"model": r.choice(GOOD_MODELS), "prompt": text(r), "max_tokens": 3}}))
    content = "\n".join(lines).encode()
    if r.random() < 0.2:
        content = damaged(r, content)[:100_000]
    purpose = r.choice([b"batch", b"batch", b"batch", b"assistants"])
    body = b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n' + purpose + b"\r\n"
    body += b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n' + content + b"\r\n--b--\r\n"
    return body if r.random() < 0.9 else damaged(r, body)[:1 << 21]


def request(r):
    """The bytes of one, and whether it is one of those that must not fail."""
    kind = r.random()
    if kind < 0.2:
        path = r.choice([*GETS, *(f"/v1/files/{id}{r.choice(['', '/content'])}" for id in FILES[-2:]),
                         *(f"/v1/batches/{id}" for id in BATCHES[-2:])])
        return f"{r.choice(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'PUT'])} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    if kind < 0.23:
        id = r.choice([*FILES[-5:], "file-x"])
        return f"DELETE /v1/files/{id} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    if kind < 0.28:
        body = form(r)
        return (f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    if kind < 0.3:
        return r.randbytes(r.randrange(300)) + b"\r\n\r\n"
    if kind < 0.36:
        action = r.choice(["save", "save", "restore", "erase", "x"])
        path, value = f"/slots/{r.choice([0, 1, 2, 7, 8, 'x', -1])}?action={action}", slot_file(r)
    elif kind < 0.38 and BATCHES:
        path, value = f"/v1/batches/{r.choice(BATCHES[-3:])}/cancel", {}
    else:
        path = r.choice(sorted(POSTS))
        value = POSTS[path](r)
    if r.random() < 0.6:
        value["model"] = r.choice([*GOOD_MODELS, "one", "one", "broken", "unknown"])
    for _ in range(r.choice([0, 0, 0, 1, 1, 3])):
        value = mutated(r, value)
    body = json.dumps(value, ensure_ascii=r.random() < 0.5).encode("utf-8", "surrogatepass")
    if r.random() < 0.1:
        body = damaged(r, body)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    framing = r.random()
    if framing < 0.85:
        return (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    if framing < 0.95:
        chunks, at = b"", 0
        while at < len(body):
            n = r.randrange(1, 100_000)
            chunk = body[at:at + n]
            chunks += f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n"
            at += n
        return (head + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunks + (b"0\r\n\r\n" if r.random() < 0.9 else b"")
    return (head + f"Content-Length: {r.choice(['-1', 'x', '99999999999999999999', len(body) + 5])}\r\n\r\n").encode() + body


class Client(threading.Thread):
    """Asks one request after the other until the time is over."""

    def __init__(self, port, seed, until, told):
        super().__init__(daemon=True)
        self._port, self._seed, self._until, self._told = port, seed, until, told

    def run(self):
        while time.monotonic() < self._until:
            self._ask(random.Random(self._seed), self._seed)
            self._seed += 1000

    def _ask(self, r, seed):
        sent = request(r)
        leaves = r.random()  # while it sends, while it reads, or not at all
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=120) as connection:
                connection.sendall(sent if leaves > 0.1 else sent[:r.randrange(len(sent) + 1)])
                if leaves < 0.1:
                    return self._told("left early")
                if leaves < 0.3:
                    if leaves < 0.2:
                        time.sleep(r.random() * 0.3)
                    connection.recv(r.randrange(1, 2000))
                    return self._told("left later")
                connection.shutdown(socket.SHUT_WR) if r.random() < 0.2 else None
                self._read(connection, seed, sent)
        except (ConnectionError, BrokenPipeError):
            self._told("reset")
        except (ValueError, LookupError) as error:
            self._told("ODD", f"seed {seed}: {error!r}: the answer is in no known shape, to {sent[:300]}")
        except TimeoutError:
            self._told("TIMEOUT", f"seed {seed}: no answer in 120 s to {sent[:300]}")

    def _read(self, connection, seed, sent):
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(1 << 16)
            if not piece:
                return self._told("closed")
            answer += piece
        head, body = answer.split(b"\r\n\r\n", 1)
        status = int(head.split(b" ")[1])
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while not sent.startswith(b"HEAD") and (
                len(body) < int(length[1]) if length else not body.endswith(b"0\r\n\r\n")):
            piece = connection.recv(1 << 16)
            if not piece:
                break
            body += piece
        if status >= 400 and body and b"application/json" in head:
            error = json.loads(body)["error"]
            if status >= 500 and status not in (501, 503, 504) and "none.gguf" not in error["message"]:
                self._told("FAILED", f"seed {seed}: {status} {error['message']} to {sent[:300]}")
        if status == 200 and b'"object":"file"' in body and sent.startswith(b"POST"):
            FILES.append(json.loads(body)["id"])
        if status == 200 and b'"object":"batch"' in body and sent.startswith(b"POST /v1/batches "):
            BATCHES.append(json.loads(body)["id"])
        self._told(str(status))


def resident_mib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


def story(port):
    body = json.dumps({"prompt": "Once upon a time", "max_tokens": 20, "temperature": 0, "model": "one"}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/completions", body, timeout=300) as answer:
        return json.load(answer)["choices"][0]["text"]


def ask_at_random(server, arguments):
    counts, lock, wrong = collections.Counter(), threading.Lock(), []

    def told(what, details=""):
        with lock:
            counts[what] += 1
            if details:
                wrong.append(details)
                print(details, flush=True)

    before = story(server.port)
    start = time.monotonic()
    clients = [Client(server.port, arguments.seed + i, start + arguments.seconds, told) for i in range(arguments.at_once)]
    for client in clients:
        client.start()
    memory = []
    while any(client.is_alive() for client in clients) and server.process.poll() is None:
        time.sleep(1)
        memory.append(resident_mib(server.process))
        if len(memory) % 30 == 0:
            print(f"{len(memory)} s: {sum(counts.values())} requests, {memory[-1]} MiB", flush=True)
    print(dict(sorted(counts.items())))
    if server.process.poll() is not None:
        return ["the server ended"]
    if story(server.port) != before:
        wrong.append("a greedy reply is another one than before")
    # What is kept has a bound, which is reached early.
    middle, end = memory[len(memory) // 3: 2 * len(memory) // 3], memory[2 * len(memory) // 3:]
    print(f"memory: at most {max(middle, default=0)} MiB in the second third, {max(end, default=0)} MiB in the last")
    if middle and max(end) > 1.15 * max(middle) + 32:
        wrong.append("the server's memory grows")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tern")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=16)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = pathlib.Path(folder, "models.toml")
        models.write_text(MODELS)
        flags = ["--models", models, "--models-max", "2", "--parallel", "8", "--max-waiting", "8", "--cache-ram", "16",
                 "--files", f"{folder}/files", "--max-file-mib", "1", "--slot-save-path", f"{folder}/slots", "--metrics",
                 "--slots", "--drain", "5", "--timeout", "60"]
        with TernServer(arguments.tern, *flags) as server:
            wrong = ask_at_random(server, arguments)
            server.end()
            code = server.wait()
        log = "".join(server.log)
    if code != 0:
        wrong.append(f"the server ended with code {code}")
    report = re.search(r"^.*(Sanitizer|runtime error).*(\n.*){0,60}", log, re.MULTILINE)
    if report:
        wrong.append(report[0])
    print("\n".join(["what went wrong:", *wrong]) if wrong else "all is well")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
