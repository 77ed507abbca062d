"""Whose eyes do the first frames of a video show? This file is also copied into kits: NumPy and OpenCV only.

A dropped `spec_player` leaves the camera with somebody else, and a demo knows how everybody's view turned: the player
whose turns explain the picture's motion best is the one who was spectated.
"""

from itertools import pairwise

import numpy as np

LOOK = 96
"""Frames that are looked at."""
LEAST_TURN = 3.0
"""Pixels that a view must move in all, for it to be told from others."""
MOST_PIXELS = 8.0


def first_frames(path, width=160):
    """Up to LOOK grey frames of a video, made small."""
    import cv2

    video = cv2.VideoCapture(str(path))
    frames: list = []
    while len(frames) < LOOK:
        more, picture = video.read()
        if not more:
            break
        size = (width, max(2, round(picture.shape[0] * width / picture.shape[1])))
        grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), size, interpolation=cv2.INTER_AREA)
        frames.append(cv2.equalizeHist(grey[: round(len(grey) * 0.6)]))
    video.release()
    return frames


def shifts(frames):
    """(n - 1,) pixels that the picture moved to the right from frame to frame."""
    import cv2

    moved = []
    for before, after in pairwise(frames):
        window = cv2.createHanningWindow(before.shape[::-1], cv2.CV_32F)
        (across, _), _ = cv2.phaseCorrelate(before.astype(np.float32), after.astype(np.float32), window)
        moved.append(across)
    return np.array(moved)


def shown_player(path, yaws, fov_degrees=90.0):
    """The key of `yaws` (per player degrees for each frame) that the video shows; None where that cannot be told."""
    frames = first_frames(path)
    if len(frames) < 3:
        return None
    scale = frames[0].shape[1] / 2 / np.tan(np.radians(fov_degrees) / 2)
    moved = shifts(frames)
    losses = {}
    turned = {}
    for player, yaw in yaws.items():
        turn = scale * np.diff(np.unwrap(np.radians(np.asarray(yaw, float)[: len(frames)])))
        count = min(len(turn), len(moved))
        losses[player] = float(np.minimum(np.abs(moved[:count] - turn[:count]), MOST_PIXELS).sum())
        turned[player] = float(np.abs(turn[:count]).sum())
    best = min(losses, key=lambda player: losses[player])
    still = float(np.minimum(np.abs(moved), MOST_PIXELS).sum())
    if turned[best] < LEAST_TURN or losses[best] > 0.8 * still:
        return None
    return best
