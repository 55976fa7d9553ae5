"""Reads source code: its top-level constructs, small ones joined."""

from __future__ import annotations

from cuetrail.ingest import split
from cuetrail.ingest.document import Document, Part, stem
from cuetrail.ingest.passages import compose

LANGUAGES = {
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts"), "typescript"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hh", "hpp"), "c++"),
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("ml", "mli"), "ocaml"),
    **dict.fromkeys(("clj", "cljs"), "clojure"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("css", "scss"), "css"),
    **dict.fromkeys(("vue", "svelte"), "javascript"),
    **{
        name: name
        for name in ("go", "java", "scala", "swift", "php", "lua", "dart", "sql", "toml", "zig", "nim", "proto")
    },
    "rs": "rust",
    "rb": "ruby",
    "cs": "c#",
    "hs": "haskell",
    "pl": "perl",
    "r": "r",
    "jl": "julia",
    "erl": "erlang",
    "fs": "f#",
    "ps1": "powershell",
    "tf": "terraform",
    "ini": "ini",
    "cfg": "ini",
    "m": "objective-c",
    "vim": "vim",
}


def read(text: str, source: str) -> Document:
    """Returns source code as one document of kind `code`, in pieces, with its programming language.

    The properties of a piece contain no text of another piece, so that forgetting that one leaves no copy.
    """
    suffix = source.rpartition(".")[2].lower()
    language = LANGUAGES.get(suffix) or _from_shebang(text)
    props = {"language": language}
    parts = [Part(piece, prose=False, props=props) for piece in split.code(text)]
    return compose(Document(source, stem(source), "code", props=props), parts)


def _from_shebang(text: str) -> str:
    """Returns the language that the first line of a script names, else "text"."""
    first = text.split("\n", 1)[0]
    programs = {"python": "python", "node": "javascript", "ruby": "ruby", "perl": "perl", "sh": "shell"}
    found = (language for word, language in programs.items() if word in first)
    return next(found, "text") if first.startswith("#!") else "text"
