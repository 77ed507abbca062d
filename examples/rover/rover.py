"""Rover: a first-person game of one file, as an example of how to bring your own.

A rover drives through a walled yard towards a yellow beacon. Two buttons and one continuous control, drawn with NumPy
alone. Run it from this folder:

    actswm record rover:Rover --size 64 --steps 20000 --out rover.h5
    actswm play rover:Rover
"""

import numpy as np

from actswm import Control, Vocabulary

YARD = np.array(
    [[int(cell) for cell in row] for row in (
        "1111111111",
        "1000000002",
        "1000000302",
        "1000000002",
        "1000000042",
        "1000000042",
        "1000000002",
        "1000000302",
        "1000000002",
        "5555555552",
    )]
)  # fmt: skip
"""Rows are y, columns are x; 0 is free, other numbers are walls of a colour."""
BEACON = (8.5, 5.0)
"""The middle of the two cells with number 4."""
COLOURS = np.array([(0, 0, 0), (150, 70, 60), (60, 90, 160), (70, 140, 80), (250, 220, 60), (130, 80, 150)], float)
SPEED = 0.12
"""Cells in a raw step."""
REACHED = 1.8
"""Cells from the beacon's middle."""
VIEW = 75.0
"""Degrees from the left to the right edge of a frame."""
RADIUS = 0.25


class Rover:
    """What every game has: a vocabulary, a rate, `reset` and `step`. The rest is optional."""

    vocabulary = Vocabulary(
        "rover", (Control("forward"), Control("back"), Control("steer", binary=False))
    )
    fps = 20.0
    deterministic = True
    spread = {"steer": 6.0}  # degrees in a raw step: what a player usually does
    keys = {"forward": ("W", "Up"), "back": ("S", "Down"), "steer": (("A", "Left"), ("D", "Right"))}

    def __init__(self, size=(128, 128)):
        self.height, self.width = size

    def reset(self, *, seed=None, options=None):
        rng = np.random.default_rng(seed)
        self.place = np.array([rng.uniform(1.5, 4.5), rng.uniform(2.0, 8.0)])
        self.yaw = rng.uniform(-50.0, 50.0)
        self.found = False
        return self.frame(), self.info([])

    def step(self, action):
        forward, back, steer = action
        self.yaw = (self.yaw + np.clip(steer, -12, 12) + 180) % 360 - 180
        heading = np.array([np.cos(np.radians(self.yaw)), np.sin(np.radians(self.yaw))])
        way = SPEED * (float(forward > 0.5) - 0.6 * float(back > 0.5)) * heading
        for axis in (0, 1):  # one after the other: the rover slides along walls
            to = self.place.copy()
            to[axis] += way[axis]
            if not self.in_wall(to):
                self.place = to
        events = []
        if not self.found and np.hypot(*(self.place - BEACON)) < REACHED:
            self.found = True
            events.append({"name": "beacon"})
        return self.frame(), float(bool(events)), False, False, self.info(events)

    def in_wall(self, place):
        corners = place + RADIUS * np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
        return any(YARD[int(y), int(x)] for x, y in corners)

    def info(self, events):
        """Poses are kept with each frame; events and telemetry are what a task is judged by."""
        return {"events": events, "telemetry": {"x": self.place[0], "y": self.place[1], "yaw": self.yaw}}

    def frame(self):
        """One ray for each column: walls as high as they are near, striped so that one sees them pass."""
        angles = np.radians(self.yaw + VIEW * (np.arange(self.width) / (self.width - 1) - 0.5))
        far = np.arange(0.05, 14.0, 0.03)
        x = self.place[0] + np.cos(angles)[:, None] * far
        y = self.place[1] + np.sin(angles)[:, None] * far
        row, column = (np.clip(axis.astype(int), 0, 9) for axis in (y, x))
        hit = (YARD[row, column] > 0).argmax(1)
        rays = np.arange(self.width)
        wall = YARD[row[rays, hit], column[rays, hit]]
        distance = far[hit] * np.cos(angles - np.radians(self.yaw))
        stripe = 0.8 + 0.2 * (np.floor(3 * (x[rays, hit] + y[rays, hit])) % 2)
        shade = COLOURS[wall] * (stripe / (1 + 0.12 * distance))[:, None]
        half = self.height / (2 * np.maximum(distance, 0.3))
        line = np.arange(self.height)[:, None] - self.height / 2 + 0.5
        floor = 40 + 90 * np.abs(line) / self.height
        ground = np.where(line[..., None] < 0, (0.6, 0.8, 1.0), (0.9, 0.8, 0.7)) * floor[..., None]
        return np.where((np.abs(line) < half)[..., None], shade, ground).astype(np.uint8)


class Expert:
    """Turns towards the beacon and drives there; may look at the telemetry, which no planner sees."""

    def __init__(self, start):
        pass

    def act(self, frame, info):
        here = info["telemetry"]
        bearing = np.degrees(np.arctan2(BEACON[1] - here["y"], BEACON[0] - here["x"]))
        off = (bearing - here["yaw"] + 180) % 360 - 180
        near = np.hypot(BEACON[0] - here["x"], BEACON[1] - here["y"]) < REACHED - 0.3
        drive = ["forward"] if abs(off) < 30 and not near else []
        return Rover.vocabulary.action(drive, {"steer": float(np.clip(off, -6, 6))})
