"""Colours of all views as plain data: plots, films, reports and pages read them here; matplotlib is not needed.

A hue is a branch or a curve. Saturated, thick and solid is stable; the same hue, pale and dashed, is unstable. One
accent is kept for jumps and for "now". A test looks at the colours as colour-blind eyes see them.
"""

HUES = ("#0072B2", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")  # of Okabe and Ito's palette
ACCENT = "#D55E00"  # jumps, now, what changes
INK, GREY, PALE, PAPER, GRID = "#1a1a1a", "#6b6b6b", "#d9d9d9", "#ffffff", "#ececec"
FADED = 0.52  # share of white in the pale version of a hue
HELD = 0.26  # the same of what is stable only while the displacement is held
FORCES = ("#2166AC", "#d0d0d0", "#B2182B")  # scale of member forces: pressed, without force, pulled

# The same roles on dark paper: hues keep their names and their order in lightness, the accent stays the warmest.
NIGHT = {
    PAPER: "#1e2129", INK: "#ececec", GREY: "#a3a7b0", PALE: "#4a4e59", GRID: "#343842",
    HUES[0]: "#529cdb", HUES[1]: "#29d491", HUES[2]: "#dc8cbd",
    HUES[3]: "#f5f5f5", HUES[4]: "#f5a022", HUES[5]: "#9bd8fa",
    ACCENT: "#da6e3f", FORCES[0]: "#6aaef2", FORCES[1]: "#5a5e68", FORCES[2]: "#f27a80",
}  # fmt: skip


def mixed(colour: str, share: float, other: str = PAPER) -> str:
    """A colour with a share of another, white by default: "#rrggbb"."""
    pairs = ((int(one[i : i + 2], 16) for one in (colour, other)) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1.0 - share) * a + share * b):02x}" for a, b in pairs)


def pale(colour: str) -> str:
    """The hue of what is unstable."""
    return mixed(colour, FADED)


def hue(number: int) -> str:
    """The colour of a branch or curve; they repeat."""
    return HUES[number % len(HUES)]


def night(colour: str) -> str:
    """The colour that stands on dark paper for one on white; colours of other palettes stay as they are."""
    known = {light.lower(): dark for light, dark in NIGHT.items()}
    for share in (FADED, HELD):
        known |= {mixed(light, share): mixed(NIGHT[light], share, NIGHT[PAPER]) for light in (*HUES, ACCENT)}
    return known.get(colour.lower(), colour)
