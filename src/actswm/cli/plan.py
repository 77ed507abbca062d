"""`actswm plan`: planners and baselines on a task, in closed loop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..errors import UserError
from .arguments import DEVICE, EXECUTOR, Executor, saved_models
from .bars import bars
from .printing import say, text_console

if TYPE_CHECKING:
    from ..game import Game
    from ..planning.agents import Method
    from ..planning.planner import PlanSettings
    from ..results import EpisodeResult, Plan


def plan(
    checkpoints: list[Path] = typer.Argument(
        None,
        help="Runs, saved models' folders, or shipped weights by name; none for baselines alone.",
        callback=saved_models,
    ),
    task_name: str = typer.Option(
        ..., "--task", help="family/task, such as freedoom/follow-room; or your own: task.yaml, my_module:TASK."
    ),
    episodes: int = typer.Option(20, min=1, help="The first so many of the task's starts."),
    out: Path = typer.Option(
        None, "--out", "-o", help="Folder of episodes, films and references (default: plans/TASK)."
    ),
    baselines: str = typer.Option(
        "random,noop,replay,expert", help="Compare with these, by comma; empty for none."
    ),
    library_name: str = typer.Option(None, "--library", help="Chunk library: a name or a YAML file."),
    reference_file: Path = typer.Option(
        None, "--reference", help="Follow this clip (.npz, as in OUT/references) and not the expert's."
    ),
    search: Literal["categorical", "library-init"] = typer.Option(
        "categorical", help="How plans are found; library-init is the paper's."
    ),
    cost: Literal["tracking", "final"] = typer.Option("tracking", help="tracking is the paper's."),
    phase: Literal["clock", "sight"] = typer.Option(
        "clock", help="Goals advance by the clock (the paper's), or by sight."
    ),
    horizon: int = typer.Option(
        None, min=1, help="Chunks in a plan (default: 12, or fewer where a model's window grows no further)."
    ),
    candidates: int = typer.Option(512, min=1, help="Plans in an iteration."),
    iterations: int = typer.Option(6, min=1, help="Iterations of a search."),
    warm_start: bool = typer.Option(True, help="Begin each search at the previous plan, shifted."),
    begin: Literal["previous", "reference"] = typer.Option(
        "previous", help="A search begins at the previous plan, or at the reference's own keys."
    ),
    margin: float = typer.Option(
        0.0, min=0, max=1, help="Leave the reference's keys only for a plan that costs less by this share."
    ),
    mask: Literal["none", "mining"] = typer.Option(
        None, help="What is painted over before a model looks (default: the task's)."
    ),
    precision: Literal["fp32", "bf16"] = typer.Option("fp32", help="Of the imagined futures."),
    seed: int = typer.Option(0, min=0, help="Of searches and random chunks."),
    film: bool = typer.Option(True, help="Write an MP4 of each episode."),
    device: str = DEVICE,
    threads: int = typer.Option(1, min=1, help="Processor threads of a plan (on Ray: one)."),
    executor: Executor = EXECUTOR,
    json_file: Path = typer.Option(None, "--json", help="Also write the counts to this file."),
    picture: Path = typer.Option(None, help="Draw the success rates as bars into this PNG."),
    beside: list[Path] = typer.Option(
        [], help="Other results (JSON) that the picture shows, too, of this task or others; may be repeated."
    ),
) -> None:
    """Plan in closed loop with world models and baselines, from the same starts and towards the same references.

    Finished episodes stay on disk: after Ctrl+C or a kill the same command goes on where it was.

    Example: actswm plan runs/room/model --task freedoom/follow-room --episodes 20
    """
    from dataclasses import replace

    from ..chunks import RAW_STEPS, load_library
    from ..games.tasks import find_task

    task = find_task(task_name)
    library = load_library(library_name or task.library)
    if library.vocabulary != task.vocabulary:
        raise UserError(
            f"library {library.name!r} speaks {library.vocabulary.name}, but {task.name} is played "
            f"with {task.vocabulary.name}; use {task.library!r}"
        )

    import torch

    from ..games.guard import EngineDied
    from ..games.registry import DEFAULT_SIZE, make_game
    from ..origin import this_command
    from ..planning.agents import baseline
    from ..planning.evaluation import Evaluation
    from ..planning.mpc import planning
    from ..planning.planner import Planner, PlanSettings, own_horizon
    from ..planning.references import load_reference
    from ..report.picture_note import write_note
    from ..report.success_plot import plot_successes
    from ..results import save_result
    from .checkpoints import load_checkpoints
    from .trained_on import warn_of_other_frames

    torch.set_num_threads(threads)
    others = [_plan_of(path) for path in beside]
    settings = PlanSettings(
        search=search, cost=cost, phase=phase, candidates=candidates, iterations=iterations,
        warm_start=warm_start, begin=begin, margin=margin, precision=precision, seed=seed,
    )  # fmt: skip
    methods: list[tuple[Method, int]] = []
    if executor == "ray" and device not in ("auto", "cpu"):
        raise UserError(f"--executor ray plans on processors, not on {device}; leave --device out")
    loaded = load_checkpoints(checkpoints or [], "cpu" if executor == "ray" else device)
    for each in loaded:
        own = replace(settings, horizon=horizon or own_horizon(each.model))
        planner = Planner(each.model, library, own)
        identity = _identity(each.path, own) | ({"mask": mask} if mask else {})
        methods.append((planning(each.name, planner, mask or task.mask, identity), each.model.config.image_size))
    size = methods[0][1] if methods else DEFAULT_SIZE[0]
    names = [name.strip() for name in baselines.split(",") if name.strip()]
    methods += [(baseline(name, task, library, seed), size) for name in names]
    if not methods:
        raise UserError("nothing to evaluate: give a checkpoint or --baselines")
    unwarned = [each.path for each in loaded]

    def open_game(pixels: int) -> Game:
        game = make_game(task.game, size=(pixels, pixels), **dict(task.game_options))
        if game.vocabulary != task.vocabulary:
            raise UserError(
                f"{task.name}: its library speaks {task.vocabulary.spelling}, but {task.game} is played with "
                f"{game.vocabulary.spelling}"
            )
        while unwarned:
            warn_of_other_frames(unwarned.pop(), task.game, game.fps)
        return game

    evaluation = Evaluation(
        task=task,
        episodes=episodes,
        raw_steps=RAW_STEPS,
        out=out or Path("plans", task.name.replace("/", "-")),
        open_game=open_game,
        engine_errors=(EngineDied,),
        reference=load_reference(reference_file) if reference_file else None,
        film=film,
        origin=this_command(seed),
    )
    result = _run(evaluation, methods, executor)
    _show(result)
    say(f"episodes, films and references: {evaluation.out}")
    if json_file:
        save_result(json_file, result)
    if picture:
        plot_successes([result, *others], picture)
        alt = "Share of successful episodes of each method, with 95 % Wilson intervals"
        write_note(picture, "successes", "Success rates", alt, result.origin)
        say(f"success rates: {picture}")


def _plan_of(path: Path) -> Plan:
    from ..results import Plan, read_result

    result = read_result(path)
    if not isinstance(result, Plan):
        raise UserError(f"{path}: not a result of actswm plan")
    return result


def _identity(path: Path, settings: PlanSettings) -> dict[str, object]:
    """What an episode depends on: an episode played with other settings or weights is not the same one."""
    import hashlib
    from dataclasses import asdict

    weights = hashlib.sha256((path / "model.safetensors").read_bytes()).hexdigest()[:16]
    # there was nothing else when older episodes were played
    since = {"phase": "clock", "begin": "previous", "margin": 0.0}
    return {"weights": weights} | {
        name: value for name, value in asdict(settings).items() if since.get(name) != value
    }


def _run(evaluation, methods: list[tuple[Method, int]], executor: Executor) -> Plan:  # type: ignore[no-untyped-def]
    won: dict[str, list[bool]] = {method.name: [] for method, _ in methods}
    with bars() as move:

        def show(method: str, result: EpisodeResult | None) -> None:
            won[method].append(bool(result and result.succeeded))
            move(method, len(won[method]), evaluation.episodes, f"{sum(won[method])} succeeded")

        return evaluation.run(methods, show, executor)


def _show(plan: Plan) -> None:
    from rich.table import Column, Table

    longest = max(len(result.method) for result in plan.methods)
    method = Column("method", overflow="fold", min_width=min(longest, 32))  # a name that is cut tells nothing
    table = Table(method, "successes", "95 % interval", "chunks to success", "CPU-s a plan", title=plan.task)
    for result in plan.methods:
        lost = f" ({result.lost} lost: engine died)" if result.lost else ""
        chunks = f"{result.chunks_to_success:.1f}" if result.chunks_to_success is not None else "-"
        latency = f"{result.plan_cpu_seconds:.2f}" if result.plan_cpu_seconds else "-"
        counts = f"{result.successes}/{result.episodes}{lost}"
        table.add_row(result.method, counts, f"{result.low:.0%} to {result.high:.0%}", chunks, latency)
    text_console().print(table)
