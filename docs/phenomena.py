"""The gallery's order: phenomena, the models that show them, how each is run, and what is learned from it."""

INTRODUCTION = (
    "# Gallery\n\nEvery bundled model by what it shows, run as you see it: the mechanism and the result that "
    "makes the point. `onesided examples NAME > my.toml` copies one out.\n\n"
)
LIMITS = {"bistable-chain-parts": 30, "end-point-horizontal": 1}  # events of paths that have no end
PHENOMENA: dict[str, tuple[str, dict[str, str]]] = {
    "Snap-through": (
        "The load has a largest value; beyond it the structure jumps.",
        {
            "von-mises": "drive", "von-mises-truss": "trace", "two-bar-roller": "trace", "tripod-truss": "trace",
            "williams-toggle": "trace", "lee-frame": "trace", "keyboard-dome": "drive", "bistable-chain": "trace",
            "bistable-chain-parts": "trace",
        },
    ),
    "Corner limit points": (
        "A contact changes and the path turns back at a kink, with nothing singular.",
        {
            "corner-limit": "trace", "von-mises-floor": "trace", "scissor-lift": "drive", "flat-contact": "diagram",
            "singular-corner": "diagram",
        },
    ),
    "Hysteresis": (
        "The way back is another: what was done is not undone by going back.",
        {"panel-ring": "drive", "bimetal-strip": "drive"},
    ),
    "Bifurcation": (
        "Several branches leave one point, and all of them are found.",
        {"column": "diagram", "column-stop": "diagram", "column-between-walls": "diagram", "wedge": "diagram"},
    ),
    "Contact cascades": (
        "One contact after the other closes or lets go; which ones is part of the answer.",
        {"arch-on-floor": "trace", "two-supports": "trace", "ball-in-groove": "trace", "bead-on-ring": "trace"},
    ),
    "Slack": (
        "Cables pull and do not push: each that goes slack is a kink of the path.",
        {
            "guyed-mast": "trace", "suspended-deck": "trace", "cable-net": "trace", "tensegrity-prism": "trace",
            "tensegrity-deploy": "trace",
        },
    ),
    "Ends": (
        "Where equilibria end, and where they only seem to.",
        {"end-point": "trace", "end-point-horizontal": "trace"},
    ),
    "Impact": ("Velocities jump; infinitely many impacts may fit into finite time.", {"bouncing-ball": "simulate"}),
    "Rolling and conditions on velocities": (
        "What can go anywhere, but not in every direction.",
        {"rolling-disk": "simulate", "knife-edge": "simulate"},
    ),
    "Joints in motion": (
        "Constraints hold to round-off, redundant ones are named, singular positions are told.",
        {
            "pendulum": "simulate", "slider-crank": "simulate", "andrews-squeezer": "simulate", "platform": "simulate",
            "heavy-top": "simulate",
        },
    ),
    "Control": (
        "Which inputs make a system do what is asked.",
        {"gantry-crane": "simulate", "overhead-crane": "simulate"},
    ),
}  # fmt: skip
LESSONS = {
    "andrews-squeezer": "The standard test of codes for mechanisms: seven bodies, three loops, five turns in 0.03 s.",
    "arch-on-floor": "A snapping beam lands on a floor, point by point; a point may lift off again under more load.",
    "ball-in-groove": "Two contacts share a load until one lets go; their reactions are part of the result.",
    "bead-on-ring": "A gap may contain p: the wall moves. Two-sided and one-sided constraints stand together.",
    "bimetal-strip": "Natural curvature may follow p: temperature snaps an arch, and cooling snaps it back later.",
    "bistable-chain": "A path may turn back twenty-six times; none is missed, and every one is located to round-off.",
    "bistable-chain-parts": "Parts can be repeated: ten units in a few lines, and a path of 59,048 limit points.",
    "cable-net": "A net of cables holds itself down; the reactions are the tensions, and slack cables are dashed.",
    "column": "A pitchfork: three branches lead on, and `diagram` follows all of them.",
    "bouncing-ball": "Infinitely many impacts in finite time: followed as long as they matter, then passed.",
    "column-between-walls": "Contacts raise the buckling load, and more load opens contacts as well.",
    "column-stop": "A stop changes one branch of a pitchfork only: symmetric thinking would miss it.",
    "corner-limit": "A path can turn back, and stability be lost, with no singular matrix anywhere.",
    "end-point": "Equilibria can end, but only where a contact stays closed without force all along the path.",
    "end-point-horizontal": "What looks like an end may go on at constant load: count rays with ṗ = 0 as well.",
    "flat-contact": "First-order equations may leave open whether p turns back; second derivatives decide.",
    "gantry-crane": "The cheapest way to carry a load from rest to rest: it swings on the way, and arrives at rest.",
    "guyed-mast": "Guys that go slack make a mast softer, one kink after the other; read off the wind that does it.",
    "heavy-top": "A body on rotations, in formulas: three numbers for a rotation, and nothing to normalise.",
    "keyboard-dome": "A key that clicks as asked: `[design]` names force and travel, `onesided design` finds the dome.",
    "knife-edge": "A condition on velocities that is no condition on positions: the skate drifts across the slope.",
    "lee-frame": "Beams with large rotations: a limit load, and a way back through negative load, from parts alone.",
    "overhead-crane": "Which forces make a load follow a line? Two conditions, two inputs and a rope: index 5.",
    "panel-ring": "Deployment and retraction can differ: eight contacts let go at once; the way back is another.",
    "pendulum": "A joint as a constraint; its multiplier is the force in the rod, its drift is at round-off.",
    "platform": "One crank too many: the motion is unique, the crank forces are a choice that the result names.",
    "rolling-disk": "Contact points are coordinates without mass; some multipliers of a contact are always zero.",
    "scissor-lift": "A mechanism of rigid arms collapses onto its stop; the stop's reaction is a moment.",
    "singular-corner": "A contact change and a zero eigenvalue may meet: four shapes, and two different outcomes.",
    "slider-crank": "Definitions in formulas, a driving moment as a potential, friction as a force of velocities.",
    "suspended-deck": "Slings go slack away from the load; tensions of taut ones are multipliers, so nothing is tuned.",
    "tensegrity-deploy": "Natural lengths may follow p: a winch raises a frame and then builds up self-stress.",
    "tensegrity-prism": "Self-stress holds a mechanism; where cables go slack it has a new stiffness.",
    "tripod-truss": "Snap-through in space: all three coordinates of the apex are free.",
    "two-bar-roller": "A compliant support lowers the snap load: 0.8 times that of the fixed truss.",
    "two-supports": "Two contacts lose force together; dropping those with negative force gives a wrong answer.",
    "von-mises": "Snap-through of a shallow truss: two limit points, and an unstable part between them.",
    "von-mises-floor": "A contact met while unstable gives a corner limit point, at which stability is regained.",
    "von-mises-truss": "The same truss from nodes, bars and a force: nothing to derive by hand.",
    "wedge": "Several directions can leave a point though nothing is singular: one, three or a fan.",
    "williams-toggle": "Bending changes snap-through: the load falls, but stays positive.",
}
