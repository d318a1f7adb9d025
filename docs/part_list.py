"""The list of all kinds of parts, `kinds.md`, from the classes, with units and small drawings; run it to renew it."""

import re
from pathlib import Path

from onesided.elements.contract import Element
from onesided.files.part_kinds import PartKind, part_kinds

PAGE = Path(__file__).parent / "kinds.md"
GROUPS = {
    "Places": ("node", "guided", "body", "marker"),
    "Bars and springs": ("bar", "spring", "gas_spring", "torsion_spring"),
    "Cables": ("cable", "string", "plastic_cable", "sagging_cable"),
    "Beams": ("beam", "spatial_beam"),
    "Joints": ("revolute", "prismatic", "fixed", "spherical", "cylindrical", "screw", "universal"),
    "Couplings": ("distance", "gear", "rack", "on_line", "on_curve"),
    "Drives": ("prescribed", "driven_travel", "driven_angle"),
    "Contacts": ("plane_contact", "round_contact", "inside_contact", "segment_contact", "polygon_contact"),
    "Stops": ("coordinate_stop", "distance_stop", "travel_stop", "angle_stop"),
    "Loads": (
        "force", "moment", "gravity", "weight", "line_load", "pressure", "surface_pressure", "follower_force",
        "follower_moment",
    ),
    "Dampers": ("damper", "turn_damper", "place_damper"),
    "Formulas": ("energy", "gap", "equation"),
}  # fmt: skip
DRAWINGS = {
    "node": "o            ▲ fixed: o╱╱╱",
    "guided": "══o══  along the line",
    "body": "┌─────┐\n│  +──┼─ x\n└─────┘",
    "marker": "┌─────┐\n│ +   ×  a point of the body, with axes\n└─────┘",
    "bar": "o──────────o",
    "spring": "o─/\\/\\/\\/\\─o",
    "gas_spring": "o──┤▒▒▒▒▐──o",
    "torsion_spring": "   ╱\n  ╱ ◠ moment k (angle − rest angle)\no────────",
    "cable": "o- - - - - -o     pulls, does not push",
    "string": "o───────────o     never longer than its length",
    "plastic_cable": "o- - ≈≈ - - -o    yields, and remembers",
    "sagging_cable": "o            o\n '─._____.─'",
    "beam": "[══════════]   N, Q, M",
    "spatial_beam": "[══════════]   N, Q2, Q3, T, M2, M3",
    "revolute": "══●══",
    "prismatic": "══╪▭╪══",
    "fixed": "══■══",
    "spherical": "══◉══",
    "cylindrical": "══╪▭╪══ ↻",
    "screw": "══╪▭╪══ ↻ →",
    "universal": "══╬══",
    "distance": "o▬▬▬▬▬▬▬▬o     rigid; with a formula of p an actuator",
    "gear": "◯◯",
    "rack": " ◯\n▔▔▔▔▔▔",
    "on_line": "────o────",
    "on_curve": "⌒o⌒",
    "prescribed": "o → value(p)",
    "driven_travel": "▭──▷▭ value(p)",
    "driven_angle": "● ↻ value(p)",
    "plane_contact": " o\n▔▔▔▔▔▔",
    "round_contact": "◯◯",
    "inside_contact": "( o )",
    "segment_contact": "────\n  ╲",
    "polygon_contact": "▭◇",
    "coordinate_stop": "──▮ o ▮──",
    "distance_stop": "o──▮ ▮──o",
    "travel_stop": "══▮▭ ▮══",
    "angle_stop": "╲│╱",
    "force": "o──▶",
    "moment": "↺",
    "gravity": "↓ ↓ ↓ ↓",
    "weight": "o\n↓",
    "line_load": "↓↓↓↓↓↓↓\no──────o",
    "pressure": "┌─↑─┐\n←   →\n└─↓─┘",
    "surface_pressure": "  ╱╲ ↗\n ╱↑ ╲\n╱____╲",
    "follower_force": "╱▶  turns with the body",
    "follower_moment": "↺  turns with the body",
    "damper": "o──┤]──o",
    "turn_damper": "● ↻ c",
    "place_damper": "o ≋",
    "energy": "U(…)",
    "gap": "g(…) ≥ 0",
    "equation": "h(…) = 0",
}
LENGTH, FORCE, ANGLE, NONE = "length", "force", "rad", "–"
UNITS = {
    **dict.fromkeys(
        ("at", "box", "disc", "outline", "length", "radius", "radii", "through", "thickness", "column", "rise",
         "rounding", "rolling_friction", "spinning_friction"), LENGTH),
    **dict.fromkeys(("pretension", "thrust", "yield_tension", "modulus_area", "EA", "GA", "force"), FORCE),
    **dict.fromkeys(("angle", "turned"), ANGLE),
    **dict.fromkeys(("stiffness", "hardening"), "force/length"),
    **dict.fromkeys(("EI", "GJ"), "force·length²"),
    **dict.fromkeys(("load", "pressure", "weight"), "force/length"),
    "moves": "length (rad) per p", "mass": "mass", "inertia": "mass·length²", "curvature": "rad/length",
    "moment": "force·length", "acceleration": "length/time²", "damping": "force·time/length", "pitch": "length/rad",
    "table": "length, force", "polynomial": "force/lengthⁱ", "law": "formula of an energy", "formula": "formula",
    "value": "of the coordinate", "lower": "of what is limited", "upper": "of what is limited",
    "kelvin_voigt": "force/length, force·time/length", "hunt_crossley": "force/lengthⁿ, time/length, 1",
}  # fmt: skip
OWN_UNITS = {
    ("surface_pressure", "pressure"): "force/area",
    ("torsion_spring", "stiffness"): "force·length/rad", ("torsion_spring", "pretension"): "force·length",
    ("torsion_spring", "table"): "rad, force·length", ("torsion_spring", "rounding"): ANGLE,
    ("turn_damper", "damping"): "force·length·time", ("driven_travel", "value"): LENGTH,
    ("driven_angle", "value"): ANGLE, ("weight", "force"): "length/time²",
    ("distance_stop", "lower"): LENGTH, ("distance_stop", "upper"): LENGTH, ("travel_stop", "lower"): LENGTH,
    ("travel_stop", "upper"): LENGTH, ("angle_stop", "lower"): ANGLE, ("angle_stop", "upper"): ANGLE,
}  # fmt: skip
COMMON = {
    "fixed": "true: held", "moves": "component → rate with p", "mass": "for motion", "ends": "names of the places",
    "between": "names of two places, the second against the first", "constant": "true: does not grow with p",
    "assemble": "true: the places may be apart at the start", "turned": "rotation vector, in space",
    "at": "the place", "coordinates": "filled in when composed", "coordinate": "its name, like top_x",
    "pressure": "force per length", "formula": "of coordinates, p and parameters", "bodies": "names of the bodies",
    "modulus_area": "EA: the stiffness is EA / natural length", "rounding": "width over which kinks are rounded",
    "radius": "of the pinion", "absolute": "true: limits of the angles themselves, in the plane",
    "force": "components", "value": "formula of p and parameters", "axis": "direction in the axes of the first place",
}  # fmt: skip
_LAWS, _FILLED = {"law", "table", "rounding", "polynomial", "material"}, {"coordinates"}
UNUSED = {  # inherited keys that a kind refuses
    "cable": _LAWS, "plastic_cable": _LAWS, "energy": _FILLED, "gap": _FILLED, "equation": _FILLED,
}  # fmt: skip
_ENTRY = re.compile(r"^    (\w[\w, ]*?) : (.*)$")


def page() -> str:
    """The whole page."""
    kinds = part_kinds()
    head = (
        "# Kinds of parts\n\n"
        "The table in model files and the class in `onesided.elements`, keys with units, and what can be read off "
        "along a result ([member results](howto/members.md)). Units are yours, as long as they belong together. Where "
        "the table says *p*, a formula may use the control parameter. `onesided schema` prints the same for programs. "
        "How to use them: [structures from parts](elements.md).\n"
    )
    groups = ((title, [kinds[name] for name in names]) for title, names in GROUPS.items())
    return head + "".join(f"\n## {title}\n" + "".join(map(_section, listed)) for title, listed in groups)


def _section(kind: PartKind) -> str:
    doc = kind.cls.__doc__ or ""
    drawing = f"\n```\n{DRAWINGS[kind.name]}\n```\n"
    rows = "".join(_row(kind, key) for key in kind.fields if key not in UNUSED.get(kind.name, ()))
    table = f"\n| key | unit | what |\n|---|---|---|\n{rows}" if rows else ""
    return f"\n### `{kind.name}` – {kind.cls.__name__}\n\n{_first(doc)}\n{drawing}{table}{_results(kind)}"


def _first(doc: str) -> str:
    return doc.strip().split("\n\n")[0].replace("\n    ", " ")


def _row(kind: PartKind, key: str) -> str:
    unit = OWN_UNITS.get((kind.name, key), UNITS.get(key, NONE))
    follows = ", *p*" if kind.fields[key].control else ""
    return f"| `{key}` | {unit}{follows} | {_meaning(kind.cls, key)} |\n"


def _meaning(cls: type, key: str) -> str:
    """What the docstring of the class, or of one it extends, says on a key."""
    for base in cls.__mro__:
        for names, text in _entries(base.__dict__.get("__doc__") or ""):
            if key in names:
                return text.replace("|", "\\|")
    return COMMON.get(key, "")


def _entries(doc: str) -> list[tuple[list[str], str]]:
    found: list[tuple[list[str], str]] = []
    for line in doc.partition("----------\n")[2].split("\n"):
        if match := _ENTRY.match(line):
            found.append((match[1].split(", "), match[2]))
        elif found and line.startswith("        "):
            found[-1] = found[-1][0], f"{found[-1][1]} {line.strip()}"
        elif found:
            break
    return found


def _results(kind: PartKind) -> str:
    if not issubclass(kind.cls, Element):
        return ""
    dimension = kind.cls.dimensions[0]
    try:
        names = kind.cls(name="x").result_names(dimension)
    except (TypeError, ValueError, AttributeError):
        return ""
    listed = ", ".join(f"`NAME{name}`" for name in names)
    return f"\nRead off: {listed}.\n" if names else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
