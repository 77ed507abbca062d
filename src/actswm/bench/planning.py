"""One CEM iteration at the paper's size: our planner, a plain rollout and stable-worldmodel's LeWM, in turn.

All three have the same weights and score the same candidates: 32 context frames and a goal frame encoded, 512 sequences
of 12 chunks rolled out, the cheapest eighth kept. The chunks are drawn alike from a library, as in the first iteration
of a search, which has the fewest beginnings in common. A model of the same size with a window that grows is measured
in the same turns: it is another model, whose costs are its own.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..chunks import load_library
from ..errors import UserError
from ..integrations.stable_worldmodel import lewm_to_world_model, peer
from ..model import Context, ModelConfig, WorldModel
from ..model.predictor import PredictorConfig
from ..planning.costs import final
from ..planning.planner import SPARE, Planner, PlanSettings
from .operations import gemm_rate, needed_operations
from .plain import plain_encode, plain_rollout
from .small_plan import SmallPlan, bench_small_plan

CONTEXT, HORIZON, CANDIDATES, BATCH = 32, 12, 512, 128
LIBRARY = "keys14/follow"
ELITE_FRACTION = 0.125
SCALING = {
    "candidates": (64, 128, 256, 512, 1024),
    "horizon": (4, 8, 16, 32),
    "context": (3, 8, 16, 32, 64),
}
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Growth:
    """CPU seconds of an iteration as one size grows, and the exponent p of the power law size^p through them."""

    sizes: tuple[int, ...]
    cpu_seconds: tuple[float, ...]
    exponent: float


@dataclass(frozen=True)
class PlanBench:
    """CPU seconds are for information; the ratios are what is measured."""

    candidates: int
    speedup_vs_naive: float
    speedup_vs_peer: float | None
    speedup_vs_peer_grow: float | None
    of_gemm_peak: float
    """Share of the rate of one large product that the operations which an iteration needs were done at."""
    of_gemm_peak_grow: float
    gpu: str
    speedup_vs_peer_bf16: float | None
    bf16_over_fp32: float
    max_relative_cost_diff: float
    reasons: dict[str, str]
    """Why a figure is null."""
    cpu_seconds: dict[str, float]
    small_plan: SmallPlan
    """A whole search at the size that planning on a CPU uses."""
    scaling: dict[str, Growth]


@dataclass(frozen=True)
class Problem:
    """What an iteration is given: frames (1, H, h, w, 3), a goal frame, H - 1 actions, plans (S, K) of chunks."""

    pixels: Tensor
    goal: Tensor
    history: Tensor
    plans: Tensor


def bench_plan(
    candidates: int = CANDIDATES, repeats: int = 2, progress: Progress = lambda what: None
) -> PlanBench:
    torch.set_num_threads(1)
    reasons: dict[str, str] = {}
    theirs, model = _models(reasons)
    problem = _problem(model, CONTEXT, HORIZON, candidates)
    torch.manual_seed(0)
    grown = replace(model.config.predictor, window="grow", positions=CONTEXT + HORIZON)
    grow = WorldModel(replace(model.config, predictor=grown)).eval()
    _disturb(grow.parameters())
    peak = gemm_rate()
    runs: dict[str, Callable[[], Tensor]] = {
        "engine": lambda: engine_costs(model, problem),
        "grow": lambda: engine_costs(grow, problem),
        "naive": lambda: naive_costs(model, problem),
    }
    if theirs is not None:
        candidates_of = _step_actions(model, problem)
        runs["peer"] = lambda: peer_costs(theirs, problem, candidates_of)
    seconds, costs = _alternate(runs, repeats, progress)
    half = copy.deepcopy(model).to(torch.bfloat16)
    bf16, _ = _alternate({"engine_bf16": lambda: screened_costs(half, model, problem)}, repeats, progress)
    seconds |= bf16
    exact = costs["peer" if theirs is not None else "naive"]
    difference = float(((costs["engine"] - exact) / exact).abs().max())
    peer_speedup = seconds["peer"] / seconds["engine"] if theirs is not None else None
    grow_speedup = seconds["peer"] / seconds["grow"] if theirs is not None else None
    bf16_speedup = seconds["peer"] / seconds["engine_bf16"] if theirs is not None else None
    if bf16_speedup is not None and not _has_bf16_units() and seconds["engine_bf16"] > seconds["engine"]:
        reasons["speedup_vs_peer_bf16"] = (
            f"this processor has no bf16 matrix units (avx512_bf16, amx_bf16): bf16 gives {bf16_speedup:.2f}, "
            "less than fp32; planning uses fp32 here"
        )
        bf16_speedup = None
    return PlanBench(
        candidates=candidates,
        speedup_vs_naive=seconds["naive"] / seconds["engine"],
        speedup_vs_peer=peer_speedup,
        speedup_vs_peer_grow=grow_speedup,
        of_gemm_peak=needed_operations(model, problem) / seconds["engine"] / peak,
        of_gemm_peak_grow=needed_operations(grow, problem) / seconds["grow"] / peak,
        gpu="not run: benchmarks measure processor time",
        speedup_vs_peer_bf16=bf16_speedup,
        bf16_over_fp32=seconds["engine"] / seconds["engine_bf16"],
        max_relative_cost_diff=difference,
        reasons=reasons,
        cpu_seconds=seconds,
        small_plan=bench_small_plan(repeats, progress=progress),
        scaling={size: _growth(size, values, progress) for size, values in SCALING.items()},
    )


@torch.inference_mode()
def engine_costs(model: WorldModel, problem: Problem) -> Tensor:
    context = Context(model.encode(problem.pixels), problem.history)
    goal = model.encode(problem.goal)[0].float()
    return _planner(model).cost_in(model, context, goal)(problem.plans)


def screened_costs(rough: WorldModel, exact: WorldModel, problem: Problem) -> Tensor:
    """As the planner does it in bf16: possible elites are judged once more in fp32."""
    keep = round(SPARE * ELITE_FRACTION * len(problem.plans))
    close = engine_costs(rough, problem).topk(keep, largest=False).indices
    return engine_costs(exact, replace(problem, plans=problem.plans[close]))


def _planner(model: WorldModel) -> Planner:
    return Planner(model, load_library(LIBRARY), PlanSettings(cost="final", batch=BATCH))


def _step_actions(model: WorldModel, problem: Problem) -> Tensor:
    """The candidates as models take them: (1, S, K, A')."""
    return _planner(model).step_actions(problem.plans)[None]


@torch.inference_mode()
def naive_costs(model: WorldModel, problem: Problem) -> Tensor:
    context = Context(plain_encode(model, problem.pixels), problem.history)
    futures = plain_rollout(model, context, _step_actions(model, problem))[0]
    return final(futures, plain_encode(model, problem.goal)[0])


@torch.inference_mode()
def peer_costs(theirs: Any, problem: Problem, candidates: Tensor) -> Tensor:
    samples = candidates.shape[1]
    history = problem.history.unsqueeze(1).expand(-1, samples, -1, -1)
    info = {
        "pixels": _as_peer_sees(problem.pixels),
        "goal": _as_peer_sees(problem.goal),
        "action": problem.history,
    }
    info = {name: part.unsqueeze(1).expand(1, samples, *part.shape[1:]) for name, part in info.items()}
    return theirs.get_cost(info, torch.cat([history, candidates], 2))[0]


def _alternate(
    runs: dict[str, Callable[[], Tensor]], repeats: int, progress: Progress
) -> tuple[dict[str, float], dict[str, Tensor]]:
    """Best CPU time of each, run in turn so that a noisy moment hits all; elites are selected, too."""
    seconds: dict[str, float] = {}
    costs: dict[str, Tensor] = {}
    for turn in range(repeats):
        for name, run in runs.items():
            progress(f"{name} {turn + 1}/{repeats}")
            began = time.process_time()
            costs[name] = run()
            costs[name].topk(max(1, round(len(costs[name]) * ELITE_FRACTION)), largest=False)
            seconds[name] = min(seconds.get(name, math.inf), time.process_time() - began)
    return seconds, costs


def _growth(size: str, values: Sequence[int], progress: Progress) -> Growth:
    """Horizon and context are varied at 64 candidates: their shape, not their height, is asked for."""
    seconds: list[float] = []
    for value in values:
        sizes = {"candidates": 64, "horizon": HORIZON, "context": CONTEXT} | {size: value}
        torch.manual_seed(0)
        model = WorldModel(ModelConfig(predictor=PredictorConfig(context=sizes["context"]))).eval()
        problem = _problem(model, sizes["context"], sizes["horizon"], sizes["candidates"])
        engine_costs(model, replace(problem, plans=problem.plans[:8]))  # warm up
        spent, _ = _alternate({f"{size} {value}": partial(engine_costs, model, problem)}, 1, progress)
        seconds += spent.values()
    return Growth(tuple(values), tuple(seconds), _exponent(values, seconds))


def _exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of the least-squares line through the logarithms."""
    x, y = (torch.tensor(values, dtype=torch.float64).log() for values in (sizes, seconds))
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / x.square().sum())


def _problem(model: WorldModel, context: int, horizon: int, candidates: int) -> Problem:
    torch.manual_seed(1)
    size, actions = model.config.image_size, model.encoding.step_dim
    frames = torch.randint(0, 255, (1, context + 1, size, size, 3), dtype=torch.uint8)
    history = torch.randn(1, context - 1, actions)
    plans = torch.randint(len(load_library(LIBRARY).names), (candidates, horizon))
    return Problem(frames[:, :-1], frames[:, -1:], history, plans)


def _models(reasons: dict[str, str]) -> tuple[Any, WorldModel]:
    """The peer's LeWM at the paper's size and our model with its weights; ours alone where the peer is absent."""
    torch.manual_seed(0)
    try:
        theirs = _make_lewm()
    except (UserError, ImportError) as error:
        for figure in ("", "_grow", "_bf16"):
            reasons[f"speedup_vs_peer{figure}"] = str(error)
        model = WorldModel(ModelConfig())
        _disturb(model.parameters())
        return None, model.eval()
    return theirs, lewm_to_world_model(theirs.state_dict(), vocabulary="keys14", frameskip=4)


def _make_lewm() -> Any:
    module, lewm = peer("wm.lewm.module"), peer("wm.lewm")
    from transformers import ViTConfig, ViTModel

    size = ModelConfig()
    vit, predictor, dim = size.vit, size.predictor, size.latent_dim
    encoder = ViTConfig(
        hidden_size=vit.hidden, num_hidden_layers=vit.depth, num_attention_heads=vit.heads,
        intermediate_size=vit.mlp, image_size=size.image_size, patch_size=vit.patch,
    )  # fmt: skip
    model = lewm.LeWM(
        encoder=ViTModel(encoder, add_pooling_layer=False),
        predictor=module.Predictor(
            num_frames=predictor.context, depth=predictor.depth, heads=predictor.heads,
            mlp_dim=predictor.mlp, input_dim=dim, hidden_dim=dim, dropout=predictor.dropout,
        ),
        action_encoder=module.Embedder(
            input_dim=size.action_encoding.input_dim, smoothed_dim=10, emb_dim=dim
        ),
        projector=module.MLP(dim, size.projector_hidden, dim, norm_fn=torch.nn.BatchNorm1d),
        pred_proj=module.MLP(dim, size.projector_hidden, dim, norm_fn=torch.nn.BatchNorm1d),
    )  # fmt: skip
    _disturb(model.parameters())
    return model.eval()


@torch.no_grad()
def _disturb(parameters: Any) -> None:
    """Away from AdaLN-zero, where actions have no effect."""
    for parameter in parameters:
        parameter.add_(0.03 * torch.randn_like(parameter))


def _as_peer_sees(frames: Tensor) -> Tensor:
    scaled = frames.permute(0, 1, 4, 2, 3).float() / 255
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    return (scaled - mean.view(3, 1, 1)) / std.view(3, 1, 1)


def _has_bf16_units() -> bool:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return "avx512_bf16" in flags or "amx_bf16" in flags
