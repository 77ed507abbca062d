"""Every command that runs a model, on the pretend accelerator and on the CPU, with the same result.

`test_pretend.py` has this run in a process of its own: see `pretend.py`.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import sys

import cv2
import numpy as np
import pytest
import torch
from lightning.pytorch.accelerators import Accelerator, AcceleratorRegistry
from safetensors.torch import load_file

from actswm.cli.main import run
from actswm.data import DatasetFile
from actswm.diagnosis.gallery import Gallery
from actswm.formats.video import MS, VideoWriter
from actswm.integrations.solver import SolverModel
from actswm.model import Context
from actswm.model.device import chosen_device
from actswm.model.tree import PrefixTree
from actswm.play.board import Board
from actswm.play.imagination import Imagination
from actswm.training import validation

from ..model.small_models import disturbed, random_context, small_config
from ..play.test_imagination import imagined_at
from . import pretend

KEPT = pretend.install()
DEVICES = ("cpu", pretend.NAME)


@AcceleratorRegistry.register(pretend.NAME)
class PretendAccelerator(Accelerator):
    """Lightning's idea of the device."""

    def setup_device(self, device): ...

    def teardown(self): ...

    @staticmethod
    def parse_devices(devices):
        return devices

    @staticmethod
    def get_parallel_devices(devices):
        return [torch.device(pretend.NAME, 0)] * int(devices)

    @staticmethod
    def auto_device_count():
        return 1

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def name():
        return pretend.NAME


def actswm(*arguments):
    before, sys.argv = sys.argv, ["actswm", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as ended:
            run()
    finally:
        sys.argv = before
    assert not ended.value.code, arguments


@pytest.fixture
def moves(monkeypatch):
    """How many operations the pretend accelerator has done: a command that ignores --device does none."""
    done = []
    dispatch = pretend.Pretended.__torch_dispatch__.__func__

    def counted(cls, func, *rest, **named):
        done.append(func)
        return dispatch(cls, func, *rest, **named)

    monkeypatch.setattr(pretend.Pretended, "__torch_dispatch__", classmethod(counted))
    return done


def on_both(moves, folder, *arguments):
    """The JSON that a command writes on each device."""
    results = []
    for device in DEVICES:
        moves.clear()
        path = folder / f"{device}.json"
        actswm(*(str(each).replace("DEVICE", device) for each in arguments), "--device", device, "--json", path)
        assert (len(moves) > 100) == (device == pretend.NAME)
        results.append(json.loads(path.read_text()))
    return results


def assert_same(one, other, where="", ignored=("command", "commit"), near=1e-4):
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one.keys() - {*ignored}:
            assert_same(one[key], other[key], f"{where}.{key}", ignored, near)
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for number, pair in enumerate(zip(one, other)):
            assert_same(*pair, f"{where}[{number}]", ignored, near)
    elif isinstance(one, float):
        assert math.isclose(one, other, rel_tol=1e-3, abs_tol=near) or (one != one and other != other), (
            f"{where}: {one} and {other}"
        )
    else:
        assert one == other, where


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    model = disturbed(small_config(image_size=32, encoding="sliding"))
    return model.save_pretrained(tmp_path_factory.mktemp("made") / "model", {"data": {"source": "made"}})


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A recording of a game that can branch."""
    path = tmp_path_factory.mktemp("room") / "room.h5"
    actswm("record", "freedoom/room", "--steps", 600, "--episode-steps", 120, "--size", 32, "--out", path)
    return path


def test_an_operation_of_two_devices_is_refused():
    here = torch.ones(2).to(pretend.NAME)
    with pytest.raises(RuntimeError, match="same device"):
        here + torch.ones(2)
    with pytest.raises(TypeError, match="to numpy"):
        here.numpy()
    assert (here + torch.tensor(1.0)).cpu().tolist() == [2, 2]
    assert chosen_device("auto").type == "cpu" and chosen_device(pretend.NAME) == here.device


@torch.no_grad()
def test_a_model_takes_what_lies_elsewhere():
    """Frames, rows, contexts and actions of either device, in any mixture."""
    cpu = disturbed(small_config(encoding="sliding"))
    model = disturbed(small_config(encoding="sliding")).to(pretend.NAME)
    context, actions = random_context(cpu, 1, 4), torch.rand(3, 5, 14)
    pixels, rows = torch.randint(0, 255, (2, 4, 16, 16, 3), dtype=torch.uint8), torch.arange(8).view(2, 4) // 2
    earlier = torch.rand(1, 7, 14)
    plans = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 0, 1, 0], [1, 1, 1, 1, 1]])
    asked = {
        "encode": lambda of, to: of.encode(pixels.to(to[0]), rows.to(to[1])),
        "predict": lambda of, to: of.predict(context.latents.to(to[0]), earlier.to(to[1])),
        "rollout": lambda of, to: of.rollout(
            Context(context.latents.to(to[0]), context.actions.to(to[1])), actions[None].to(to[2])
        ),
        "tree": lambda of, to: of.rollout_tree(
            Context(context.latents.to(to[0]), context.actions.to(to[1])), actions.to(to[2]), PrefixTree.of(plans)
        ),
    }
    for name, ask in asked.items():
        expected = ask(cpu, ("cpu",) * 3)
        for to in itertools.product(DEVICES, repeat=3):
            found = ask(model, to)
            assert found.device.type == pretend.NAME
            torch.testing.assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-5, msg=f"{name} {to}")


@pytest.mark.parametrize("variant", ["actswm", "contrast"])
def test_train(square_file, tmp_path, moves, monkeypatch, variant):
    reduced = set()

    def one_rank(value):
        reduced.add(value.device.type)
        return value

    monkeypatch.setattr(validation, "mean_over_ranks", one_rank)
    for device in DEVICES:
        moves.clear()
        reduced.clear()
        options = ("model.predictor.dropout=0", "training.steps=3", "training.validate_every=1")
        options += ("training.log_every=1", "training.validation_windows=16", "training.mask=mining")
        options += ("training.muon_rate=1e-3",)
        actswm(
            "train", f"tiny/{variant}", "--data", square_file, "--out", tmp_path / device, "--quiet", *options,
            "--device", device,
        )  # fmt: skip
        assert (len(moves) > 100) == (device == pretend.NAME)
        assert reduced == {device}, "NCCL adds up nothing that lies elsewhere"
    # losses of three steps, each with the weights that the step before left, and validation with its drift probe
    one, other = (_logged(tmp_path / device) for device in DEVICES)
    assert {"loss", "sigreg", "latent_rank", "val/sigreg", "val/drift_gap"} <= set(one[0]) and len(one) >= 6
    assert_same(one, other, near=1e-3)  # an optimiser makes much of gradients that are nothing but rounding
    weights = load_file(tmp_path / pretend.NAME / "model" / "model.safetensors")
    assert all(tensor.device.type == "cpu" for tensor in weights.values())


def _logged(folder):
    with open(folder / "logs" / "metrics.csv", newline="") as file:
        return [{name: float(cell or "nan") for name, cell in row.items()} for row in csv.DictReader(file)]


def test_drift(square_file, checkpoint, tmp_path, moves):
    sizes = ("--windows", 8, "--context", 4, "--horizon", 5, "--split", "all")
    results = on_both(moves, tmp_path, "drift", checkpoint, "--data", square_file, *sizes, "--controls", "--bound")
    assert_same(*results)


def test_fidelity_and_sheet(room, checkpoint, tmp_path, moves):
    options = ("--data", room, "--windows", 2, "--context", 4, "--horizon", 4, "--split", "all")
    assert_same(*on_both(moves, tmp_path, "fidelity", checkpoint, *options, "--gallery", 50))
    for device in DEVICES:
        out = tmp_path / f"{device}.png"
        actswm("sheet", checkpoint, *options, "--gallery", 50, "--out", out, "--device", device)
    one, other = (cv2.imread(str(tmp_path / f"{device}.png")) for device in DEVICES)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("search", "precision"), [("categorical", "fp32"), ("library-init", "bf16")])
def test_plan(checkpoint, tmp_path, moves, search, precision):
    sizes = ("--episodes", 1, "--candidates", 16, "--iterations", 2, "--horizon", 3, "--baselines", "")
    on_both(
        moves, tmp_path, "plan", checkpoint, "--task", "freedoom/follow-room", *sizes, "--no-film",
        "--phase", "sight", "--precision", precision, "--search", search, "--out", tmp_path / "DEVICE",
    )  # fmt: skip
    one, other = (
        json.loads(next((tmp_path / device).glob("*/episode-00.json")).read_text()) for device in DEVICES
    )
    assert len(one["choices"]) > 5
    if precision == "fp32":  # in bf16 devices may round to other elites
        assert_same(one, other, ignored=("plan_cpu_seconds",))


@pytest.mark.parametrize("how", [("--target", "far"), ("--target", "every-step", "--search", "pool")])
def test_idm_and_recover(square_file, checkpoint, tmp_path, moves, how):
    for device in DEVICES:
        moves.clear()
        sizes = ("--model", "pair", "--steps", 3, "--batch", 8, "--size", 32)
        actswm("idm", "--data", square_file, "--out", tmp_path / f"idm-{device}", *sizes, "--device", device)
        assert (len(moves) > 100) == (device == pretend.NAME)
    search = ("--windows", 2, "--steps", 3, "--split", "all", "--candidates", 32, "--elites", 8, "--iterations", 2)
    recovery = ("recover", checkpoint, "--data", square_file, *search, *how, "--idm", tmp_path / "idm-DEVICE")
    assert_same(*on_both(moves, tmp_path, *recovery, "--validity", "endpoints"))


def test_annotate(checkpoint, tmp_path, moves):
    rng = np.random.default_rng(0)
    with VideoWriter(tmp_path / "clip.mkv", height=32, width=32, fps=20) as writer:
        for number in range(21):
            writer.add(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8), number * 50 * MS)
    labels = []
    for device in DEVICES:
        moves.clear()
        sizes = ("--candidates", 32, "--elites", 8, "--iterations", 2, "--out", tmp_path / f"{device}.h5")
        actswm("annotate", checkpoint, tmp_path / "clip.mkv", *sizes, "--device", device)
        assert (len(moves) > 100) == (device == pretend.NAME)
        with DatasetFile(tmp_path / f"{device}.h5") as file:
            labels.append((file.action[:], file.column("score")[:], file.column("gain")[:]))
    for one, other in zip(*labels):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_a_solver_of_stable_worldmodel():
    """Its frames, float or not, and candidates come from the CPU, where it wants the costs."""
    costs = []
    for device in DEVICES:
        torch.manual_seed(0)
        frames, goal = torch.rand(1, 1, 3, 3, 16, 16), torch.randint(0, 255, (1, 1, 1, 3, 16, 16), dtype=torch.uint8)
        info, candidates = {"pixels": frames, "goal": goal}, torch.rand(1, 4, 5, 56)
        costs.append(SolverModel(disturbed(small_config()).to(device)).get_cost(info, candidates))
    assert costs[1].device.type == "cpu"
    torch.testing.assert_close(*costs, rtol=1e-4, atol=1e-5)


def test_play(square_file):
    """What `play` adds to the game: the imagination, with recorded frames in place of latents."""
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (13, 32, 32, 3), np.uint8)
    actions = (rng.random((12, 14)) < 0.3).astype(np.float32)
    pictures = []
    for device in DEVICES:
        model = disturbed(small_config(image_size=32)).to(device)
        gallery = Gallery.of(model, square_file, np.arange(200), 100)
        board = Board()
        imagination = Imagination(model, gallery.nearest, (1, 3), board)
        imagination.begin(1, frames[0], np.zeros((4, 14), np.float32))
        for step, (action, frame) in enumerate(zip(actions, frames[1:]), 1):
            imagination.see(1, step, action, frame, np.tile(action, (4, 1)))
        pictures.append([future.jpegs for future in imagined_at(board, 12).futures])
        imagination.close()
    assert pictures[0] == pictures[1]


