"""Pose errors against a few independent lines, and a gallery that never shows a window its own episode."""

import numpy as np
import torch

from actswm.diagnosis.gallery import Gallery
from actswm.diagnosis.poses import PoseGallery, pose_errors


def poses(*rows):
    return np.array([[x, y, 0, yaw, 0] for x, y, yaw in rows], np.float32)


def test_distance_angle_and_room():
    shown, true = poses((0, 0, 350), (3, 4, 90), (20, 0, 0)), poses((0, 0, 10), (0, 0, 270), (-20, 0, 359))
    found = pose_errors(shown, true, lambda points: np.where(points[..., 0] < -10, -1, points[..., 0] > 10))
    np.testing.assert_allclose(found.distance, [0, 5, 40])
    np.testing.assert_allclose(found.angle, [20, 180, 1])
    np.testing.assert_array_equal(found.room, [1, 1, np.nan])


def test_the_own_episode_does_not_stand_for_choice():
    latents = torch.tensor([[0.0], [1.0], [5.0]])
    gallery = PoseGallery(Gallery(None, latents), np.array([0, 0, 1]), poses((0, 0, 0), (1, 0, 0), (5, 0, 0)))
    predicted = torch.tensor([[[0.9]], [[0.9]]])
    found = gallery.errors(predicted, np.zeros((2, 1, 5), np.float32), np.array([0, 1]))
    assert found.distance[:, 0].tolist() == [5.0, 1.0]


def test_a_future_that_has_ended_has_no_error():
    true = poses((np.nan, np.nan, np.nan))
    assert np.isnan(pose_errors(poses((1, 1, 1)), true, None).distance).all()
