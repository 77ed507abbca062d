"""To which controls is a model sensitive? Each is held down, or kept up, throughout; all else is as recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..controls import ActionEncoding
from ..data import WindowSample, open_checked
from ..intervals import bootstrap_steps
from ..model import WorldModel
from ..results import ControlSensitivity
from .windows import encoded_cases


def effective_controls(sample: WindowSample) -> tuple[str, ...]:
    """The controls that do something in the recorded world, where its file tells; else all."""
    with open_checked(sample.path) as file:
        told, names = file.attributes.get("effective"), file.vocabulary.names
        return tuple(name for name in names if name in told) if isinstance(told, list) and told else names


@torch.no_grad()
def control_sensitivity(
    model: WorldModel,
    sample: WindowSample,
    controls: Sequence[str],
    batch: int = 64,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[ControlSensitivity, ...]:
    """One entry for each of `controls`; `progress` hears the number of windows done."""
    effects: list[Tensor] = []
    gaps: list[Tensor] = []
    done = 0
    for case in encoded_cases(sample, model, batch):
        edits = [
            held_at(case.recorded, model.encoding, name, value)
            for name in controls
            for value in (float(model.action_scale[model.encoding.vocabulary.index(name)]), 0.0)
        ]
        actions = torch.stack([case.recorded, *edits], 1)
        rollouts = model.rollout(case.context, actions)
        pressed, released = rollouts[:, 1::2], rollouts[:, 2::2]
        effects.append(1 - F.cosine_similarity(pressed, released, dim=-1).cpu())
        similarity = F.cosine_similarity(rollouts, case.future[:, None], dim=-1).cpu()
        changed = (actions[:, 1:] != case.recorded[:, None]).any(-1).cumsum(-1) > 0
        gaps.append(torch.where(changed, similarity[:, :1] - similarity[:, 1:], torch.nan))
        done += len(case.future)
        progress(done)
    effect, gap = torch.cat(effects).numpy(), torch.cat(gaps).numpy()
    return tuple(
        ControlSensitivity(
            name,
            *(
                bootstrap_steps(values, sample.episode)
                for values in (effect[:, i], gap[:, 2 * i], gap[:, 2 * i + 1])
            ),
        )
        for i, name in enumerate(controls)
    )


def held_at(steps: Tensor, encoding: ActionEncoding, control: str, value: float) -> Tensor:
    """Step actions (..., A') with one control at a raw `value` in every raw step."""
    index = encoding.vocabulary.index(control)
    raw = np.zeros((encoding.frameskip, encoding.vocabulary.size), np.float32)
    raw[:, index] = value
    held = torch.from_numpy(encoding.step_actions(raw)[0])
    mine = torch.arange(encoding.step_dim) % encoding.vocabulary.size == index
    return torch.where(mine, held, steps)
