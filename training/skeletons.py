#!/usr/bin/env python3
"""Stories from skeletons: checks the files of stories/, and shows what they expand to.

    ./skeletons.py check stories/*.story
    ./skeletons.py show stories/*.story -n 3 --seed 7

A skeleton begins with a line "# id: NAME". Then come its lines, in this order:

    cast NAME child|boy|girl|animal|any|grownup      a character, drawn once: {hero} {hero.kind} {hero.a_kind} {hero.he} …
    pick NAME CATEGORY                               a thing or place of words.py: {thing} {thing.a} {thing.the}, {place.at} …
    row NAME: key="…" other="…" | key="…" other="…"  what belongs together, drawn as a whole: {row.key}
    weight N                                         told N times as often as others
    title:, lesson:, request: … | …                  alternatives; a request completes "a story about"
    ask: QUESTION => ANSWER                          what the story answers
    begin, then beats divided by "--"                each beat lists its wordings, one a line after "="
    -- 40                                            the beat that follows is told in 40 of 100 stories

[one|other] chooses a wording anywhere, and a capital in a slot's name ({hero.He}) capitalizes what it says.
"""

import argparse
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import words

CAST_KINDS = ("child", "boy", "girl", "animal", "any", "grownup")
PRONOUNS = {"he": ("he", "him", "his", "himself"), "she": ("she", "her", "her", "herself")}
ODD_PLURALS = {"loaf": "loaves", "scarf": "scarves", "mouse": "mice", "watch": "watches", "dress": "dresses", "brush": "brushes"}
SYLLABLES = "ba be bi bo da do fa fi go ka ki ko la le li lo lu ma mi mo na ni no pa pi ra ri ro sa so ta ti to va vi wo za zi".split()
SHORTEST, LONGEST = 90, 320  # words of a story, on average


def with_article(words_: str) -> str:
    vowel = words_[0].lower() in "aeiou" and not words_.startswith(("uni", "use", "one", "uku"))
    return ("an " if vowel or words_.startswith("hour") else "a ") + words_


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def plural(noun: str) -> str:
    head, of, rest = noun.partition(" of ")
    before, space, last = head.rpartition(" ")
    if last in ODD_PLURALS:
        last = ODD_PLURALS[last]
    elif last.endswith(("ch", "sh", "x", "s")):
        last += "es"
    elif re.search("[^aeiou]y$", last):
        last = last[:-1] + "ies"
    else:
        last += "s"
    return before + space + last + of + rest


@dataclass(frozen=True)
class Drawn:
    """What a slot's name stands for in one story: its forms, by the name of the form; "" is the plain one."""

    role: str  # a kind of cast, a category of words.py, or "row"
    forms: dict[str, str]

    def form(self, name: str) -> str | None:
        if name in self.forms:
            return self.forms[name]
        lower = name[:1].lower() + name[1:]
        return capitalized(self.forms[lower]) if lower in self.forms else None

    def __getitem__(self, name: str) -> str:
        return self.forms[name]


Cast = dict[str, Drawn]


@dataclass
class Beat:
    percent: int
    wordings: list[str] = field(default_factory=list)


@dataclass
class Skeleton:
    id: str
    where: str
    weight: int = 1  # how often it is told, compared with others
    cast: list[tuple[str, str]] = field(default_factory=list)
    picks: list[tuple[str, str]] = field(default_factory=list)
    rows: list[tuple[str, list[dict[str, str]]]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=lambda: {"title": [], "lesson": [], "request": []})
    asks: list[tuple[str, str]] = field(default_factory=list)
    beats: list[Beat] = field(default_factory=list)


@dataclass(frozen=True)
class Story:
    skeleton: Skeleton
    cast: Cast
    text: str

    def fill(self, text: str, rng: random.Random) -> str:
        return fill(text, self.cast, rng)

    def title(self, rng: random.Random) -> str:
        """One of its titles, in title case."""
        words_ = self.fill(rng.choice(self.skeleton.texts["title"]), rng).split(" ")
        small = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "of", "on", "or", "over", "the", "to", "up", "with"}
        return " ".join(word if i and word in small else capitalized(word) for i, word in enumerate(words_))

    @property
    def people(self) -> list[Drawn]:
        """The characters that the text names, the hero first."""
        return [self.cast[name] for name, _ in self.skeleton.cast if self.cast[name]["name"] in self.text]

    @property
    def things(self) -> list[Drawn]:
        return [self.cast[name] for name, category in self.skeleton.picks if category in words.THINGS]

    @property
    def places(self) -> list[Drawn]:
        return [self.cast[name] for name, category in self.skeleton.picks if category in words.PLACES]


def parse_row(rest: str) -> tuple[str, list[dict[str, str]]]:
    name, _, alternatives = rest.partition(":")
    rows = [dict(re.findall(r'(\w+)="([^"]*)"', alternative)) for alternative in alternatives.split(" | ")]
    if len(rows) < 3 or any(set(row) != set(rows[0]) for row in rows):
        raise ValueError("a row needs at least 3 alternatives with the same keys")
    return name.strip(), rows


def parse_line(skeleton: Skeleton, line: str) -> None:
    key, _, rest = line.partition(" ")
    if key == "cast" or key == "pick":
        name, kind = rest.split()
        known = CAST_KINDS if key == "cast" else (*words.THINGS, *words.PLACES)
        if kind not in known:
            raise ValueError(f"{kind!r} is none of {', '.join(known)}")
        (skeleton.cast if key == "cast" else skeleton.picks).append((name, kind))
    elif key == "weight":
        skeleton.weight = int(rest)
    elif key == "row":
        skeleton.rows.append(parse_row(rest))
    elif key.rstrip(":") in skeleton.texts:
        skeleton.texts[key.rstrip(":")] += [text.strip() for text in rest.split(" | ")]
    elif key == "ask:":
        question, answer = rest.split("=>")
        skeleton.asks.append((question.strip(), answer.strip()))
    elif key == "begin":
        skeleton.beats.append(Beat(100))
    elif key == "--":
        skeleton.beats.append(Beat(int(rest or 100)))
    elif key == "=":
        skeleton.beats[-1].wordings.append(rest.strip())
    else:
        raise ValueError("what is this line?")


def parse(path: Path) -> list[Skeleton]:
    skeletons: list[Skeleton] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.rstrip()
        if line.startswith("# id:"):
            skeletons.append(Skeleton(line[5:].strip(), f"{path}:{number}"))
        elif line and line != "end" and not line.startswith("#"):
            try:
                parse_line(skeletons[-1], line)
            except (ValueError, IndexError) as error:
                raise SystemExit(f"{path}:{number}: {error}: {line[:80]}") from error
    return skeletons


def load(folder: Path) -> list[Skeleton]:
    skeletons = [skeleton for path in sorted(folder.glob("*.story")) for skeleton in parse(path)]
    if not skeletons:
        raise SystemExit(f"{folder}: no skeletons in *.story")
    return skeletons


def person(role: str, name: str, kind: str, pronoun: str) -> Drawn:
    he, him, his, himself = PRONOUNS[pronoun]
    forms = {"": name, "name": name, "kind": kind, "a_kind": with_article(kind), "the_kind": "the " + kind}
    return Drawn(role, forms | {"he": he, "him": him, "his": his, "himself": himself})


def draw_person(role: str, rng: random.Random) -> Drawn:
    if role == "grownup":
        return person(role, *rng.choice(words.GROWN_UPS))
    pronoun = {"boy": "he", "girl": "she"}.get(role) or rng.choice(("he", "she"))
    human_names = words.GIRLS if pronoun == "she" else words.BOYS
    made_up = "".join(rng.choices(SYLLABLES, k=rng.choice((2, 2, 3)))).capitalize()
    share = rng.random()
    if role in ("child", "boy", "girl") or (role == "any" and share < 0.38):
        kind = "girl" if pronoun == "she" else "boy"
        return person("child", rng.choice(human_names) if rng.random() > 0.04 else made_up, kind, pronoun)
    if role == "any" and share < 0.47:
        name = rng.choice(human_names if rng.random() < 0.7 else words.PET_NAMES)
        return person("being", name, rng.choice(words.BEINGS[pronoun]), pronoun)
    kind = rng.choice(words.COMMON_ANIMALS if rng.random() < 0.5 else words.MORE_ANIMALS)
    share = rng.random()
    name = rng.choice(words.PET_NAMES) if share < 0.8 else rng.choice(human_names) if share < 0.94 else made_up
    return person("animal", name, kind, pronoun)


def draw_thing(category: str, rng: random.Random) -> Drawn:
    adjectives, noun = rng.choice(words.THINGS[category])
    adjective = rng.choice([a for a in adjectives if a not in noun.split()])
    full = f"{adjective} {noun}"
    forms = {"": noun, "a": with_article(full), "bare": with_article(noun), "the": f"the {noun}", "full": f"the {full}"}
    return Drawn(category, forms | {"adj": adjective, "s": plural(noun), "noun": full})


def draw_place(category: str, rng: random.Random) -> Drawn:
    noun, at, to = rng.choice(words.PLACES[category])
    return Drawn(category, {"": noun, "the": f"the {noun}", "at": f"{at} the {noun}", "to": f"{to} the {noun}"})


def draw(skeleton: Skeleton, rng: random.Random) -> Cast:
    """One drawing of cast, picks and rows. No name, kind of animal or thing comes twice."""
    cast: Cast = {}
    used: set[str] = set()
    for name, role in skeleton.cast:
        while True:
            drawn = draw_person(role, rng)
            unique_kind = drawn["kind"] not in ("boy", "girl")
            if drawn["name"] not in used and not (unique_kind and drawn["kind"] in used):
                break
        used |= {drawn["name"], drawn["kind"]}
        cast[name] = drawn
    for name, category in skeleton.picks:
        drawing = draw_thing if category in words.THINGS else draw_place
        while (drawn := drawing(category, rng))[""] in used:
            pass
        used.add(drawn[""])
        cast[name] = drawn
    for name, alternatives in skeleton.rows:
        cast[name] = Drawn("row", rng.choice(alternatives))
    return cast


def choose(text: str, rng: random.Random) -> str:
    """[one|other] → one of them, from the inside out."""
    while True:
        chosen = re.sub(r"\[([^\[\]]*)\]", lambda match: rng.choice(match[1].split("|")), text)
        if chosen == text:
            return text
        text = chosen


def fill(text: str, cast: Cast, rng: random.Random) -> str:
    def slot(match: re.Match[str]) -> str:
        name, _, form = match[1].partition(".")
        said = cast[name].form(form) if name in cast else None
        if said is None:
            raise KeyError(match[0])
        return said

    text = choose(text, rng)
    while "{" in text:
        text = re.sub(r"\{([\w.]+)\}", slot, text)
    return re.sub("  +", " ", text)


def expand(skeleton: Skeleton, rng: random.Random) -> Story:
    cast = draw(skeleton, rng)
    told = [beat for beat in skeleton.beats if rng.random() * 100 < beat.percent]
    sentences = [capitalized(fill(rng.choice(beat.wordings), cast, rng).removeprefix("¶").strip()) for beat in told]
    paragraphs: list[list[str]] = [[]]
    for sentence in sentences:
        if len(paragraphs[-1]) >= 3 and rng.random() < 0.45:
            paragraphs.append([])
        paragraphs[-1].append(sentence)
    text = "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)
    text = re.sub(r'(^|(?<=[.!?] ))("?)([a-z])', lambda match: match[2] + match[3].upper(), text)
    return Story(skeleton, cast, text)


def faults(skeleton: Skeleton) -> list[str]:
    rng = random.Random(1)
    found = []
    if not 8 <= len(skeleton.beats) <= 20:
        found.append(f"{len(skeleton.beats)} beats (want 8 to 20)")
    found += [f"beat {i} has {len(beat.wordings)} wordings (want 3)" for i, beat in enumerate(skeleton.beats, 1) if len(beat.wordings) < 3]
    found += [f"{part}: want 2 alternatives, divided by ' | '" for part, texts in skeleton.texts.items() if len(texts) < 2]
    if len(skeleton.asks) < 3:
        found.append("want 3 ask lines")
    everything = [t for texts in skeleton.texts.values() for t in texts] + [t for ask in skeleton.asks for t in ask]
    everything += [wording for beat in skeleton.beats for wording in beat.wordings]
    try:
        for _ in range(20):
            cast = draw(skeleton, rng)
            if left := [text for text in everything if re.search(r"[\[\]{}|]", fill(text, cast, rng))]:
                found.append(f"unbalanced: {left[0][:60]}")
                break
        mean = sum(len(expand(skeleton, rng).text.split()) for _ in range(20)) / 20
        if not SHORTEST <= mean <= LONGEST:
            found.append(f"{mean:.0f} words on average (want {SHORTEST} to {LONGEST})")
    except (KeyError, IndexError) as error:
        found.append(f"unknown slot {error}")
    return found


def show(skeleton: Skeleton, rng: random.Random) -> None:
    story = expand(skeleton, rng)
    texts = {part: story.fill(rng.choice(alternatives), rng) for part, alternatives in skeleton.texts.items()}
    print(f"## {skeleton.id}: {story.title(rng)}\nrequest: {texts['request']}\n\n{story.text}\n\nlesson: {texts['lesson']}")
    for question, answer in skeleton.asks:
        print(f"{story.fill(question, rng)} {story.fill(answer, rng)}")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("check", "show"))
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("-n", type=int, default=3, help="skeletons to show; default: %(default)s")
    parser.add_argument("--seed", type=int, help="show the same again")
    args = parser.parse_args()

    skeletons = [skeleton for path in args.files for skeleton in parse(path)]
    if args.action == "show":
        rng = random.Random(args.seed)
        for skeleton in rng.sample(skeletons, min(args.n, len(skeletons))):
            show(skeleton, rng)
        return
    found = [f"{skeleton.where}: {skeleton.id}: {'; '.join(wrong)}" for skeleton in skeletons if (wrong := faults(skeleton))]
    print("\n".join([*found, f"{len(skeletons)} skeletons, {len(found)} with faults"]))
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
