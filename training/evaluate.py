#!/usr/bin/env python3
"""Holds fixed conversations with a model, prints them, and counts what can be counted: a look at one model beside another.

    ./evaluate.py --tern ../build/release/bin/tern -m new.gguf
    ./evaluate.py --url http://127.0.0.1:8080        a server that runs already

Greetings, stories asked for by hero and thing, questions about the story just told, and what it should refuse. Needs nothing
but Python and `tern serve`.
"""

import argparse
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60
GREETINGS = ("Hello!", "hi there", "Good morning, Tern", "Hey, how are you?", "HELLO", "Hello")
IDENTITY = ("Who are you?", "What can you do?", "Are you ChatGPT?")
REFUSED = (
    "What is the capital of France?",
    "What is 17 times 23?",
    "Write a program in Python",
    "Translate this into German",
    "Who is the president?",
    "How do I bake bread?",
    "why is the sky blue",
)
NOT_YET = ("Who found it?", "What is the moral of the story?")
STORIES = (
    ("fox", "lantern"),
    ("hedgehog", "key"),
    ("bear", "kite"),
    ("girl", "flute"),
    ("robot", "umbrella"),
    ("elephant", "drum"),
    ("mouse", "cheese"),
    ("princess", "mirror"),
    ("duck", "boat"),
    ("owl", "book"),
)
CONTINUED = ("Once upon a time", "The little fox", "The old king said to his three sons:")
REFUSAL = re.compile(r"only (know|tell|small)|do not know|I cannot|too hard|small (model|storyteller)")
GREETING = re.compile(r"^(Hello|Hi|Good|I am (well|fine)|Very well)")
NAMED = (  # where a story says the name of a character of some kind
    r"\b{}\b(?: \w+)? (?:named|called|was) ([A-Z][a-z]+)",
    r"\b([A-Z][a-z]+)(?:,| was) an? (?:\w+ )?{}\b",
    r"\b([A-Z][a-z]+) the {}\b",
    r"\b{} ([A-Z][a-z]+)\b",
)


class Client:
    """A server's chat and text completions, and the scores so far."""

    def __init__(self, url: str, temperature: float | None):
        self.url = url
        self.options = {} if temperature is None else {"temperature": temperature}
        self.passed: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        with urllib.request.urlopen(url + "/v1/models", timeout=30) as reply:
            self.model = json.load(reply)["data"][0]["id"]

    def post(self, path: str, body: dict) -> dict:
        data = json.dumps({"model": self.model, "max_tokens": 450, "seed": 1, **self.options, **body}).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=300) as reply:
                return json.load(reply)["choices"][0]
        except urllib.error.HTTPError as error:  # a conversation that has outgrown the context
            if error.code != 400:
                raise
            return {"message": {"content": ""}, "text": ""}

    def say(self, messages: list[dict], text: str) -> str:
        """Adds a message and its answer to the conversation; prints both."""
        messages.append({"role": "user", "content": text})
        answer = self.post("/v1/chat/completions", {"messages": messages})["message"]["content"].strip()
        messages.append({"role": "assistant", "content": answer})
        print(f"> {text}\n{answer}\n", flush=True)
        return answer

    def score(self, name: str, passed: bool) -> None:
        self.tried[name] += 1
        self.passed[name] += passed
        if not passed:
            print(f"  (not passed: {name})\n")


def repeats(text: str) -> bool:
    """Whether a sentence comes three times."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", text) if len(s) > 12]
    return bool(sentences) and Counter(sentences).most_common(1)[0][1] >= 3


def name_of(kind: str, story: str) -> str | None:
    matches = (re.search(pattern.replace("{}", kind), story) for pattern in NAMED)
    return next((match[1] for match in matches if match), None)


def tell(client: Client, hero: str, thing: str) -> None:
    """A story, and questions whose answers are in it."""
    messages: list[dict] = []
    article = {True: "an", False: "a"}
    request = f"Tell me a story about {article[hero[0] in 'aeiou']} {hero} and {article[thing[0] in 'aeiou']} {thing}"
    story = client.say(messages, request)
    client.score("the story has its hero", hero in story.lower())
    client.score("the story has its thing", thing in story.lower())
    client.score("the story does not repeat itself", not repeats(story))
    client.score("the story ends", story[-1:] in '.!?"')
    client.score("the story is 80 words or longer", len(story.split()) >= 80)
    name = name_of(hero, story)
    about = client.say(messages, "Who is the story about?")
    asked = client.say(messages, f"What was the {hero}'s name?")
    if name:
        client.score("who: its name", name in about)
        client.score("what is it called", name in asked)
        client.score("what was it", hero in client.say(messages, f"What kind of animal was {name}?"))
    dragon = client.say(messages, "Was there a dragon in the story?")
    client.score("nothing that is not there", dragon.startswith("No") or "dragon" in story)
    for question in ("Where was it?", "What is the moral of the story?", "Give it a title."):
        answer = client.say(messages, question)
        client.score("short answers", 0 < len(answer.split()) < 30)
    refused = client.say(messages, "What is the capital of France?")
    client.score("refused after a story", bool(REFUSAL.search(refused)))


def each(client: Client, name: str, texts: tuple[str, ...], right: Callable[[str], bool]) -> None:
    for text in texts:
        client.score(name, right(client.say([], text)))


def evaluate(client: Client) -> None:
    each(client, "greeted", GREETINGS, lambda answer: bool(GREETING.search(answer)) and len(answer) < 200)
    each(client, "says what it is", IDENTITY, lambda answer: bool(re.search("stor(y|ies)", answer)) and len(answer) < 300)
    each(client, "refused", REFUSED, lambda answer: bool(REFUSAL.search(answer)))
    each(client, "no story yet", NOT_YET, lambda answer: bool(re.search("no story yet|not told", answer)))
    for hero, thing in STORIES:
        tell(client, hero, thing)
    for beginning in CONTINUED:
        text = client.post("/v1/completions", {"prompt": beginning, "max_tokens": 250})["text"]
        print(f"{beginning}|{text}\n")
        client.score("continued without repeating", not repeats(text))
    for name, tried in client.tried.items():
        print(f"{client.passed[name]:3} of {tried:3}  {name}")
    print(f"{sum(client.passed.values()):3} of {sum(client.tried.values()):3}  in all")


@contextmanager
def served(tern: Path, model: Path) -> Iterator[str]:
    """The address of a server of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [tern, "serve", "-m", model, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(url + "/v1/models", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError) as error:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{tern} serve -m {model}: does not answer: {error}") from error
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    built = Path(__file__).resolve().parent.parent / "build/release/bin/tern"
    parser.add_argument("--tern", type=Path, default=built, help="default: %(default)s")
    parser.add_argument("-m", "--model", type=Path, help="the GGUF file to serve")
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--temperature", type=float, help="0 is greedy; default: what the file recommends")
    args = parser.parse_args()

    if args.url:
        evaluate(Client(args.url, args.temperature))
    elif args.model:
        with served(args.tern, args.model) as url:
            evaluate(Client(url, args.temperature))
    else:
        parser.error("give -m FILE or --url URL")


if __name__ == "__main__":
    main()
