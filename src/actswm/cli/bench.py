"""`actswm bench`: side-by-side measurements; ratios from one run, written as JSON on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import typer

from ..json_files import write_json
from .arguments import DEVICE, MODEL, existing_dataset
from .printing import say, text_console

app = typer.Typer(
    help="Measure side by side in one run and print ratios.\n\nExample: actswm bench startup --json startup.json",
    no_args_is_help=True,
)
JSON = typer.Option(None, "--json", help="Write the figures to this file.")


@app.callback()
def bench() -> None:
    """Each benchmark prints its ratios and writes them with `--json FILE`."""


@app.command()
def train(
    batch: int = typer.Option(8, min=1, help="Windows in a step for the ratios."),
    repeats: int = typer.Option(3, min=1, help="The two implementations take turns this many times."),
    memory_batch: int = typer.Option(32, min=0, help="Windows in the step whose memory is measured; 0: none."),
    json_file: Path = JSON,
) -> None:
    """One training step at the paper's size: the rollout engine against a plain implementation.

    Example: actswm bench train --json train.json
    """
    from ..bench.training import bench_train

    result = bench_train(batch, repeats, memory_batch)
    say(f"rollout_speedup_vs_naive {result.rollout_speedup_vs_naive:.2f} (forward and backward)")
    say(f"step_speedup_vs_naive {result.step_speedup_vs_naive:.2f} (encoding included)")
    say(f"max_relative_loss_difference {result.max_relative_loss_difference:.1e}")
    if result.peak_rss_gib is not None:
        say(f"peak_rss_gib {result.peak_rss_gib:.1f} at batch {memory_batch}, encoder checkpointed")
    for preset, step in result.small.items():
        say(
            f"{preset}: speedup_vs_former {step.speedup_vs_former:.2f} "
            f"({step.cpu_seconds:.3f} s a step; max_relative_loss_difference {step.max_relative_loss_difference:.1e})"
        )
    _save(json_file, asdict(result))


@app.command()
def data(
    batches: int = typer.Option(12, min=1, help="Batches of 16 windows a round."),
    rounds: int = typer.Option(3, min=1, help="The two loaders take turns this many times."),
    recording: Path = typer.Option(
        None, help="Dataset whose first frames are also read packed and raw.", callback=existing_dataset
    ),
    json_file: Path = JSON,
) -> None:
    """Random 44-step windows through our loader against stable-worldmodel's, on the same file.

    Example: actswm bench data --recording maze.h5 --json data.json
    """
    from ..bench.loading import bench_data, bench_packed

    result = bench_data(batches, rounds)
    if result.speedup_vs_peer is None:
        say(f"speedup_vs_peer: not measured: {result.reason}")
    else:
        say(f"speedup_vs_peer {result.speedup_vs_peer:.1f}")
    figures = asdict(result)
    if recording is not None:
        packed = bench_packed(recording, batches, rounds)
        for name, one in packed.items():
            say(f"{name}: size_over_raw {one.size_over_raw:.2f}, throughput_over_raw {one.throughput_over_raw:.2f}")
        figures["packed"] = {name: asdict(one) for name, one in packed.items()}
    _save(json_file, figures)


@app.command()
def games(
    steps: int = typer.Option(8_000, min=1, help="Raw steps a round for the fastest game; slower ones take fewer."),
    rounds: int = typer.Option(5, min=1, help="Recorder and engine take turns this many times."),
    json_file: Path = JSON,
) -> None:
    """Recorder throughput over the bare engine loop, for every game whose engine is here.

    Example: actswm bench games --json games.json
    """
    from rich.table import Table

    from ..bench.games import bench_games

    console = text_console()
    with console.status("recording and replaying"):
        result = bench_games(steps, rounds)
    table = Table("game", "engine frames/s", "recorder frames/s", "recorder over engine")
    for speed in result.speeds:
        table.add_row(
            speed.game,
            f"{speed.engine_fps:,.0f}",
            f"{speed.recorder_fps:,.0f}",
            f"{speed.recorder_over_engine:.2f}",
        )
    console.print(table)
    for game, reason in result.missing.items():
        console.print(f"{game}: not measured: {reason}")
    _save(json_file, result.figures())


@app.command()
def clean(
    seconds: int = typer.Option(12, min=4, help="Length of the 720p recording for the throughput."),
    json_file: Path = JSON,
) -> None:
    """Cleaning over bare decoding + resizing, and memory over the length of a recording.

    Example: actswm bench clean --json clean.json
    """
    from ..bench.clean import bench_clean

    result = bench_clean(seconds, progress=lambda what: say(what, err=True))
    cpu = f"{result.clean_over_decode_cpu:.2f} in processor time"
    say(
        f"clean_over_decode {result.clean_over_decode:.2f} (judge {result.judge}; {cpu}; "
        f"{result.decode_fps:,.0f} frames/s decoding)"
    )
    say(f"clean_over_decode_with_rules {result.clean_over_decode_with_rules:.2f}")
    say(f"clean_over_decode_without_judge {result.clean_over_decode_without_judge:.2f}")
    peaks = f"10 min {result.rss_ten_minutes_mib:.0f}, 1 min {result.rss_one_minute_mib:.0f}"
    say(f"rss_growth_mib {result.rss_growth_mib:.0f} ({peaks})")
    _save(json_file, asdict(result))


@app.command()
def precision(
    checkpoint: Path = MODEL,
    reference: Path = typer.Argument(help="A clip to follow: an .npz of `actswm plan`'s references."),
    library: str = typer.Option(..., help="Chunk library: a name or a YAML file."),
    moments: int = typer.Option(5, min=1, help="Plans along the clip."),
    device: str = DEVICE,
    json_file: Path = JSON,
) -> None:
    """Plans found in bf16 against plans found in fp32: their cost, and how many elites they share.

    Example: actswm bench precision runs/room/model plans/freedoom-follow-room/references/00-64px.npz --library
    keys14/follow
    """
    from ..chunks import load_library
    from ..model import WorldModel
    from ..model.device import chosen_device
    from ..model.history import encode_frames, observed
    from ..planning.planner import PlanSettings
    from ..planning.precision import check_precision
    from ..planning.references import goals_at, load_reference
    from .bars import bars

    model = WorldModel.from_pretrained(checkpoint, chosen_device(device))
    clip, settings = load_reference(reference), PlanSettings()
    clip.check(str(reference), settings.horizon)
    latents, chunks = encode_frames(model, clip.frames), load_library(library)
    context = raw = None
    planned = {len(clip) * number // moments for number in range(moments)}
    checks = []
    with bars() as move:
        for step, (frame, following) in enumerate(zip(clip.frames, clip.actions)):
            context = observed(model, context, raw, frame)
            if step in planned:
                goals = goals_at(latents, step, settings.horizon)
                checks.append(check_precision(model, chunks, settings, context, goals))
                move("planning in both", len(checks), len(planned))
            raw = following
    figures = {name: [getattr(check, name) for check in checks] for name in asdict(checks[0])}
    for name, values in figures.items():
        say(
            f"{name} {sum(values) / len(values):.4f} ({', '.join(f'{value:.4f}' for value in values)})"
        )
    say(
        "ratios: fp32 cost of the plan over that of the fp32 search's; reseeded: fp32 with another seed"
    )
    _save(json_file, figures)


@app.command()
def recover(
    repeats: int = typer.Option(
        3, min=1, help="Searches of our own; the slowest counts. The naive one runs once."
    ),
    json_file: Path = JSON,
) -> None:
    """One recovered step at the paper's size (context 32, 1,024 candidates, 8 iterations) against the naive search.

    Example: actswm bench recover --json recover.json
    """
    from ..bench.recovery import bench_recover

    result = bench_recover(repeats)
    say(
        f"speedup_vs_naive {result.speedup_vs_naive:.1f} "
        f"(CPU seconds {result.cpu_seconds:.1f} and {result.naive_cpu_seconds:.1f})"
    )
    say(f"max_action_difference {result.max_action_difference:.1e}")
    _save(json_file, asdict(result))


@app.command()
def plan(
    candidates: int = typer.Option(512, min=8, help="Action sequences in an iteration."),
    repeats: int = typer.Option(2, min=1, help="The implementations take turns this many times."),
    json_file: Path = JSON,
) -> None:
    """One CEM iteration at the paper's size: our engine, a plain rollout and stable-worldmodel, same weights.

    Example: actswm bench plan --json plan.json
    """
    from rich.table import Table

    from ..bench.planning import bench_plan

    console = text_console()
    with console.status("planning") as status:
        result = bench_plan(candidates, repeats, progress=status.update)
    figures = ("speedup_vs_naive", "speedup_vs_peer", "speedup_vs_peer_grow", "speedup_vs_peer_bf16", "bf16_over_fp32")
    for figure in (*figures, "of_gemm_peak", "of_gemm_peak_grow"):
        value = getattr(result, figure)
        shown = f"{value:.2f}" if value is not None else f"not given: {result.reasons[figure]}"
        console.print(f"{figure} {shown}", soft_wrap=True)
    console.print(f"max_relative_cost_diff {result.max_relative_cost_diff:.1e}")
    console.print(f"GPU: {result.gpu}")
    small = result.small_plan
    console.print(
        f"small plan: {small.cpu_seconds:.2f} CPU seconds, speedup_vs_naive {small.speedup_vs_naive:.2f}, "
        f"relative_cost_diff {small.relative_cost_diff:.1e}",
        soft_wrap=True,
    )
    table = Table("size", "CPU seconds of an iteration", "grows as")
    for size, growth in result.scaling.items():
        times = ", ".join(f"{n}: {seconds:.2f}" for n, seconds in zip(growth.sizes, growth.cpu_seconds))
        table.add_row(size, times, f"{size}^{growth.exponent:.2f}")
    console.print(table)
    _save(json_file, asdict(result))


@app.command()
def startup(
    runs: int = typer.Option(7, min=1, help="The two take turns this many times."),
    json_file: Path = JSON,
) -> None:
    """`actswm --help` over `python -c "import torch"`: how long the command line takes to start.

    Example: actswm bench startup --json startup.json
    """
    from ..bench.startup import bench_startup

    result = bench_startup(runs)
    say(
        f"startup_over_torch {result.startup_over_torch:.2f} "
        f"({result.startup_over_torch_cpu:.2f} in processor time; {runs} turns)"
    )
    _save(json_file, asdict(result))


def _save(path: Path | None, figures: Mapping[str, object]) -> None:
    if path is not None:
        write_json(path, figures)
