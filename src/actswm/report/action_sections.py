"""What models are good for, on the page: planning with its films, and recovery with its piano rolls."""

from __future__ import annotations

from collections.abc import Sequence

from ..results import Plan, Recover
from .blocks import (
    Block,
    Cell,
    Colour,
    Heading,
    Image,
    Panel,
    Panels,
    Section,
    Table,
    Text,
    Video,
    Videos,
    data_uri,
    figure,
    heading,
)
from .films import Film, FilmedPlan, choose_films
from .roll_chart import roll_chart

PLANNING = (
    "In closed loop: the model imagines many plans, the one whose future looks most like the reference is begun, and "
    "then everything is planned anew from what is really seen. A model that ignores its actions cannot choose: every "
    "plan looks the same to it. Left in each film is the reference, in the middle what really happens, on the right "
    "what was chosen."
)
RECOVERY = (
    "Backwards: given only the frames, which keys would make the model expect them? They are searched with the model "
    "and compared with what was really pressed. Most keys are up most of the time, so balanced accuracy (one half is "
    "guessing) and F1 say more than the share of right keys. idm, where it stands among them, was trained to read keys "
    "off frames; always-off, always-on, pool-frequency and copy-last are guesses that look at no frame. The relative "
    "action gap is how much nearer the keys found bring the imagined end of the window to its last frame than random "
    "keys do."
)
FEW = 10
BY_STEP = "Each step was searched by its own frame: this speaks of imagining the whole window, not of the keys."


def planning_section(results: Sequence[FilmedPlan], episodes: int, colour: Colour) -> Section | None:
    if not results:
        return None
    blocks: list[Block] = [Text(PLANNING)]
    for result in results:
        plan = result.plan
        if len(results) > 1:
            blocks.append(Heading(plan.task))
        blocks.append(_successes(plan, colour))
        for group in choose_films(result.films, episodes):
            videos = tuple(_video(film, colour) for film in group)
            blocks.append(Videos(f"{plan.task}, episode {group[0].episode}", videos, plan.origin))
    return Section("planning", "Planning", "Can it be planned with?", tuple(blocks))


def _successes(result: Plan, colour: Colour) -> Table:
    rows = []
    for method in result.methods:
        rate = method.successes / method.episodes
        interval = f"{method.low:.0%} to {method.high:.0%}"
        lost = f", {method.lost} lost (engine died)" if method.lost else ""
        rows.append(
            (
                heading(method.method, colour),
                Cell(f"{method.successes} of {method.episodes}{lost}"),
                Cell(f"{rate:.0%}", interval, (method.low, rate, method.high), colour(method.method)),
                Cell("–" if method.chunks_to_success is None else f"{method.chunks_to_success:.1f}"),
                Cell(f"{method.plan_cpu_seconds:.2f}" if method.plan_cpu_seconds else "–"),
            )
        )
    head = ("method", "successes", "success rate", "chunks to success", "CPU-seconds a plan")
    episodes = max((method.episodes for method in result.methods), default=0)
    few = f", wide for so few episodes ({episodes})" if episodes < FEW else ""
    caption = f"{result.task}: success rates with 95 % Wilson intervals{few}"
    return Table(caption, head, tuple(rows), result.origin)


def _video(film: Film, colour: Colour) -> Video:
    outcome = f"{'success' if film.succeeded else 'no success'} after {film.chunks} chunks"
    uri = data_uri("video/mp4", film.path.read_bytes())
    return Video(film.method, outcome, film.succeeded, uri, colour(film.method))


def recovery_section(results: Sequence[Recover], pictures: Sequence[Image], colour: Colour) -> Section | None:
    if not results and not pictures:
        return None
    blocks: list[Block] = [Text(RECOVERY)]
    for result in results:
        if len(results) > 1:
            blocks.append(Heading(f"On {result.data}, target {result.options.target}"))
        blocks.append(_scores(result, colour))
        searched = {name: cost for name, cost in result.costs.items() if cost}
        after = "" if result.options.target == "far" else f" {BY_STEP}"
        blocks += [Text(f"{name}: {cost.verdict}.{after}") for name, cost in searched.items() if cost.verdict]
        blocks += _rolls(result, colour)
        blocks.append(_controls(result, colour))
    return Section("recovery", "Recovery", "Which keys explain the video?", (*blocks, *pictures))


def _scores(result: Recover, colour: Colour) -> Table:
    rows = tuple(
        (
            heading(name, colour),
            figure(scores.balanced_accuracy, True, colour(name)),
            figure(scores.f1, True, colour(name)),
            figure(scores.active_accuracy),
            figure(scores.key_accuracy),
            figure(cost.relative_gap if (cost := result.costs.get(name)) else None),
        )
        for name, scores in result.scores.items()
    )
    head = ("method", "balanced accuracy", "F1", "active accuracy", "key accuracy", "relative action gap")
    options, windows = result.options, len(result.window_rows)
    guide = "each window's own actions (an oracle)" if options.guide == "gt-dist" else options.guide
    caption = f"{windows} windows of {result.data}, target {options.target}, start {guide}; 95 % intervals"
    return Table(caption, head, rows, result.origin)


def _rolls(result: Recover, colour: Colour) -> list[Block]:
    roll = result.roll
    if roll is None:
        return []
    panels = []
    for name, lanes in roll.recovered.items():
        both = [(a, b) for control in lanes for a, b in zip(roll.recorded[control], lanes[control])]
        hits, false = both.count(("1", "1")), both.count(("0", "1"))
        pressed = hits + both.count(("1", "0"))
        said = f"{hits} of {pressed} recorded presses found, {false} presses that were none"
        svg = roll_chart(f"Piano roll of {name}: {said}", roll.recorded, lanes)
        panels.append(Panel(f"{name}: {said}", svg, colour(name)))
    caption = (
        f"Window {roll.window}, a lane a control over model steps. Upper bars: what was recorded. Lower bars: what was "
        "recovered, green where it was pressed, orange where it was not. Controls that are never pressed are left out."
    )
    return [Panels(tuple(panels), caption, result.origin)]


def _controls(result: Recover, colour: Colour) -> Table:
    rows = tuple(
        (
            heading(name, colour),
            Cell(control.name),
            Cell(f"{control.pressed_share:.0%}"),
            *map(figure, (control.precision, control.recall, control.f1, control.balanced_accuracy)),
        )
        for name, scores in result.scores.items()
        if result.costs.get(name)
        for control in scores.controls
        if control.pressed_share
    )
    head = ("method", "control", "pressed", "precision", "recall", "F1", "balanced accuracy")
    return Table("Control by control", head, rows, result.origin, folded=True)
