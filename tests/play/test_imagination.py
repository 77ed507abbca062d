"""What is shown is the model's rollout from the real past under what is held, and under nothing."""

import time

import cv2
import numpy as np
import torch

from actswm.controls import KEYS14
from actswm.model import Context
from actswm.model.history import encode_frames
from actswm.play.board import Board
from actswm.play.imagination import Imagination

from ..model.naive import naive_rollout
from ..model.small_models import disturbed, small_config

STEPS = (1, 3)


def imagined_at(board, step, episode=1):
    deadline = time.monotonic() + 60
    while (seen := board.view.imagined.get(0)) is None or (seen.episode, seen.step) != (episode, step):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return seen


def test_futures_are_rollouts_of_the_real_past():
    model = disturbed(small_config(context=4))
    latents = []

    def nearest(asked):
        latents.append(asked.clone())
        return np.arange(len(asked), dtype=np.uint8)[:, None, None, None] * np.full((16, 16, 3), 20, np.uint8)

    board = Board()
    imagination = Imagination(model, nearest, STEPS, board)
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (25, 16, 16, 3), np.uint8)
    actions = (rng.random((24, 14)) < 0.3).astype(np.float32)
    nothing = np.zeros((4, 14), np.float32)
    held = np.tile(KEYS14.action(["W", "Turn_L"]), (4, 1))
    imagination.begin(1, frames[0], nothing)
    first = imagined_at(board, 0)
    assert first.futures[0].held == () and len(first.futures[0].jpegs) == len(STEPS)
    for step, (action, frame) in enumerate(zip(actions, frames[1:]), 1):
        imagination.see(1, step, action, frame, held)
    shown = imagined_at(board, 24)
    imagination.close()
    assert shown.futures[0].held == ("W", "Turn_L") and shown.futures[1].held == ()
    assert shown.latency > 0
    for row, future in enumerate(shown.futures):
        for place, jpeg in enumerate(future.jpegs):
            picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
            assert abs(picture.mean() - 20 * (row * len(STEPS) + place)) < 2, "each in its place"

    seen = frames[::4][-4:]
    past = model.encoding.step_actions(actions[-12:])
    context = Context(encode_frames(model, seen)[None], torch.from_numpy(past)[None])
    future = torch.from_numpy(
        model.encoding.step_actions(np.stack([np.tile(held, (3, 1)), np.zeros((12, 14))]))
    )
    with torch.no_grad():
        expected = naive_rollout(model, context, future[None])[0][:, [step - 1 for step in STEPS]]
    torch.testing.assert_close(latents[-1], expected.flatten(0, 1), atol=1e-4, rtol=1e-4)


def test_a_model_that_cannot_keep_up_skips_and_ends_with_the_newest():
    model = disturbed(small_config(context=4))
    board = Board()

    def slow(asked):
        time.sleep(0.05)
        return np.zeros((len(asked), 16, 16, 3), np.uint8)

    imagination = Imagination(model, slow, STEPS, board)
    frame, action, nothing = np.zeros((16, 16, 3), np.uint8), KEYS14.noop(), np.zeros((4, 14), np.float32)
    imagination.begin(1, frame, nothing)
    for step in range(1, 401):
        imagination.see(1, step, action, frame, nothing)
    imagination.begin(2, frame, nothing)
    imagined_at(board, 0, episode=2)
    imagination.close()
    assert board.view.number < 100, "not every one of the 100 model steps was imagined"


def test_a_dream_goes_on_from_the_real_past_by_itself():
    """As one long rollout under the same actions, once the imagination has caught up with all that was shown."""
    model = disturbed(small_config(context=4))
    rng = np.random.default_rng(1)
    frames = rng.integers(0, 256, (17, 16, 16, 3), np.uint8)
    actions, done = ((rng.random((count, 14)) < 0.3).astype(np.float32) for count in (16, 24))
    latents = []

    def draw(asked):
        time.sleep(0.02)  # the imagination is behind when the dream is asked for
        latents.append(asked.clone())
        return np.zeros((len(asked), 16, 16, 3), np.uint8)

    imagination = Imagination(model, draw, STEPS, Board())
    nothing = np.zeros((4, 14), np.float32)
    imagination.begin(1, frames[0], nothing)
    for step, (action, frame) in enumerate(zip(actions, frames[1:]), 1):
        imagination.see(1, step, action, frame, nothing)
    dream = imagination.dream()
    latents.clear()
    assert dream.frame.shape == (16, 16, 3)
    for raw in done.reshape(6, 4, 14):
        dream.step(raw)
        assert dream.frame.shape == (16, 16, 3)
    imagination.close()
    seen = encode_frames(model, frames[::4][-4:])
    torch.testing.assert_close(latents[0][0], seen[-1], atol=1e-5, rtol=1e-5)
    context = Context(seen[None], torch.from_numpy(model.encoding.step_actions(actions[-12:]))[None])
    with torch.no_grad():
        expected = naive_rollout(model, context, torch.from_numpy(model.encoding.step_actions(done))[None, None])
    torch.testing.assert_close(torch.cat(latents[1:]), expected[0, 0], atol=1e-4, rtol=1e-4)
