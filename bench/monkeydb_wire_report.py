"""Tables and a picture of what monkeydb_wire.py counted."""
from math import prod

APPS = {
    "tpcc": [f"A{number}" for number in range(1, 13)],
    "smallbank": ["A13"],
    "voter": ["A14"],
    "wikipedia": ["A15", "A16", "A17"],
}
ASSERTIONS = {assertion: app for app, all_of in APPS.items() for assertion in all_of}
SESSIONS = 2, 3
WEAK = "rc", "cc"
REAL = "postgres", "rc", "on", "-", "plain"
# Geometric means of A13 to A17 in MonkeyDB's paper, section 8.2, by level and sessions. Its figures
# give no numbers.
PAPER = {("rc", 2): 56.1, ("rc", 3): 65.4, ("cc", 2): 26.7, ("cc", 3): 37.2}


class Counts:
    """How many percent of the runs of a kind broke an assertion, or any."""

    def __init__(self, raw):
        self.rows = {}
        for line in raw.splitlines():
            *kind, app, sessions, runs, failed, said = line.split("\t")
            counts = dict(pair.split("=") for pair in said.split())
            self.rows[(*kind, app, int(sessions))] = int(runs), int(failed), counts

    def share(self, kind, assertion, sessions):
        """Of one assertion; None if that was not measured."""
        row = self.rows.get((*kind, ASSERTIONS[assertion], sessions))
        return row and 100 * int(row[2].get(assertion, 0)) / row[0]

    def any_share(self, kind, app, sessions):
        row = self.rows.get((*kind, app, sessions))
        return row and 100 * row[1] / row[0]

    def serializable(self):
        """Runs at ser, and how many of them broke something."""
        rows = [row for kind, row in self.rows.items() if kind[1] == "ser"]
        return sum(row[0] for row in rows), sum(row[1] for row in rows)


def mock(level, locks="off", chooser="random", variant="plain"):
    return "mock", level, locks, chooser, variant


def shown(share):
    return "" if share is None else f"{share:.0f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def columns(kinds):
    """Pairs of a kind and a number of sessions, with their names."""
    return {f"{name} {n}": (kind, n) for name, kind in kinds.items() for n in SESSIONS}


def by_assertion(counts, kinds):
    """Percent of the runs that broke each assertion, and the geometric means of A13 to A17."""
    wanted = columns(kinds)
    rows = []
    for assertion in ASSERTIONS:
        cells = [shown(counts.share(kind, assertion, n)) for kind, n in wanted.values()]
        rows.append([assertion, *cells])
    for app in APPS:
        cells = [shown(counts.any_share(kind, app, n)) for kind, n in wanted.values()]
        rows.append([f"any of {app}", *cells])
    return table(["", *wanted], rows)


def geometric_means(counts):
    """A13 to A16 as in the paper's text; A17 is left out where it never breaks."""
    names = ["A13", "A14", "A15", "A16"]
    rows = []
    for (level, sessions), paper in PAPER.items():
        cells = []
        for variant in "plain", "long":
            kind = mock(level, variant=variant)
            shares = [counts.share(kind, name, sessions) for name in names]
            known = None not in shares
            cells.append(f"{prod(shares) ** (1 / len(shares)):.1f}" if known else "")
        rows.append([level, str(sessions), *cells, f"{paper}"])
    return table(["level", "sessions", "A13 to A16", "long runs", "paper, A13 to A17"], rows)


def adversary(counts):
    """Percent of the runs that broke anything: the adversary beside chance."""
    kinds = {
        f"{level}, {name}": (level, locks, variant)
        for name, locks, variant in (
            ("no locks", "off", "plain"),
            ("locks", "on", "plain"),
        )
        for level in WEAK
    }
    rows = []
    for app in APPS:
        for sessions in SESSIONS:
            cells = []
            for level, locks, variant in kinds.values():
                both = [
                    shown(counts.any_share(mock(level, locks, chooser, variant), app, sessions))
                    for chooser in ("random", "adversary")
                ]
                cells.append(" / ".join(both))
            rows.append([app, str(sessions), *cells])
    return table(["random / adversary", "sessions", *kinds], rows)


def report(raw):
    """The tables, and the picture."""
    counts = Counts(raw)
    free = {level: mock(level) for level in WEAK}
    keyless = {f"keyless {level}": mock(level, variant="keyless") for level in WEAK}
    long = {f"long {level}": mock(level, variant="long") for level in WEAK}
    locked = {level: mock(level, locks="on") for level in WEAK}
    runs, broken = counts.serializable()
    tables = [
        "Without locks, percent of runs (level and sessions):",
        by_assertion(counts, {**free, **keyless, **long}),
        "With locks, and on a real server:",
        by_assertion(counts, {**locked, "PostgreSQL": REAL}),
        "Geometric means:",
        geometric_means(counts),
        "Runs in which anything broke:",
        adversary(counts),
        f"At ser {broken} of {runs} runs broke anything.",
    ]
    return "\n\n".join(tables), picture(counts)


COLOURS = {
    "rc 2": "#d62728",
    "rc 3": "#ff9896",
    "cc 2": "#1f77b4",
    "cc 3": "#aec7e8",
    "PostgreSQL 2": "#2ca02c",
    "PostgreSQL 3": "#98df8a",
}
LEFT, GROUP, TALL, STEP = 50, 62, 150, 215


def picture(counts):
    """Bars for each assertion, a panel for each kind of database."""
    free = columns({level: mock(level) for level in WEAK})
    keyless = columns({level: mock(level, variant="keyless") for level in WEAK})
    locked = {level: mock(level, locks="on") for level in WEAK}
    both = columns({**locked, "PostgreSQL": REAL})
    # Only TPC-C was measured without keys; the others insert no key that they have read.
    panels = [
        ("no locks, no primary keys in TPC-C; dashes: means of A13 to A17 in the paper",
         keyless, free),
        ("no locks, primary keys", free, free),
        ("locks and primary keys; beside PostgreSQL at READ COMMITTED", both, both),
    ]
    width, height = LEFT + GROUP * len(ASSERTIONS) + 20, len(panels) * STEP + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, (title, of_tpcc, of_others) in enumerate(panels):
        shares = {}
        for assertion, app in ASSERTIONS.items():
            kinds = of_tpcc if app == "tpcc" else of_others
            for name, (kind, sessions) in kinds.items():
                shares[assertion, name] = counts.share(kind, assertion, sessions) or 0
        parts += panel(30 + place * STEP, title, list(of_others), shares)
    parts += [*paper_lines(30), *legend(height - 12)]
    return "\n".join([*parts, "</svg>", ""])


def panel(top, title, names, shares):
    """Bars of each assertion beside each other."""
    base, bar = top + TALL, (GROUP - 8) / len(names)
    yield f'<text x="{LEFT}" y="{top - 8}">{title}</text>'
    for percent in range(0, 101, 25):
        y = base - percent * TALL / 100
        line = f'<line x1="{LEFT}" x2="{LEFT + GROUP * len(ASSERTIONS)}" y1="{y}" y2="{y}"'
        yield f'{line} stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{percent} %</text>'
    for place, assertion in enumerate(ASSERTIONS):
        left = LEFT + place * GROUP + 4
        middle = left + (GROUP - 8) / 2
        yield f'<text x="{middle}" y="{base + 15}" text-anchor="middle">{assertion}</text>'
        for number, name in enumerate(names):
            tall = shares[assertion, name] * TALL / 100
            where = f'x="{left + number * bar:.1f}" y="{base - tall:.1f}"'
            yield f'<rect {where} width="{bar:.1f}" height="{tall:.1f}" fill="{COLOURS[name]}"/>'


def paper_lines(top):
    """The paper's means, over the assertions that they are of."""
    left, right = LEFT + 12 * GROUP, LEFT + len(ASSERTIONS) * GROUP
    for (level, sessions), mean in PAPER.items():
        y, colour = top + TALL * (1 - mean / 100), COLOURS[f"{level} {sessions}"]
        place = f'x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"'
        yield f'<line {place} stroke="{colour}" stroke-width="2" stroke-dasharray="6 4"/>'


def legend(y):
    for number, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + number * 160
        said = f"{name} sessions"
        yield f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="{y}">{said}</text>'
