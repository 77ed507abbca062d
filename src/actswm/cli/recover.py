"""`actswm recover`: which actions explain a recording, and do they agree with what was pressed?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from ..dataset_paths import label
from .arguments import DEVICE, MODELS, dataset_file
from .printing import say
from .window_options import SPLIT, Split

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
    split: Split = SPLIT,
    validity: Literal["strict", "endpoints"] = typer.Option(
        "strict", help="endpoints is Appendix D to the letter."
    ),
    seed: int = typer.Option(42, min=0, help="Chooses the windows and the random numbers."),
    device: str = DEVICE,
    idm: list[Path] = typer.Option(
        None, help="Folder of an inverse-dynamics model (actswm idm) to compare with; may be given several times."
    ),
    actions: Path = typer.Option(
        None, help="Dataset file whose training split is the pool of actions (default: --data itself)."
    ),
    proposal: bool = typer.Option(
        False, "--proposal", help="Add a row for each model: what the first --idm proposes, judged by the model."
    ),
    weigh_on: Path = typer.Option(
        None, help="--proposal: recording on which the model's weights are chosen (default: --data's validation split)."
    ),
    weigh_windows: int = typer.Option(100, min=1, help="--proposal: windows on which the weights are chosen."),
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
    from .proposal_rows import ProposalRows
    from .recovery_tables import piano_roll, recovered, show, weighing_table
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
    direct = {folder.name if len(idm) > 1 else "idm": load_idm(folder) for folder in idm or ()}
    for one in direct.values():
        if isinstance(one, InverseDynamics):
            one.to(first.device)
    truth, prior = truth_of(sample, first.encoding), training_prior(actions or data, first.encoding)
    both = ProposalRows.of(direct, sample, weigh_on, weigh_windows, prior, options) if proposal else None
    recoveries = {}
    for name, model in models.items():
        with progress(name, len(sample)) as move:
            recoveries[name] = run_protocol(model, sample, truth, prior, options, move)
    guesses = {name: recovery.actions for name, recovery in recoveries.items()}
    guesses |= {name: one.predict(sample) for name, one in direct.items()}
    weighing = {}
    if both:
        for name, model in models.items():
            with progress(f"{name} + idm", both.windows) as move:
                guesses[f"{name} + idm"], weighing[f"{name} + idm"] = both.row(model, truth, move)
    searched = dict(guesses)
    guesses |= blind_baselines(truth, prior, seed)
    vocabulary = first.encoding.vocabulary
    scores = {name: score(actions, truth.actions, vocabulary) for name, actions in guesses.items()}
    show(recoveries, scores, options, len(sample), prior.origin)
    for name, weighed in weighing.items():
        weighing_table(name, weighed)
    if picture:
        from ..report.piano_roll import write_piano_roll
        from ..report.picture_note import write_note

        name, recovery = next(iter(recoveries.items()))
        chosen = (truth.actions[picture_window], recovery.actions[picture_window])
        row = int(sample.rows[picture_window])
        title = f"{name}, {target}, {label(data)} row {row}"
        write_piano_roll(picture, vocabulary.names, *chosen, title=title)
        alt = f"One lane a control over {steps} steps: what was recorded above what was recovered"
        write_note(picture, "piano-roll", title, alt, this_command(seed))
        say(f"piano roll: {picture}")
    if json_file:
        roll = piano_roll(vocabulary.names, truth.actions, searched, picture_window)
        rows = tuple(sample.rows.tolist())
        origin = this_command(seed)
        save_result(json_file, recovered(recoveries, scores, options, label(data), rows, roll, weighing, origin))
