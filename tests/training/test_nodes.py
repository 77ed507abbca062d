"""Two machines, played by two torchrun agents that meet on loopback: one dies, both go on, and nothing shows.

The undisturbed run is started as SLURM would start it: the weights tell nothing of that, either."""

import os
import socket
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from actswm.errors import UserError
from actswm.training import load_config, train
from actswm.training.launch import RANKS, is_first_process

from ..faults.marked import MARK, orphans

OPTIONS = [
    "training.nodes=2", "training.threads=1", "training.steps=40", "training.checkpoint_steps=10",
    "training.validation_windows=16",
]  # fmt: skip


def started(commands, environments):
    """Processes side by side."""
    return [
        subprocess.Popen(
            command, env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", **environment},
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for command, environment in zip(commands, environments)
    ]  # fmt: skip


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def command(data, out):
    return ["-m", "actswm", "train", "tiny/actswm", "--data", str(data), "--out", str(out), "--quiet", *OPTIONS]


def agents(data, out, *more):
    """One torchrun for each machine."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
    launch += ["--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{free_port()}", "--local-addr=127.0.0.1"]
    return started([[*launch, *command(data, out), *more]] * 2, [{MARK: f"{out}-{n}"} for n in range(2)])


def tasks(data, out):
    """What `srun --nodes 2 --ntasks-per-node 1` starts, by the variables that it sets."""
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "train", "SLURM_NTASKS": "2", "SLURM_NTASKS_PER_NODE": "1"}
    job |= {"SLURM_NNODES": "2", "SLURM_NODELIST": "localhost", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
    ranks = [{**job, "SLURM_PROCID": str(n), "SLURM_NODEID": str(n), "SLURM_LOCALID": "0"} for n in range(2)]
    return started([[sys.executable, *command(data, out)]] * 2, ranks)


def ended(both):
    said = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], "\n".join(said)
    return "".join(said)


def test_a_machine_that_dies_and_a_run_that_goes_on(square_file, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert ended(tasks(square_file, whole)).count("40 steps in") == 1, "one of the processes speaks"

    both = agents(square_file, cut)
    while not (cut / "last.ckpt").exists():
        time.sleep(0.02)
        assert [process.poll() for process in both] == [None, None]
    assert orphans(f"{cut}-1", patience=0) >= 2, "the agent and its worker: a machine without power"
    said = both[0].communicate(timeout=300)[0]
    assert both[0].returncode and "another process of this run is gone; start all again, with --resume" in said
    step = torch.load(cut / "last.ckpt", weights_only=True)["global_step"]
    assert 10 <= step < 40 and not (cut / "model").exists()

    ended(agents(square_file, cut, "--resume"))
    one, other = (load_file(folder / "model" / "model.safetensors") for folder in (whole, cut))
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


@pytest.mark.parametrize(
    ("environment", "first"),
    [
        ({}, True),
        ({"RANK": "0", "LOCAL_RANK": "0", "GROUP_RANK": "0"}, True),  # torchrun
        ({"RANK": "4", "LOCAL_RANK": "0", "GROUP_RANK": "1"}, False),
        ({"SLURM_PROCID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "0"}, True),
        ({"SLURM_PROCID": "4", "SLURM_NODEID": "1", "SLURM_LOCALID": "0"}, False),
        ({"SLURM_PROCID": "0", "LOCAL_RANK": "1"}, False),  # Lightning's own child, in a batch job
        ({"NODE_RANK": "1"}, False),  # by hand
    ],
)
def test_one_process_owns_the_folder(monkeypatch, environment, first):
    for name in RANKS:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert is_first_process() == first


def test_torchrun_overwrites_no_run_either(square_file, tmp_path, monkeypatch):
    config = load_config("tiny/lewm", ["training.steps=1", "training.validation_windows=16"])
    train(config, square_file, tmp_path / "run", device="cpu")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("LOCAL_RANK", "0")
    with pytest.raises(UserError, match="--resume"):
        train(config, square_file, tmp_path / "run", device="cpu")


def test_no_machine_is_refused():
    with pytest.raises(UserError, match="at least 1"):
        load_config("tiny/lewm", ["training.nodes=0"])
