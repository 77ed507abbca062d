"""`actswm recover`: which actions explain a recording, and do they agree with what was pressed?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from .arguments import DEVICE, MODELS, dataset_file
from .printing import say

CANDIDATES = typer.Option(1024, min=1, help="Candidates of an iteration.")
ELITES = typer.Option(128, min=1, help="Best candidates to which the next iteration is fitted.")
ITERATIONS = typer.Option(8, min=1, help="Iterations of a search.")
CLIP = typer.Option(
    False, "--clip", help="Keep buttons between up and down (0..1) in the search; the paper does not."
)
Search = Literal["cem", "pool"]
METHOD = typer.Option("cem", "--search", help="cem is the paper's; pool tries every observed action once.")
WINDOW = typer.Option(4, min=1, help="Steps that --target joint searches at once.")


def recover(
    checkpoints: list[Path] = MODELS,
    data: Path = dataset_file("Dataset file with recorded actions."),
    windows: int = typer.Option(15, min=1, help="How many windows."),
    steps: int = typer.Option(32, min=1, help="Model steps to recover in each; the target frame lies at their end."),
    target: Literal["far", "every-step", "joint"] = typer.Option(
        "far", help="The window's last frame (the paper's), each step's own, or some steps' at once."
    ),
    method: Search = METHOD,
    joint_window: int = WINDOW,
    guide: Literal["human-guide", "gt-dist", "zero-init"] = typer.Option(
        "human-guide", help="Start from the training split's actions, from the window's own, or from no-op."
    ),
    img_size: int = typer.Option(
        None, min=1, help="Demand this input resolution; frames are resized to the model's."
    ),
    candidates: int = CANDIDATES,
    elites: int = ELITES,
    iterations: int = ITERATIONS,
    clip: bool = CLIP,
    split: str = typer.Option("test", help="Episodes the windows come from."),
    validity: Literal["strict", "endpoints"] = typer.Option(
        "strict", help="endpoints is Appendix D to the letter."
    ),
    seed: int = typer.Option(42, min=0, help="Chooses the windows and the random numbers."),
    device: str = DEVICE,
    idm: Path = typer.Option(None, help="Folder of an inverse-dynamics model (actswm idm) to compare with."),
    picture: Path = typer.Option(None, help="Write a piano roll of one window to this PNG."),
    picture_window: int = typer.Option(0, min=0, help="Which window the picture shows."),
    json_file: Path = typer.Option(None, "--json", help="Write all figures to this file."),
) -> None:
    """Recover the actions of recorded windows and compare them with what was really pressed.

    Example: actswm recover runs/room/model --data room.h5 --target every-step --picture roll.png
    """
    from ..data import sample_windows
    from ..errors import UserError
    from ..origin import this_command
    from ..recovery.baselines import blind_baselines
    from ..recovery.idm import InverseDynamics
    from ..recovery.metrics import score
    from ..recovery.prior import training_prior
    from ..recovery.protocol import RecoveryOptions, run_protocol
    from ..recovery.saved_idm import load_idm
    from ..recovery.search import RecoverySettings
    from ..recovery.windows import truth_of
    from ..results import save_result
    from .checkpoints import load_checkpoints
    from .recovery_tables import piano_roll, recovered, show
    from .results import progress
    from .trained_on import warn_of_other_data

    options = RecoveryOptions(
        RecoverySettings(candidates, elites, iterations, clip=clip),
        method,
        target,
        joint_window,
        guide,
        seed,
    )
    loaded = load_checkpoints(checkpoints, device)
    models = {checkpoint.name: checkpoint.model for checkpoint in loaded}
    first = next(iter(models.values()))
    for name, model in models.items():
        if img_size and model.config.image_size != img_size:
            raise UserError(f"{name}: takes {model.config.image_size} px frames, not --img-size {img_size}")
    sample = sample_windows(
        data,
        windows,
        horizon=steps,
        frameskip=first.encoding.frameskip,
        split=split,
        seed=seed,
        validity=validity,
    )
    if picture_window >= len(sample):
        raise UserError(f"--picture-window {picture_window}: there are {len(sample)} windows, from 0")
    warn_of_other_data([checkpoint.path for checkpoint in loaded], data)
    direct = load_idm(idm) if idm else None
    if isinstance(direct, InverseDynamics):
        direct.to(first.device)
    truth, prior = truth_of(sample, first.encoding), training_prior(data, first.encoding)
    recoveries = {}
    for name, model in models.items():
        with progress(name, len(sample)) as move:
            recoveries[name] = run_protocol(model, sample, truth, prior, options, move)
    guesses = {name: recovery.actions for name, recovery in recoveries.items()}
    if direct:
        guesses["idm"] = direct.predict(sample)
    searched = dict(guesses)
    guesses |= blind_baselines(truth, prior, seed)
    vocabulary = first.encoding.vocabulary
    scores = {name: score(actions, truth.actions, vocabulary) for name, actions in guesses.items()}
    show(recoveries, scores, options, len(sample), prior.origin)
    if picture:
        from ..report.piano_roll import write_piano_roll
        from ..report.picture_note import write_note

        name, recovery = next(iter(recoveries.items()))
        chosen = (truth.actions[picture_window], recovery.actions[picture_window])
        row = int(sample.rows[picture_window])
        title = f"{name}, {target}, {data.name} row {row}"
        write_piano_roll(picture, vocabulary.names, *chosen, title=title)
        alt = f"One lane a control over {steps} steps: what was recorded above what was recovered"
        write_note(picture, "piano-roll", title, alt, this_command(seed))
        say(f"piano roll: {picture}")
    if json_file:
        roll = piano_roll(vocabulary.names, truth.actions, searched, picture_window)
        rows = tuple(sample.rows.tolist())
        save_result(json_file, recovered(recoveries, scores, options, data.name, rows, roll, this_command(seed)))
