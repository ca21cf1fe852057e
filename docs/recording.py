#!/usr/bin/env python3
"""Records the README's first command in a pseudo-terminal, and writes it as an animated SVG.

Run it from the repository's root, after `cargo build`:

    python3 docs/recording.py target/debug/haft > docs/recording.svg
"""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
from html import escape

COLUMNS, ROWS = 92, 30
COMMAND = "cargo run -- -w examples/quickstart run examples/quickstart/calls.json"
DOWN, ENTER = b"\x1b[B", b"\r"
QUIET = 0.7  # seconds without output after which the program is taken to wait
CLASSES = {1: "b", 2: "d", 31: "r", 91: "r", 32: "g", 92: "g", 33: "y", 93: "y", 34: "c", 94: "c", 36: "c", 96: "c"}
SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Screen:
    """The part of a terminal that the command needs: cursor moves, erasing, colours, wrapping."""

    def __init__(self):
        self.lines = [[(" ", "")] * COLUMNS]
        self.row = self.column = 0
        self.style = ""

    def feed(self, text):
        position = 0
        while position < len(text):
            match = SEQUENCE.match(text, position)
            if match:
                self.control(*match.groups())
                position = match.end()
            else:
                self.put(text[position])
                position += 1

    def control(self, numbers, letter):
        count = int(numbers) if numbers.isdigit() else 1
        if letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "B":
            self.down(count)
        elif letter == "C":
            self.column = min(COLUMNS - 1, self.column + count)
        elif letter == "D":
            self.column = max(0, self.column - count)
        elif letter == "K":
            start = 0 if numbers == "2" else self.column
            self.lines[self.row][start:] = [(" ", "")] * (COLUMNS - start)
        elif letter == "J":
            self.lines[self.row][self.column:] = [(" ", "")] * (COLUMNS - self.column)
            del self.lines[self.row + 1:]
        elif letter == "m":
            self.colour([int(number or 0) for number in numbers.split(";")])

    def colour(self, codes):
        if codes[:2] == [38, 5]:
            codes = [codes[2] + (30 if codes[2] < 8 else 82)]
        for code in codes:
            if code in (0, 39):
                self.style = ""
            elif code in CLASSES:
                self.style = CLASSES[code]

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.down(1)
        elif character >= " ":
            if self.column == COLUMNS:
                self.column = 0
                self.down(1)
            self.lines[self.row][self.column] = (character, self.style)
            self.column += 1

    def down(self, count):
        self.row += count
        while len(self.lines) <= self.row:
            self.lines.append([(" ", "")] * COLUMNS)

    def rows(self):
        """Returns the lines as lists of pieces with one style each, without what is empty at the end."""
        rows = []
        for line in self.lines:
            pieces = []
            for character, style in line:
                if pieces and (pieces[-1][1] == style or character == " "):
                    pieces[-1] = (pieces[-1][0] + character, pieces[-1][1])
                else:
                    pieces.append((character, style))
            pieces[-1] = (pieces[-1][0].rstrip(), pieces[-1][1])
            rows.append(pieces if any(text for text, _ in pieces) else [])
        while rows and not rows[-1]:
            rows.pop()
        return rows


def record(program):
    """Runs the command, approves what it asks about, and returns the screens at which it waited."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
        environment = {"TERM": "xterm-256color", "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
        os.execve(program, [program, *COMMAND.split()[3:]], environment)
    screen, screens, keys, text = Screen(), [], [DOWN, ENTER], ""
    decoder = codecs.getincrementaldecoder("utf-8")()
    while True:
        ready, _, _ = select.select([terminal], [], [], QUIET)
        if not ready:
            screens.append(screen.rows())
            if keys:
                os.write(terminal, keys.pop(0))
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        if not data:
            break
        text += decoder.decode(data)
        # A read may end within a sequence, which goes on with the next one.
        escape_at = text.rfind("\x1b")
        whole = len(text) if escape_at < 0 or SEQUENCE.match(text, escape_at) else escape_at
        screen.feed(text[:whole])
        text = text[whole:]
    os.waitpid(process, 0)
    return screens + [screen.rows()]


def text_element(pieces, row):
    spans = "".join(
        f'<tspan class="{style}">{escape(text, False)}</tspan>' if style else escape(text, False) for text, style in pieces
    )
    return f'<text x="16" y="{34 + row * 18}" xml:space="preserve">{spans}</text>'


def write(screens, durations):
    prompt = [("$ ", "g"), (COMMAND, "b")]
    total, start = sum(durations), 0.0
    styles, groups = [], []
    for index, (rows, duration) in enumerate(zip(screens, durations)):
        begin, end = 100 * start / total, 100 * (start + duration) / total
        start += duration
        before = f"0%,{begin - 0.01:.2f}%{{visibility:hidden}}" if index else ""
        after = "" if index == len(screens) - 1 else f"{end:.2f}%,100%{{visibility:hidden}}"
        last = "100%" if index == len(screens) - 1 else f"{end - 0.01:.2f}%"
        styles.append(f"@keyframes f{index}{{{before}{begin:.2f}%,{last}{{visibility:visible}}{after}}}")
        styles.append(f"#f{index}{{animation:f{index} {total}s step-end infinite}}")
        shown = [prompt, *rows][-ROWS:]
        body = "".join(text_element(pieces, row) for row, pieces in enumerate(shown) if pieces)
        groups.append(f'<g id="f{index}">{body}</g>')
    height = 34 + ROWS * 18
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" role="img" '
        'aria-label="Six calls run in a terminal: a person approves one, and a table shows each result">'
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f}"
        "rect{fill:#f6f8fa;stroke:#d0d7de}.b{font-weight:bold}.d{fill:#6e7781}.r{fill:#cf222e}.g{fill:#116329}"
        ".y{fill:#7d4e00}.c{fill:#0550ae}@media(prefers-color-scheme:dark){text{fill:#e6edf3}"
        "rect{fill:#0d1117;stroke:#30363d}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}}"
        "@media(prefers-reduced-motion:reduce){g{animation:none!important;visibility:hidden}"
        f"#f{len(screens) - 1}{{visibility:visible}}}}" + "".join(styles) + "</style>"
        f'<rect x=".5" y=".5" width="799" height="{height - 1}" rx="8"/>' + "".join(groups) + "</svg>"
    )


if __name__ == "__main__":
    recorded = record(sys.argv[1])
    write([[], *recorded], [1.5, *[1.2] * (len(recorded) - 2), 0.8, 8][: len(recorded) + 1])
    print(f"{len(recorded) + 1} frames", file=sys.stderr)
