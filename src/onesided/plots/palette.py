"""Colours of all views as plain data: plots, films, reports and pages read them here; matplotlib is not needed.

A hue is a branch or a curve. Saturated, thick and solid is stable; the same hue, pale and dashed, is unstable. One
accent is kept for jumps and for "now". A test looks at the colours as colour-blind eyes see them.
"""

HUES = ("#0072B2", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")  # of Okabe and Ito's palette
ACCENT = "#D55E00"  # jumps, now, what changes
INK, GREY, PALE, PAPER = "#1a1a1a", "#6b6b6b", "#d9d9d9", "#ffffff"
FADED = 0.52  # share of white in the pale version of a hue
HELD = 0.26  # the same of what is stable only while the displacement is held
FORCES = ("#2166AC", "#d0d0d0", "#B2182B")  # scale of member forces: pressed, without force, pulled


def mixed(colour: str, share: float, other: str = PAPER) -> str:
    """A colour with a share of another, white unless told: "#rrggbb"."""
    pairs = ((int(one[i : i + 2], 16) for one in (colour, other)) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1.0 - share) * a + share * b):02x}" for a, b in pairs)


def pale(colour: str) -> str:
    """The hue of what is unstable."""
    return mixed(colour, FADED)


def hue(number: int) -> str:
    """The colour of a branch or curve; they repeat."""
    return HUES[number % len(HUES)]
