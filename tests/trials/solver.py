"""Tasks of admission solved from their texts alone, as an agent would with some Python."""

import base64
import hashlib
import json
import re


def solve(text: str) -> str:
    first, _, rest = text.partition("\n")
    solvers = {
        "From the record": _json_value,
        "Take the last word": _lines,
        "Count the letters": _letters,
        "Sort the words": _sorted_hash,
        "Add up": _sums,
        "Decode the base64": _decoding,
        "Begin with": _steps,
    }
    (found,) = [solver for begins, solver in solvers.items() if first.startswith(begins)]
    return found(first, rest)


def _json_value(asked: str, given: str) -> str:
    name, ordinal = re.findall(r'is "(\w+)", give the (\w+)', asked)[0]
    (record,) = [each for each in json.loads(given)["records"] if each["name"] == name]
    place = ["first", "second", "third"].index(ordinal)
    return f"{record['parts'][place]}:{record['id']}"


def _lines(asked: str, given: str) -> str:
    (word,) = re.findall('the word "(.*?)"', asked)
    return "-".join(line.split()[-1] for line in given.splitlines() if word in line.split())


def _letters(asked: str, given: str) -> str:
    letter, factor = re.findall(r'letters "(.)".* multiply by (\d+)', asked)[0]
    return str(given.count(letter) * int(factor) + len(given.split()))


def _sorted_hash(asked: str, given: str) -> str:
    assert "12 hex digits" in asked
    return hashlib.sha256(",".join(sorted(given.split())).encode()).hexdigest()[:12]


def _sums(asked: str, given: str) -> str:
    (colour,) = re.findall('colour is "(.*?)"', asked)
    rows = [line.split(",") for line in given.splitlines()[1:]]
    return str(sum(int(row[2]) for row in rows if row[0] == colour))


def _decoding(asked: str, given: str) -> str:
    assert "backwards" in asked
    return base64.b64decode(given).decode()[::-1]


def _steps(asked: str, given: str) -> str:
    assert not given
    start, factor, added, modulus = map(int, re.findall(r"\d+", asked))
    return str((start * factor + added) ** 2 % modulus)


if __name__ == "__main__":
    import sys

    for task in json.load(sys.stdin)["tasks"]:
        print(solve(task["text"]))
