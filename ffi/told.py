"""What the C headers tell of each function: for gate.py.

1. Above each prototype stands a comment of its own, that says what the function does, and then `Results:`.
2. Its cost is there (`Cost:`), or in the banner of its section, or in the comment that the file begins with.
3. Results are names that are declared: KVL_..., or _NAME for one more with the prefix of the one before, or a set that
   the first comment of the first header defines in a line of its own. Other comments name nothing that is not declared
   either.
"""

import re

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
PROTOTYPE = re.compile(r"^kvl_(?:device_)?status (kvl_\w+)\(", re.MULTILINE)
BANNER = "/* ----"
# The line that defines a set, in the comment that a header begins with.
SET = re.compile(r"^ \*     ([A-Z]+)  ", re.MULTILINE)
CLAUSE = re.compile(r"\bResults: (.*?)(?=\b(?:Cost|Threads):|$)", re.DOTALL)
# In the clause: a name, one more with its prefix, or a set. (A single letter is a number of the pool: A, R, S, N.)
NAME = re.compile(r"\b(KVL_[A-Z0-9_]+)|(?<!\w)(_[A-Z][A-Z0-9_]*)|\b([A-Z]{2,})\b")
NO_SETS = {"CPU", "CUDA", "GPU", "NULL"}


def words(comment):
    """A comment without its stars."""
    return re.sub(r"\s*\n \*\s*", " ", comment.removeprefix("/*").removesuffix("*/")).strip()


def first_comment(text):
    found = COMMENT.match(text)
    return found[0] if found else ""


def comments_before(text):
    """Each prototype with the comment that ends on the line before it, and the last banner above it."""
    comments = list(COMMENT.finditer(text))
    for prototype in PROTOTYPE.finditer(text):
        above = [comment for comment in comments if comment.end() < prototype.start()]
        own = next((c[0] for c in above[-1:] if text[c.end() : prototype.start()] == "\n"), "")
        banner = next((c[0] for c in reversed(above) if c[0].startswith(BANNER)), "")
        yield prototype[1], "" if own.startswith(BANNER) else own, banner


def unknown(clause, prefix, declared, sets):
    """What results there are that nobody has declared."""
    known = False
    for name, more, word in NAME.findall(clause):
        known |= name.startswith(prefix + "_")
        if name and name not in declared:
            yield name
        elif more and not (known and prefix + more in declared):
            yield more
        elif word and word not in sets | NO_SETS:
            yield word


def faults(include, headers, prefix):
    """One line for each function of which less is told, and for each name that is none. `headers`: of one library, the one
    that has the conventions first."""
    texts = {header: header.read_text() for header in sorted(include.glob("**/*.h"))}
    code = "\n".join(COMMENT.sub(" ", text) for text in texts.values())
    declared = set(re.findall(r"\w+", code))
    sets = set(SET.findall(first_comment(texts[headers[0]])))
    found = []
    for header in headers:
        begin = first_comment(texts[header])
        for function, comment, banner in comments_before(texts[header]):
            told = words(comment)
            clause = CLAUSE.search(told)
            if not told or told.startswith("Results:"):
                found.append(f"{function}: {header.name} does not say what it does")
            if not clause:
                found.append(f"{function}: {header.name} does not say its Results")
            if "Cost: " not in told + words(banner) + words(begin):
                found.append(f"{function}: {header.name} does not say its Cost")
            if clause:
                wrong = unknown(clause[1], prefix, declared, sets)
                found += [f"{function}: {name} among its Results is nothing that is declared" for name in wrong]
        named = re.findall(r"\b(?:KVL|kvl)_\w*[A-Za-z0-9]\b", " ".join(COMMENT.findall(texts[header])))
        found += [f"{name}: in a comment of {header.name}, but not declared" for name in sorted(set(named) - declared)]
    return found
