"""What commands find out, as typed records with one form on disk; every file of an earlier version still opens."""

from .drift import BoundCheck, ControlSensitivity, Drift, DriftModel, DriftStep, ModelBounds, SeparationBound
from .fidelity import Fidelity, FidelityModel, FidelityStep, Spread
from .file import KINDS, Result, read_result, result_tree, save_result
from .idm_score import ControlReliability, IdmScore
from .plan import EpisodeResult, MethodResult, Plan
from .recover import ControlScore, Costs, PianoRoll, Recover, RecoverOptions, Scores, Weighing
from .training import Provenance, TrainingData

__all__ = [
    "KINDS",
    "BoundCheck",
    "ControlReliability",
    "ControlScore",
    "ControlSensitivity",
    "Costs",
    "Drift",
    "DriftModel",
    "DriftStep",
    "EpisodeResult",
    "Fidelity",
    "FidelityModel",
    "FidelityStep",
    "IdmScore",
    "MethodResult",
    "ModelBounds",
    "PianoRoll",
    "Plan",
    "Provenance",
    "Recover",
    "RecoverOptions",
    "Result",
    "Scores",
    "SeparationBound",
    "Spread",
    "TrainingData",
    "Weighing",
    "read_result",
    "result_tree",
    "save_result",
]
