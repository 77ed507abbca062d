"""Rows of `actswm recover --proposal`: an inverse-dynamics model's proposals, judged by each world model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dataset_paths import label
from ..errors import UserError
from ..results import Weighing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..data import WindowSample
    from ..model import WorldModel
    from ..recovery.motion_idm import MotionIdm
    from ..recovery.prior import ActionPrior
    from ..recovery.proposal import Proposal
    from ..recovery.protocol import RecoveryOptions
    from ..recovery.windows import Truth


@dataclass(frozen=True)
class ProposalRows:
    """The windows of the table, and those on which weights are chosen, with what is proposed for both."""

    idm: MotionIdm
    sample: WindowSample
    proposed: list[Proposal]
    held_out: WindowSample
    held_out_proposed: list[Proposal]
    prior: ActionPrior
    options: RecoveryOptions

    @staticmethod
    def of(
        direct: Mapping[str, Any],
        sample: WindowSample,
        weigh_on: Path | None,
        weigh_windows: int,
        prior: ActionPrior,
        options: RecoveryOptions,
    ) -> ProposalRows:
        from ..data import sample_windows
        from ..recovery.motion_idm import MotionIdm
        from ..recovery.proposal import propose

        idm = next(iter(direct.values()), None)
        if not isinstance(idm, MotionIdm):
            raise UserError("--proposal needs --idm with a model that says how sure it is (actswm idm, small or paper)")
        if options.target == "far":
            raise UserError("--proposal compares each step with its own frame: use --target every-step or joint")
        if weigh_on and weigh_on.resolve() == sample.path.resolve():
            raise UserError(f"{weigh_on}: weights are chosen on another recording than that of the table; leave it out")
        held_out = sample_windows(
            weigh_on or sample.path,
            weigh_windows,
            horizon=sample.horizon,
            context=sample.context,
            frameskip=sample.frameskip,
            split="all" if weigh_on else "validation",
            seed=options.seed,
        )
        return ProposalRows(idm, sample, propose(idm, sample), held_out, propose(idm, held_out), prior, options)

    @property
    def windows(self) -> int:
        return len(self.held_out) + len(self.sample)

    def row(
        self, model: WorldModel, truth: Truth, progress: Callable[[int], None]
    ) -> tuple[NDArray[np.float32], Weighing]:
        """Labels (N, K, A) by both together, and what the model adds; `progress` hears the number of windows done."""
        import numpy as np

        from ..data.loader import sampled_windows
        from ..recovery.metrics import balanced_difference
        from ..recovery.motion_idm import STEP
        from ..recovery.proposal_search import ProposalSearch, ProposalSettings, chosen_weights, combined
        from ..recovery.windows import load_case, truth_of

        vocabulary = model.encoding.vocabulary
        search = ProposalSearch(model, self.prior, ProposalSettings(window=self.options.window), self.options.seed)

        def judged(sample: WindowSample, proposals: list[Proposal], before: int) -> list[Any]:
            dataset, found = sampled_windows(sample, model), []
            for index, proposal in enumerate(proposals):
                found.append(search.evidence(load_case(dataset, model, index), proposal, index))
                progress(before + index + 1)
            return found

        known = truth_of(self.held_out, model.encoding).actions
        seen = judged(self.held_out, self.held_out_proposed, 0)
        weights, _ = chosen_weights(self.held_out_proposed, seen, known, vocabulary.binary)
        evidence = judged(self.sample, self.proposed, len(self.held_out))
        found = [combined(one, each, weights, vocabulary.binary) for one, each in zip(self.proposed, evidence)]
        labels = self.idm.decided(np.stack(found).astype(np.float32), STEP)
        alone = np.stack([one.decided for one in self.proposed])
        gained = balanced_difference(labels, alone, truth.actions, vocabulary)
        told = {name: float(weights[vocabulary.index(name)]) for name in gained if name != "all"}
        return labels, Weighing(label(self.held_out.path), len(self.held_out), told, gained)
