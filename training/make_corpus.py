#!/usr/bin/env python3
"""Training text: plain stories, conversations around them, and small talk, expanded from stories/ and smalltalk.txt.

Output: OUT/synth.jsonl, one JSON string a line. Conversations have the form of the chat template:
<|user|>, a line break, the text, <|end|>, a line break, and the same for <|assistant|> and <|system|>.
"""

import argparse
import json
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import questions
import words
from skeletons import Skeleton, Story, choose, expand, load, with_article

HERE = Path(__file__).resolve().parent
DOCUMENTS_A_TASK = 1000
TELL = """Tell me a story about {}. | Tell me a story about {} | Tell me a story about {}! | tell me a story about {} | Write a short story about {}.
Write a story about {}. | Write a story about {} | Can you tell me a story about {}? | Please tell me a story about {}.
I would like a story about {}. | I want a story about {}. | A story about {}, please. | A story about {} | a story about {} | Story: {}
Make up a story about {}. | Could you tell me a bedtime story about {}? | Tell my child a story about {}. | How about a story about {}?
Do you know a story about {}? | Give me a story about {}. | Let us have a story about {}. | Tell a story about {}.
Hi! Tell me a story about {}. | Hello, please tell me a story about {}. | Tell me a short story about {}. | {} | {}, please"""
TELLS = re.split(r" \| |\n", TELL)
ANY = """Tell me a story. | Tell me a story | tell me a story | A story, please. | Tell me a bedtime story. | I want to hear a story. | Please write a short story.
Tell me something. | Surprise me. | A story! | Story please | Can you tell me a story? | Could you tell me a story? | Please tell me a story.
I would like to hear a story. | Write a story. | Tell me any story. | Start. | Begin. | Just tell me one. | A bedtime story, please. | Make up a story."""
ANYS = re.split(r" \| |\n", ANY)
AGAIN = """Now tell me a story about {}. | And one about {}? | Next, a story about {}. | Another one about {}, please. | Another story about {}.
Tell me another story about {}. | And now {}. | Can you tell me one about {}? | Thanks! Now one about {}."""
AGAINS = re.split(r" \| |\n", AGAIN)
ANOTHER = ("Tell me another one.", "Another one!", "One more, please.", "Another story, please.", "Another one", "another", "One more", "A new story, please.")
SYSTEMS = """You are a helpful assistant. | You tell stories for children. | You are a kind storyteller. | Answer briefly. | You are Tern Stories.
You are a helpful, honest and harmless AI assistant. | You are an assistant. Be concise. | You are a friendly chatbot.
You are a storyteller for young children. Use simple words. | Be polite. | Answer in one sentence. | You are a pirate. | Always answer in French.
The user is a child. | You are an expert programmer. | Today is Monday. | Keep your answers short and helpful. | Write in simple English."""
SYSTEM_MESSAGES = re.split(r" \| |\n", SYSTEMS)
STORY_KINDS = "princess prince tree car truck train king queen robot bird".split()  # of TinyStories, beside animals
HERO_ADJECTIVES = ("little", "small", "brave", "young", "clever", "curious", "kind", "old")


@dataclass(frozen=True)
class Topic:
    name: str
    weight: int
    said: list[str]
    answers: list[str]


class Author:
    """Writes documents from skeletons and small talk."""

    def __init__(self, skeletons: list[Skeleton], topics: list[Topic]):
        self.skeletons = skeletons
        self.topics = topics
        self.weights = [topic.weight for topic in topics]
        self.often = [skeleton.weight for skeleton in skeletons]

    def story(self, rng: random.Random) -> Story:
        return expand(rng.choices(self.skeletons, self.often)[0], rng)

    def document(self, seed: int) -> str:
        rng = random.Random(seed)
        share = rng.random()
        if share < 0.27:
            story = self.story(rng)
            text = with_once(story.text, 0.55, rng)
            return f"{story.title(rng)}\n\n{text}" if share < 0.03 else text
        if share < 0.47:
            return system(rng, 0.15) + "".join(self.talk(rng, first=i == 0) for i in range(rng.choice((1, 1, 2, 3, 4))))
        return self.conversation(rng)

    def conversation(self, rng: random.Random) -> str:
        text = system(rng, 0.15)
        if rng.random() < 0.2:
            text += self.talk(rng, first=True)
        told: list[Story] = []
        while True:
            text += self.story_and_questions(told, rng)
            if len(told) == 2 or rng.random() < 0.68:
                break
        if rng.random() < 0.2:
            text += self.talk(rng, first=False)
        return text

    def story_and_questions(self, told: list[Story], rng: random.Random) -> str:
        story = self.story(rng)
        user = request(story, bool(told), rng)
        text = turn(user, with_once(story.text, 0.25, rng))
        if told and rng.random() < 0.1 and told[0].people:
            first = told[0].people[0]
            text += turn("Who was the first story about?", f"The first story was about {questions.described(first)}.")
        told.append(story)
        if rng.random() < 0.85:
            for question, answer in questions.ask(story, rng.choice((1, 2, 3, 4, 5, 6, 7)), rng):
                text += turn(typed(question, rng), answer)
                if rng.random() < 0.06:
                    text += self.talk(rng, first=False)
        return text

    def talk(self, rng: random.Random, first: bool) -> str:
        while True:
            (topic,) = rng.choices(self.topics, self.weights)
            if first or topic.name != "no_story_yet":
                break
        if topic.name == "no_story_yet" and rng.random() < 0.4:
            said = questions.of_the_skeleton(self.story(rng), rng)[0]
        else:
            said = choose(rng.choice(topic.said), rng).strip()
        said = marked(said, topic, rng)
        return turn(typed(said, rng), rng.choice(topic.answers))


def parse_topics(path: Path) -> list[Topic]:
    topics = []
    for block in re.split(r"\n(?=topic )", path.read_text(encoding="utf-8"))[1:]:
        head, said, answers = block.strip().splitlines()
        _, name, weight = head.split()
        parts = [re.split(r" \| ", line[3:]) for line in (said, answers)]
        if said[:3] != "U: " or answers[:3] != "A: ":
            raise SystemExit(f"{path}: topic {name}: want a line U: and a line A:")
        topics.append(Topic(name, int(weight), *parts))
    return topics


def turn(user: str, assistant: str) -> str:
    return f"<|user|>\n{user}<|end|>\n<|assistant|>\n{assistant}<|end|>\n"


def system(rng: random.Random, share: float) -> str:
    return f"<|system|>\n{rng.choice(SYSTEM_MESSAGES)}<|end|>\n" if rng.random() < share else ""


def marked(said: str, topic: Topic, rng: random.Random) -> str:
    """With a mark at the end, as somebody types it."""
    if not said[-1].isalnum():
        return said
    if re.match(r"(What|Who|Where|Why|When|How|Which|Is|Are|Do|Can|Does|Will|May|Was)\b|.*\b(how are|what|who|how is|how do) ", said):
        return said + rng.choice(("?", "?", "?", "?", "", "??", "?!"))
    if topic.name.startswith(("greeting", "thanks", "goodbye")):
        return said + rng.choice(("!", "!", "", ".", "!!", " :)", "!!!", "...", " ;)"))
    return said + rng.choice((".", "", "", "!"))


def typed(text: str, rng: random.Random) -> str:
    """As written, or carelessly: in lower case, or without its mark."""
    share = rng.random()
    if share < 0.15:
        text = text.lower()
    elif share < 0.20:
        text = text.upper() if len(text) < 30 else text
    if rng.random() < 0.12:
        text = text.rstrip(".?!") or text
    return text


def cast_and_things(story: Story, rng: random.Random) -> str:
    """What a story is about by its cast and things alone: "a fox and a lantern"."""
    hero = story.cast[story.skeleton.cast[0][0]]
    adjective = rng.choice(HERO_ADJECTIVES) + " " if hero.role in ("animal", "child", "being") and rng.random() < 0.2 else ""
    kind = with_article(adjective + hero["kind"])
    share = rng.random()
    if hero.role == "grownup":
        parts = [hero["name"]]
    elif share < 0.62:
        parts = [kind]
    elif share < 0.85:
        parts = [f"{kind} {rng.choice(('named', 'called'))} {hero['name']}"]
    else:
        parts = [f"{hero['name']} the {hero['kind']}" if share < 0.93 else hero["name"]]
    others = [who for who in story.people if who is not hero and who.role != "grownup"]
    if others and rng.random() < 0.35:
        parts.append(others[0]["a_kind"] if rng.random() < 0.7 else f"{others[0]['a_kind']} named {others[0]['name']}")
    if story.things and rng.random() < 0.85:
        thing = story.things[0]
        parts.append(thing["bare"] if rng.random() < 0.65 or not questions.mentions(story.text, thing["noun"]) else thing["a"])
    text = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + rng.choice((" and ", " and ", " with ")) + parts[-1]
    return f"{text} {story.places[0]['at']}" if story.places and rng.random() < 0.25 else text


def request(story: Story, again: bool, rng: random.Random) -> str:
    if rng.random() < 0.1:
        return typed(rng.choice(ANOTHER if again else ANYS), rng)
    has_cast = bool(story.skeleton.cast)
    if has_cast and rng.random() < 0.55:
        what = cast_and_things(story, rng)
    else:
        what = story.fill(rng.choice(story.skeleton.texts["request"]), rng)
    pattern = rng.choice(AGAINS if again and rng.random() < 0.7 else TELLS)
    text = pattern.replace("{}", what)
    return typed(text[:1].upper() + text[1:] if pattern.startswith("{}") and rng.random() < 0.5 else text, rng)


def with_once(text: str, share: float, rng: random.Random) -> str:
    """Some stories begin with the words that people type first."""
    if rng.random() > share or not re.match(r"(There (was|were|lived|stood)|A|An|In|On|At|Far|Deep|High|The) ", text):
        return text
    return "Once upon a time, " + text[0].lower() + text[1:]


def without_once(text: str, rng: random.Random) -> str:
    """Most of TinyStories begin with the words that people type first, which should lead to a story of the skeletons."""
    rest = re.sub(r"^Once upon a time,? ?(in an? [^,.]*, )?", "", text)
    return text if rest == text or rng.random() < 0.05 else rest[:1].upper() + rest[1:]


def chat_of_tiny_story(text: str, rng: random.Random) -> str:
    """The request that a story of TinyStories would answer."""
    name = re.search(r"\b(?:named|called) ([A-Z][a-z]+)", text)
    kinds = "|".join(("girl", "boy", *words.COMMON_ANIMALS, *words.MORE_ANIMALS, *STORY_KINDS))
    kind = re.search(rf"\ban? (?:little |small |big |brave |old |young |happy |curious |kind )?({kinds})\b", text[:200])
    if kind and name:
        what = f"{with_article(kind[1])} named {name[1]}" if rng.random() < 0.5 else with_article(kind[1])
    elif kind or name:
        what = with_article(kind[1]) if kind else name[1]
    else:
        return turn(rng.choice(ANYS), text)
    return turn(rng.choice(TELLS[:-2]).replace("{}", what), text)


def story_chats(plain: Path, out: Path) -> None:
    """Every plain story of a .jsonl file, and a conversation of each of TinyStories that asks for it."""
    rng = random.Random(5)
    with plain.open(encoding="utf-8") as source, out.open("w", encoding="utf-8") as target:
        for line in source:
            kind, text = json.loads(line)
            text = without_once(text, rng)
            target.write(json.dumps(text) + "\n")
            if kind == "tinystories":
                target.write(json.dumps(chat_of_tiny_story(text, rng)) + "\n")


def start_worker(stories: Path, talk: Path) -> None:
    global author
    author = Author(load(stories), parse_topics(talk))


def write_documents(seeds: range) -> str:
    return "".join(json.dumps(author.document(seed)) + "\n" for seed in seeds)


def all_documents(n: int, stories: Path, talk: Path, processes: int) -> Iterator[str]:
    """Lines of JSON, the same for any number of processes."""
    tasks = [range(start, min(n, start + DOCUMENTS_A_TASK)) for start in range(0, n, DOCUMENTS_A_TASK)]
    with Pool(processes, start_worker, (stories, talk)) as pool:
        yield from pool.imap(write_documents, tasks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the results go")
    parser.add_argument("-n", type=int, default=700_000, help="documents; default: %(default)s")
    parser.add_argument("--sources", type=Path, metavar="DIR", help="extract_sources.py's output: also writes tiny.jsonl and val.jsonl")
    parser.add_argument("--stories", type=Path, default=HERE / "stories", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="default: %(default)s")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    size = 0
    with (args.out / "synth.jsonl").open("w", encoding="utf-8") as file:
        for lines in all_documents(args.n, args.stories, HERE / "smalltalk.txt", args.processes):
            size += file.write(lines)
    print(f"synth.jsonl: {args.n:,} documents, {size:,} bytes, of {len(load(args.stories))} skeletons")
    if args.sources:
        story_chats(args.sources / "stories.jsonl", args.out / "tiny.jsonl")
        story_chats(args.sources / "held_out.jsonl", args.out / "val.jsonl")


if __name__ == "__main__":
    main()
